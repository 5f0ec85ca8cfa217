"""A view of the workspace's files at one moment."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from .parse import PythonFile


class Workspace:
    """Files by path, modules by name. Cheap to make: what is known of a text is cached by the text."""

    def __init__(
        self,
        read: Callable[[str], str | None],
        roots: Sequence[str],
        *,
        editable: Mapping[str, str] | None = None,
        stdlib: frozenset[str] | None = None,
    ) -> None:
        """`read` gives the text of an absolute path (unsaved text first), None where there is no such file."""
        raise NotImplementedError

    def file(self, path: str) -> PythonFile | None:
        """The parsed file, or None where there is none."""
        raise NotImplementedError

    def resolve_name(self, file: PythonFile, expression: ast.expr | str) -> str | None:
        """Dotted name of what `expression` stands for at module level; of a subscript, of what is subscripted: with
        `ConstInt = ct.Constant[int]`, `ConstInt` is `"cuda.tile.Constant"`."""
        raise NotImplementedError

    def resolve_expression(self, file: PythonFile, expression: ast.expr) -> tuple[PythonFile, ast.expr]:
        """The expression that a name stands for, through assignments and imports, and the file it is in."""
        raise NotImplementedError

    def constant_value(self, file: PythonFile, expression: ast.expr) -> int | float | bool | str | tuple | None:
        """Value of a literal, of arithmetic on literals, and of module constants, None for anything else."""
        raise NotImplementedError
