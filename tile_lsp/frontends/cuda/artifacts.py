"""Blobs of the recipe to artifacts: which reader reads what."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from tile_lsp.analysis import cubin, disassembly, ptx_text, resources, sass
from tile_lsp.frontends import llvm
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from . import remarks


def read(stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
    """A stage's artifact from the blobs that the recipe names for it. Raises `ValueError` for what can't be read."""
    match stage:
        case Stage.LLVM:
            return _by_clang(llvm.read(stage, blobs))
        case Stage.LLVM_REMARKS | Stage.PTX_LLVM:
            return llvm.read(stage, blobs)
        case Stage.PTX:
            return _without_unused(ptx_text.read(_text(blobs["ptx"])))
        case Stage.SASS:
            found = cubin.read(blobs["cubin"])
            chains = ptx_text.chains(_text(blobs["ptx"]))
            texts = disassembly.decode(blobs["disassembly"], found)
            return sass.read(found, texts, sources=ptx_text.Sources(found, chains))
        case Stage.RESOURCES:
            return resources.read(cubin.read(blobs["cubin"]))
        case Stage.REMARKS:
            return remarks.read(_text(blobs["log"]), blobs["warnings"])
        case Stage.CUBIN:
            found = cubin.read(blobs["cubin"])
            names = ", ".join(function.name for function in found.functions)
            return Artifact(Stage.CUBIN, f"{found.arch}: {names}; {len(blobs['cubin'])} bytes", data=blobs["cubin"])
        case _:
            raise ValueError(f"{stage} is inference's own")


_CLANGS = "; What clang makes of the same text: NVRTC shows none of its own, and may go other ways.\n\n"


def _by_clang(artifact: Artifact) -> Artifact:
    return msgspec.structs.replace(artifact, text=_CLANGS + artifact.text, lines=((), (), *artifact.lines))


#: Constants of libraries, which a header declares whether they are used or not.
_INTERNAL = re.compile(r"\.global [^\n=]*?(_ZN(?:4cuda|\d+_INTERNAL_)\w+)(?:\[\d+\])?(?: = [^;\n]*)?;\s*")


def _without_unused(artifact: Artifact) -> Artifact:
    rows = artifact.text.split("\n")
    kept = [
        index
        for index, row in enumerate(rows)
        if not ((match := _INTERNAL.fullmatch(row)) and artifact.text.count(match[1]) == 1)
    ]
    lines = tuple(artifact.lines[index] for index in kept if index < len(artifact.lines))
    return msgspec.structs.replace(artifact, text="\n".join(rows[index] for index in kept), lines=lines)


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")
