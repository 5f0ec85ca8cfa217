"""Statements cut down to what is needed of them, and their text."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable

from tile_lsp.analysis.positions import Part

from .index import bindings_of
from .parse import PythonFile, Statement, source_of
from .prune import Need, cut
from .scope import Bindings, Reads, bindings, reads
from .unparse import UnfaithfulError, is_string, normalised, without_docstrings


class Form:
    """A statement cut down to what is needed of it."""

    def __init__(self, node: ast.stmt, statement: Statement) -> None:
        self.nodes: tuple[ast.stmt, ...] = (node,)
        self.statement = statement

    @property
    def node(self) -> ast.stmt:
        return self.nodes[0]

    @functools.cached_property
    def reads(self) -> Reads:
        return reads(self.nodes)

    @functools.cached_property
    def bound(self) -> Bindings:
        return bindings(self.nodes)

    @functools.cached_property
    def text(self) -> str:
        try:
            return normalised(self.nodes, source_of(self.statement.chunk.text))
        except UnfaithfulError:
            # The whole statement as it is written: more than is needed, but not wrong.
            segment = _segment(self.statement)
            self.nodes = (self.statement.node,)
            return segment

    def first_name(self, wanted: Iterable[str]) -> str:
        """What the member is named by."""
        names = set(wanted)
        for name in (*self.bound.names, *sorted(self.bound.stores | self.bound.calls), *sorted(self.bound.called)):
            if name in names:
                return name
        return next(iter((*self.bound.names, *sorted(self.bound.stores | self.bound.calls))), "*")


def form_of(statement: Statement, need: Need) -> Form | None:
    """The statement cut down; kept with the statement, since most edits change neither."""
    bound = bindings_of(statement)
    touched = frozenset(bound.names) | bound.stores | bound.calls
    stars = need.stars if bound.stars else frozenset()
    loads = need.loads if bound.imports else None
    if loads is not None:
        loads = frozenset(t.loads or t.module for _, t in bound.imports) & loads
    need = Need(
        need.names & touched, need.mutable & bound.calls, need.setters & bound.called, loads, stars, need.documents
    )
    key = ("form", need)
    if key not in statement.facts:
        kept = cut(statement.node, need)
        statement.facts[key] = Form(kept, statement) if kept is not None else None
    return statement.facts[key]  # type: ignore[return-value]


def _segment(statement: Statement) -> str:
    node = statement.node
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    lines = [line.encode() for line in statement.chunk.text.split("\n")[first - 1 : node.end_lineno]]
    lines[-1] = lines[-1][: node.end_col_offset]
    indent = node.col_offset
    if not lines[0][:indent].strip():
        lines = [line[indent:] if not line[:indent].strip() else line for line in lines]
    elif first == node.lineno:
        lines[0] = lines[0][indent:]
    return b"\n".join(lines).decode("utf-8", "replace")


def whole_text(file: PythonFile) -> tuple[str, list[Part]]:
    """The whole module normalised, and the parts it consists of."""
    found = file.facts.get("whole")
    if found is None:
        parts: list[Part] = []
        for placed in file.statements:
            form = whole_form(placed.statement)
            if form is not None:
                parts.append(Part(form.text, form.nodes, file.path, placed.statement.chunk.text, placed.offset))
        found = file.facts["whole"] = ("\n".join(part.text for part in parts), parts)
    return found  # type: ignore[return-value]


def whole_form(statement: Statement) -> Form | None:
    """A statement as it is, without docstrings; None for what says nothing, and for what only a script runs."""
    if "whole" not in statement.facts:
        node = statement.node
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        skipped = statement.main or future or is_string(node)
        statement.facts["whole"] = None if skipped else Form(without_docstrings(node), statement)
    return statement.facts["whole"]  # type: ignore[return-value]


def module_docstring(file: PythonFile) -> str | None:
    if not file.statements:
        return None
    node = file.statements[0].statement.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None
