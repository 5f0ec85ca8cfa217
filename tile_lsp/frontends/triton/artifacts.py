"""Blobs of the recipe to artifacts: which reader reads what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.analysis import amdgcn, cubin, disassembly, mlir, ptx_text, resources, sass
from tile_lsp.frontends import llvm
from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Artifact, Remark
from tile_lsp.model.stage import Stage

_PTXAS_ERROR = re.compile(r"^ptxas\b.*?, line (\d+); \w+\s*: *(.*)$", re.MULTILINE)


def read(stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
    """A stage's artifact from the blobs that the recipe names for it. Raises `ValueError` for what can't be read."""
    match stage:
        case Stage.TTIR:
            return mlir.read(stage, _text(blobs["typed"]))
        case Stage.TTGIR:
            return mlir.read(stage, _text(blobs["ttgir"]))
        case Stage.LLVM | Stage.LLVM_REMARKS | Stage.PTX_LLVM:
            return llvm.read(stage, blobs)
        case Stage.PTX:
            return ptx_text.read(_text(blobs["ptx"]))
        case Stage.AMDGCN:
            return amdgcn.read(_text(blobs["amdgcn"]))
        case Stage.SASS:
            found = cubin.read(blobs["cubin"])
            sources = ptx_text.Sources(found, ptx_text.chains(_text(blobs["ptx"])))
            return sass.read(found, disassembly.decode(blobs["disassembly"], found), sources=sources)
        case Stage.RESOURCES:
            usage = msgspec.json.decode(blobs["usage"], type=dict[str, int])
            if "amdgcn" in blobs:
                return amdgcn.resources(_text(blobs["amdgcn"]), usage["shared"], usage["shared_limit"])
            return resources.read(cubin.read(blobs["cubin"]), usage["shared"])
        case Stage.CUBIN:
            found = cubin.read(blobs["cubin"])
            names = ", ".join(function.name for function in found.functions)
            return Artifact(Stage.CUBIN, f"{found.arch}: {names}; {len(blobs['cubin'])} bytes", data=blobs["cubin"])
        case Stage.REMARKS:
            return _remarks(blobs["remarks"])
        case _:
            raise ValueError(f"{stage} is inference's own")


def told(words: str, inputs: Mapping[str, bytes]) -> Sequence[tuple[str, Chain]]:
    """What an assembler complains of: each cause once for a place of the source, be it many lines of PTX."""
    chains: Mapping[int, Chain] | None = None
    found: dict[tuple[str, Chain], list[int]] = {}
    for match in _PTXAS_ERROR.finditer(words):
        if chains is None:
            chains = ptx_text.chains(_text(inputs["ptx"]))
        found.setdefault((match[2], chains.get(int(match[1]), ())), []).append(int(match[1]))
    return [(f"ptxas: {text} ({_lines(lines)})", chain) for (text, chain), lines in found.items()]


def _lines(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]} of the PTX"
    return f"{len(lines)} times in the PTX, first in line {lines[0]}"


def _remarks(blob: bytes) -> Artifact:
    remarks = msgspec.json.decode(blob, type=tuple[Remark, ...])
    return Artifact(
        Stage.REMARKS,
        "".join(f"{remark.message}\n" for remark in remarks),
        tuple((remark.chain,) if remark.chain else () for remark in remarks),
        remarks=remarks,
    )


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")
