"""Blobs of the recipe to artifacts: which reader reads what."""

from __future__ import annotations

from collections.abc import Mapping

from tile_lsp.analysis import cubin, disassembly, ptx, remarks, resources, sass, tileir
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage


def read(stage: Stage, blobs: Mapping[str, bytes]) -> Artifact:
    """A stage's artifact from the blobs that the recipe names for it. Raises `ValueError` for what can't be read."""
    match stage:
        case Stage.TILEIR:
            return tileir.read(_text(blobs["tileir"]))
        case Stage.REMARKS:
            return remarks.read(_text(blobs["remarks"]))
        case Stage.PTX:
            return ptx.read(cubin.read(blobs["cubin"]), _typed(blobs))
        case Stage.SASS:
            read = cubin.read(blobs["cubin"])
            return sass.read(read, disassembly.decode(blobs["disassembly"], read), _typed(blobs))
        case Stage.RESOURCES:
            return resources.read(cubin.read(blobs["cubin"]))
        case Stage.CUBIN:
            found = cubin.read(blobs["cubin"])
            names = ", ".join(function.name for function in found.functions)
            text = f"{found.arch}: {names}; {len(blobs['cubin'])} bytes"
            return Artifact(Stage.CUBIN, text, data=blobs["cubin"])
        case _:
            raise ValueError(f"{stage} is inference's own")


def _typed(blobs: Mapping[str, bytes]) -> Artifact | None:
    """Tile IR, for the columns that the cubin's tables lack."""
    blob = blobs.get("tileir")
    return tileir.read(_text(blob)) if blob else None


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")
