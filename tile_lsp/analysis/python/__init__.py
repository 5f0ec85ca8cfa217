"""Python text to facts: kernels, their closures and versions. Never raises on any text, never imports what it reads.

`parse` gives a `PythonFile`; `Workspace` is a view of many; `find_kernels` says which functions are kernels;
`build_closure` slices the workspace down to what one kernel needs. Parsing, scope analysis and normalisation are
cached by the text of each top-level statement, so that a keystroke costs what it changed.
"""

from __future__ import annotations

from tile_lsp.analysis.language import Blocked, ClosureResult, CommentLine

from .closure import build_closure
from .decode import decode
from .job_comments import job_comments
from .kernels import KernelSite, Parameter, find_kernels
from .parse import Placed, PythonFile, SyntaxProblem, asked_of_all, located, parse
from .unread import unread_imports
from .workspace import Workspace

__all__ = [
    "Blocked",
    "ClosureResult",
    "CommentLine",
    "KernelSite",
    "Parameter",
    "Placed",
    "PythonFile",
    "SyntaxProblem",
    "Workspace",
    "asked_of_all",
    "build_closure",
    "decode",
    "find_kernels",
    "job_comments",
    "located",
    "parse",
    "unread_imports",
]
