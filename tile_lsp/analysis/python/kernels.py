"""Which functions are kernels, and where."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from tile_lsp.model.location import Span

from .parse import PythonFile

if TYPE_CHECKING:
    from .workspace import Workspace


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel. Nodes carry positions of the file as it stands."""

    name: str
    span: Span
    """The name alone."""
    kind: str
    """`positional` (before `/`), `normal`, `keyword` (after `*`), `vararg`, `kwarg`."""
    annotation: ast.expr | None = None
    default: ast.expr | None = None


@dataclasses.dataclass(frozen=True)
class CommentLine:
    """A line that holds only a comment. `text` starts at `#`; `span` covers it without trailing white space."""

    text: str
    span: Span


@dataclasses.dataclass(frozen=True)
class KernelSite:
    """A kernel in the text, whatever its language."""

    path: str
    qualname: str
    """As Python would say it: `"make.<locals>.kernel"`, `"Ops.scale"`; for `k = ct.kernel(fn)` the name that is bound, `"k"`."""
    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    """The function, with positions of the file as it stands; None in broken text."""
    span: Span
    """The definition, decorators included."""
    name_span: Span
    decorator: ast.expr | None
    """What makes it a kernel: `ct.kernel`, `ct.kernel(occupancy=2)`; None in broken text."""
    decorator_name: str
    """The dotted name it resolved to: `cuda.tile.kernel`."""
    parameters: tuple[Parameter, ...]
    broken: bool
    """Recognised by text in a region that doesn't parse."""
    scope: tuple[tuple[str, str], ...]
    """Enclosing definitions, outermost first: `("function", "make")`, `("class", "Ops")`."""
    comment_lines: tuple[CommentLine, ...]
    """The comment lines directly above (no blank line between), and those between decorators and `def`, in order."""


def find_kernels(file: PythonFile, workspace: Workspace, decorators: frozenset[str]) -> tuple[KernelSite, ...]:
    """Kernels of a file in source order. `decorators` are dotted names: `{"cuda.tile.kernel"}`."""
    raise NotImplementedError
