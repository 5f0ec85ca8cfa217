"""What the instructions of listings do, in words: a module a language, tables and the little code that reads a row."""

from __future__ import annotations

from collections.abc import Sequence

from tile_lsp.model.stage import Stage

from . import amdgcn, llvm, ptx, sass, tileir, triton
from .table import Explanation

__all__ = ["Explanation", "explain"]

_LANGUAGES = {
    Stage.SASS: sass.explain,
    Stage.PTX: ptx.explain,
    Stage.PTX_LLVM: ptx.explain,
    Stage.TILEIR: tileir.explain,
    Stage.TTIR: triton.explain,
    Stage.TTGIR: triton.explain,
    Stage.LLVM: llvm.explain,
    Stage.AMDGCN: amdgcn.explain,
}


def explain(stage: Stage, rows: Sequence[str], line: int) -> Explanation | None:
    """What a row (from 0) of a stage's listing does; None where it holds no instruction or the language isn't known.

    An instruction that no table has is still explained as far as it can be: `Explanation.does` is empty then.
    """
    known = _LANGUAGES.get(stage)
    return known(rows, line) if known is not None else None
