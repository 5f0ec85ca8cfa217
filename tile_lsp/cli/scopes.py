"""Which function of a Python file a place is in, by the name that Python gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tile_lsp.model.location import Span


class Scope(NamedTuple):
    qualname: str
    """`"make.<locals>.inner"`, `"Ops.scale"`."""
    span: Span


def scopes(tree: ast.Module) -> tuple[Scope, ...]:
    """All functions of a file, outer ones before those in them.

    A scope begins after its name, which is bound in the one around it.
    """
    return tuple(_in(tree, ""))


def scope_of(found: tuple[Scope, ...], span: Span) -> str:
    """The innermost function that holds the beginning of a span; empty outside of all."""
    names = [scope.qualname for scope in found if scope.span.contains(span.line, span.column)]
    return names[-1] if names else ""


def _in(node: ast.AST, prefix: str) -> Iterator[Scope]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            name = prefix + child.name
            keyword = "async def " if isinstance(child, ast.AsyncFunctionDef) else "def "
            begin = child.col_offset + len(f"{keyword}{child.name}".encode())
            end = child.end_lineno or child.lineno, child.end_col_offset or begin
            yield Scope(name, Span(child.lineno, begin, *end))
            yield from _in(child, f"{name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _in(child, f"{prefix}{child.name}.")
        else:
            yield from _in(child, prefix)
