"""The type of every expression and name, seen as type inference goes through the kernel's calls.

cuda.tile dispatches each call of its high-level IR through one module-level function; a wrapper in its place sees the
call, its exact range, and afterwards the variable that holds the result. What is noted there is little: texts are
made at the end, by when variables of loops have their final types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...records import record
from . import typetext
from .places import Places
from .signature import Parameter

_active: Recorder | None = None


def install(hir2ir: Any, on_static: frozenset[Any], store: Any, load: Any) -> None:
    """Once a process: put the wrapper in place. `on_static`: what evaluates Python code at compile time."""
    dispatch = hir2ir._dispatch_call

    async def recorded(call: Any, scope: Any) -> None:
        recorder = _active
        if recorder is None:
            await dispatch(call, scope)
            return
        if scope is not recorder.scope:
            recorder.enter(scope)
        callee = call.callee
        if callee in on_static if callee.__hash__ else False:
            recorder.static()
        await dispatch(call, scope)
        if callee is store:
            target = call.args[0]
            if isinstance(target, str):
                depth, index = scope.depth, scope.get_local_index(target)
            else:
                depth, index = target.depth, target.index
            local = scope.local_scopes[depth]
            recorder.notes.append(("store", call.loc, scope.call_site, local._local_names[index], local._map[index]))
        elif call.result is not None:
            items = scope.hir2ir_varmap._items
            number = call.result.id
            if number < len(items):
                kind, name = ("load", call.args[-1]) if callee is load else ("expr", None)
                recorder.notes.append((kind, call.loc, scope.call_site, name, items[number]))

    hir2ir._dispatch_call = recorded


class Recorder:
    """Notes of one inference, and the functions that it entered. Use as a context."""

    def __init__(self, static: Callable[[], None]) -> None:
        self.notes: list[tuple[str, Any, Any, str | None, Any]] = []
        self.functions: dict[int, Any] = {}
        """HIR of each function entered, in that order, by identity."""
        self.scope: Any = None
        self.static = static
        self._scopes: dict[int, Any] = {}

    def __enter__(self) -> Recorder:
        global _active
        _active = self
        return self

    def __exit__(self, *error: object) -> None:
        global _active
        _active = None
        self.scope = None

    def enter(self, scope: Any) -> None:
        """A scope that isn't the last one's: for the first time, its parameters are bound and nothing else is."""
        self.scope = scope
        if id(scope) in self._scopes:
            return
        self._scopes[id(scope)] = scope
        function = scope.func_hir
        self.functions.setdefault(id(function), function)
        local = scope.local_scopes[-1]
        for index, location in zip(function.param_local_indices, function.param_locs, strict=True):
            self.notes.append(("param", location, scope.call_site, local._local_names[index], local._map[index]))

    def records(self, places: Places, parameters: dict[str, Parameter], variables: dict[str, Any]) -> list[list[Any]]:
        """As the server's `TypeRecord`s, each once, in the order in which inference met them.

        `variables`: the kernel's own parameters, by name, to which the facts of its arguments belong.
        """
        own = {id(variable): parameters[name].facts for name, variable in variables.items()}
        seen: set[Any] = set()
        records = []
        texts: dict[int, tuple[Any, str, tuple[tuple[str, str], ...]]] = {}
        for kind, location, site, name, variable in self.notes:
            if not hasattr(variable, "get_type_allow_invalid") or (name is not None and name.startswith("$")):
                continue
            if not places.is_inside(location):
                continue
            ty = variable.try_get_type()
            if ty is None:
                continue
            known = texts.get(id(ty))
            if known is None:
                known = texts[id(ty)] = (ty, typetext.of(ty), typetext.facts(ty))
            constant = typetext.constant(variable, ty)
            facts = own.get(id(variable), known[2])
            key = (
                location.line, location.col, location.last_line, location.end_col, location.filename,
                id(site), kind, known[1], name, constant, facts,
            )  # fmt: skip
            if key in seen:
                continue
            seen.add(key)
            chain = places.chain(location, site)
            if places.is_deep(chain):
                # What is bound there for the first time is told, not how a number counts down.
                alike = (*key[:5], kind, known[1], name)
                if alike in seen:
                    continue
                seen.add(alike)
            records.append(record(chain, kind, known[1], name, constant, facts))
        return records
