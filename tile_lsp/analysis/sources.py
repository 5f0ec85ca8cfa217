"""SASS address -> source, by the line tables of a cubin and, where there is one, the Tile IR with its columns."""

from __future__ import annotations

from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Artifact

from . import linetable, tileir
from .cubin import Cubin


class Sources:
    """Raises `ValueError` at construction if a line table is damaged."""

    def __init__(self, cubin: Cubin, typed: Artifact | None = None) -> None:
        """`typed`: what `tileir.read` made of `tileirdisasm -g`; used only if the cubin was made from that text."""
        self._source = linetable.read(cubin, linetable.SOURCE)
        self._ptx = linetable.read(cubin, linetable.PTX)
        self._tileir = linetable.read(cubin, linetable.TILEIR)
        own = tileir.text_of(cubin)
        same = typed is not None and own is not None and typed.text.rstrip("\n") == own
        self._lines = typed.lines if same and typed is not None else ()

    def chain(self, section: int, address: int) -> Chain:
        """Innermost first; empty if nothing is known. `section` is the index of the `.text` section.

        Tile IR's word comes first: it has columns. Besides, the source table counts on through the lines of inline
        assembly, which gives lines that the source does not have, and misses changes of the call site alone.
        """
        line = self.tileir_line(section, address)
        if line is not None and line <= len(self._lines) and self._lines[line - 1]:
            return _members(self._lines[line - 1][0])
        return _members(tileir.chain_of(self._source.get(section, linetable.EMPTY).at(address)))

    def tileir_line(self, section: int, address: int) -> int | None:
        """From 1, in the cubin's Tile IR text."""
        frames = self._tileir.get(section, linetable.EMPTY).at(address)
        return frames[0].line if frames and frames[0].line > 0 else None

    def ptx_line(self, section: int, address: int) -> int | None:
        """From 1, in the cubin's PTX text."""
        frames = self._ptx.get(section, linetable.EMPTY).at(address)
        return frames[0].line if frames and frames[0].line > 0 else None


def _members(chain: Chain) -> Chain:
    """Without frames of installed libraries (absolute paths), which no closure has, unless there is nothing else."""
    return tuple(place for place in chain if not place.member.startswith("/")) or chain
