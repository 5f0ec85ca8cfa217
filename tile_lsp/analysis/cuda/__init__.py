"""CUDA C++ text to facts: kernels, their closures and versions. Never raises on any text, never runs a compiler.

`lexer` gives tokens, `split` the top-level pieces, `facts` what each of them declares and mentions; `Workspace` is a
view of many files; `find_kernels` says which functions are kernels; `build_closure` slices a translation unit down to
what one kernel needs. What is known of a piece is kept while the text around it changes.
"""

from __future__ import annotations

from .closure import build_closure
from .job_comments import job_comments
from .kernels import KernelSite, Parameter, TemplateParameter, find_kernels
from .workspace import Workspace

__all__ = ["KernelSite", "Parameter", "TemplateParameter", "Workspace", "build_closure", "find_kernels", "job_comments"]
