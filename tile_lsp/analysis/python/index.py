"""Which statements of a file bind or change a name."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections import defaultdict

from .parse import Placed, PythonFile, Statement, asked_of_all
from .scope import Bindings, Target, bindings, reads

_GLOBAL = re.compile(r"^[^#\n]*\bglobal[ \t]+\w", re.MULTILINE)
_RELATIVE = re.compile(r"^[ \t\f]*from[ \t]*(\.+)", re.MULTILINE)


def bindings_of(statement: Statement) -> Bindings:
    """The statement's own bindings, kept with it."""
    found = statement.facts.get("bindings")
    if found is None:
        found = statement.known("bindings", _bindings)
    return found  # type: ignore[return-value]


def _bindings(node: ast.stmt) -> Bindings:
    return bindings([node])


asked_of_all("bindings", _bindings)


def _global_stores(statement: Statement) -> frozenset[str]:
    """Names that the function which a statement defines binds at module level."""
    found = statement.facts.get("global stores")
    if found is None:
        declares = _GLOBAL.search(statement.chunk.text) is not None
        found = statement.facts["global stores"] = reads([statement.node]).global_stores if declares else frozenset()
    return found  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class Index:
    """Statements by name, as indices into `PythonFile.statements`, in the order of the text."""

    binders: dict[str, tuple[int, ...]]
    stores: dict[str, tuple[int, ...]]
    """Statements that set or delete attributes or items of a name."""
    calls: dict[str, tuple[int, ...]]
    """Bare method calls on a name."""
    setters: dict[str, tuple[int, ...]]
    """Bare calls of functions that bind the name with a `global` declaration."""
    setter_names: dict[str, frozenset[str]]
    """Those functions, by the name they bind."""
    stars: tuple[tuple[int, Target], ...]
    relative: int
    """Dots of the relative import that reaches highest; 0 where there is none."""
    broken: frozenset[str]
    """Names that broken text seems to bind."""

    def binders_of(self, file: PythonFile, name: str, main: bool) -> tuple[Placed, ...]:
        """Statements that bind a name. Those under `if __name__ == "__main__"` count only where nothing else binds
        it, or for a kernel that is there itself (`main`)."""
        found = tuple(file.statements[index] for index in self.binders.get(name, ()))
        outside = tuple(placed for placed in found if not placed.statement.main)
        return found if main or not outside else outside


def index_of(file: PythonFile) -> Index:
    found = file.facts.get("index")
    if found is None:
        found = file.facts["index"] = _build(file)
    return found  # type: ignore[return-value]


def _build(file: PythonFile) -> Index:
    binders: dict[str, list[int]] = defaultdict(list)
    stores: dict[str, list[int]] = defaultdict(list)
    calls: dict[str, list[int]] = defaultdict(list)
    called: dict[str, list[int]] = defaultdict(list)
    globals_of: dict[str, set[str]] = defaultdict(set)
    stars: list[tuple[int, Target]] = []
    for placed in file.statements:
        bound = bindings_of(placed.statement)
        for name in bound.names:
            binders[name].append(placed.index)
        for name in bound.stores:
            stores[name].append(placed.index)
        for name in bound.calls:
            calls[name].append(placed.index)
        for name in bound.called:
            called[name].append(placed.index)
        stars.extend((placed.index, target) for target in bound.stars)
        if bound.defines:
            for name in _global_stores(placed.statement):
                globals_of[name].update(bound.names)
    return Index(
        {name: tuple(indices) for name, indices in binders.items()},
        {name: tuple(indices) for name, indices in stores.items()},
        {name: tuple(indices) for name, indices in calls.items()},
        {
            name: tuple(sorted({index for function in functions for index in called.get(function, ())}))
            for name, functions in globals_of.items()
        },
        {name: frozenset(functions) for name, functions in globals_of.items()},
        tuple(stars),
        max(map(len, _RELATIVE.findall(file.clean)), default=0),
        frozenset().union(*(region.names for region in file.broken)) if file.broken else frozenset(),
    )
