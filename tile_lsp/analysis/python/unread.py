"""Imports of files that are there and that nobody reads: pipes, devices, folders of that name, gigabytes."""

from __future__ import annotations

from collections.abc import Iterator

from tile_lsp.model.outcome import Severity

from .index import bindings_of
from .parse import PythonFile, SyntaxProblem
from .text import shifted, span_of
from .workspace import Workspace


def unread_imports(file: PythonFile, workspace: Workspace) -> Iterator[SyntaxProblem]:
    """Of a file, as far as they were followed."""
    ref = workspace.own_module(file.path)
    for placed in file.statements:
        bound = bindings_of(placed.statement)
        for target in (*(target for _, target in bound.imports), *bound.stars):
            found = workspace.modules(target, ref)
            if found and (not target.member or workspace.finder.submodule(found[-1], target.member)):
                continue
            why = workspace.refused(target)
            if why is not None and (span := span_of(placed.statement.node)) is not None:
                message = f"{why}. Nothing can be imported from it."
                yield SyntaxProblem(message, shifted(span, placed.offset), Severity.WARNING, "unreadable")
                break
