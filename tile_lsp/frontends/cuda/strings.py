"""CUDA C++ in strings of Python, for CuPy's `RawKernel` and `RawModule`, `cuda.core.Program`, PyTorch's `load_inline`.

Each string is read as a file of its own, in which all that is not the string is blank: so every place in it is one of
the Python file. A string that is put together at run time can't be read.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tile_lsp.analysis import cuda
from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.cuda import KernelSite
from tile_lsp.analysis.language import ClosureResult, CommentLine
from tile_lsp.analysis.python import Workspace
from tile_lsp.frontends.base import JobSpec, Problem
from tile_lsp.model.settings import Cuda as CudaSettings
from tile_lsp.model.settings import Settings

from . import jobs

#: One of them is what a string goes to.
_TAKERS = re.compile(r"\b(?:RawKernel|RawModule|Program|load_inline|SourceModule|compile_kernel|_compile_kernel)\b")
_LITERAL = re.compile(r"""[rRbBuU]{0,2}(?P<quotes>\"\"\"|'''|"|')(?P<text>.*)(?P=quotes)\Z""", re.DOTALL)


class Found(NamedTuple):
    site: KernelSite
    workspace: cuda.Workspace


_FOUND: WeakKeyDictionary[Workspace, dict[tuple[str, str], Found]] = WeakKeyDictionary()
"""By a workspace of Python: the kernels that strings of it hold, by path and name."""


def job_comments(path: str, workspace: Workspace) -> tuple[CommentLine, ...]:
    """Those of strings that hold a kernel."""
    own = workspace.file(path)
    if own is None or not any("tile-lsp" in line for line in own.lines):
        return ()
    files = (inner.file(path) for inner in _workspaces(path, workspace))
    return tuple(comment for file in files if file is not None for comment in cuda.job_comments(file))


def _workspaces(path: str, workspace: Workspace) -> Iterator[cuda.Workspace]:
    """One for each string that holds a kernel."""
    file = workspace.file(path)
    if file is None:
        return
    text = "\n".join(file.lines)
    if "__global__" not in text or _TAKERS.search(text) is None:
        return
    for blanked in masked(text):
        yield cuda.Workspace(path, functools.partial(_read, path, blanked), (), CudaSettings())


def find_kernels(path: str, workspace: Workspace) -> tuple[KernelSite, ...]:
    sites: list[KernelSite] = []
    names: dict[str, int] = {}
    for inner in _workspaces(path, workspace):
        for site in cuda.find_kernels(path, inner):
            names[site.name] = names.get(site.name, 0) + 1
            named = site
            if names[site.name] > 1:
                named = dataclasses.replace(site, qualname=f"{site.name}#{names[site.name]}")
            _FOUND.setdefault(workspace, {})[path, named.qualname] = Found(site, inner)
            sites.append(named)
    return tuple(sites)


def closure(site: KernelSite, workspace: Workspace, expressions: Sequence[str]) -> ClosureResult:
    found = _FOUND[workspace][site.path, site.qualname]
    return cuda.build_closure(found.site, found.workspace, {}, expressions)


def job_specs(
    kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
    found = _FOUND[workspace][kernel.path, kernel.qualname]
    return jobs.job_specs(found.site, found.workspace, comments, settings)


@functools.lru_cache(maxsize=64)
def masked(text: str) -> tuple[str, ...]:
    """For each string that holds a kernel, the text with all the rest of it blank."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    blank = re.sub(r"[^\n]", " ", text)
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and "__global__" in node.value):
            continue
        if node.end_lineno is None or node.end_col_offset is None:
            continue
        begin = starts[node.lineno - 1] + _characters(text, starts, node.lineno, node.col_offset)
        end = starts[node.end_lineno - 1] + _characters(text, starts, node.end_lineno, node.end_col_offset)
        literal = _LITERAL.match(text[begin:end])
        if literal is None or literal["quotes"] in literal["text"].replace(f"\\{literal['quotes'][0]}", ""):
            continue  # several literals, or an f-string's part
        first, last = begin + literal.start("text"), begin + literal.end("text")
        found[first] = blank[:first] + text[first:last] + blank[last:]
    return tuple(found[first] for first in sorted(found))


def _characters(text: str, starts: Sequence[int], line: int, column: int) -> int:
    row = text[starts[line - 1] : starts[line]]
    return len(row.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def _read(own: str, text: str, path: str) -> str | None:
    return text if path == own else None
