"""Statements cut down to what binds or changes some names. Trees are shared, never changed."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .scope import Reads, bindings, chain_of, import_targets, reads
from .unparse import is_string, rebuilt, without_docstrings

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WITHS = (ast.With, ast.AsyncWith)
_BRANCHES = (ast.If, *_LOOPS, *_TRIES, *_WITHS, ast.Match)


class _Around(NamedTuple):
    """What stands around a statement and may be steered by it."""

    loop: bool = False
    guarded: bool = False
    """Something catches what it raises."""


@dataclasses.dataclass(frozen=True)
class Need:
    """What a scope's statements are cut down to."""

    names: frozenset[str]
    mutable: frozenset[str] = frozenset()
    """Those of them of which a bare method call may change the value."""
    setters: frozenset[str] = frozenset()
    """Functions whose bare call binds one of them."""
    loads: frozenset[str] | None = None
    """Of `import a.b`, `import a.c`: those to keep, None for all."""
    stars: frozenset[tuple[int, str, str]] = frozenset()
    """What star imports are for: level, module, and a name (`*` for whatever there is)."""
    documents: bool = False
    """Docstrings are part of the meaning."""


def cut(node: ast.stmt, need: Need) -> ast.stmt | None:
    """The statement cut down, or None if nothing of it is needed."""
    kept = _cut(node, need, _Around())
    return kept if kept is None or need.documents else without_docstrings(kept)


def cut_all(body: Sequence[ast.stmt], need: Need) -> list[ast.stmt]:
    return [kept for node in body if (kept := cut(node, need)) is not None]


def cut_to_fixpoint(
    body: Sequence[ast.stmt], start: Iterable[str], bound: Iterable[str], plain: frozenset[str], *, immediate: bool
) -> tuple[list[ast.stmt], frozenset[str]]:
    """Statements of a nested scope that `start` names need, and those that these need in turn; and all these names.

    `bound` are the scope's names, `plain` those bound by other than `def` and `import`. With `immediate` (a class's
    body) functions defined in it don't see its names.
    """
    local = frozenset(bound)
    names = frozenset(start) & local
    while True:
        need = Need(names, names & plain)
        kept = cut_all(body, need)
        found = reads(kept)
        more = names | (roots(found, immediate=immediate) & local)
        if more == names:
            return kept, names
        names = more


def roots(found: Reads, *, immediate: bool = False) -> frozenset[str]:
    return frozenset(chain[0] for chain in (found.immediate if immediate else found.chains))


def _cut(node: ast.stmt, need: Need, around: _Around) -> ast.stmt | None:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return node if node.name in need.names or _touches([node], need) else None
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _cut_import(node, need)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node
    if isinstance(node, (ast.Break, ast.Continue)):
        return node if around.loop else None
    if isinstance(node, (ast.Raise, ast.Assert, ast.Delete)):
        return node if around.guarded or _touches([node], need) else None
    if isinstance(node, (ast.Return, ast.Pass)):
        return None
    if isinstance(node, ast.If):
        return _cut_if(node, need, around)
    if isinstance(node, _LOOPS):
        return _cut_loop(node, need, around)
    if isinstance(node, _WITHS):
        if _is_suppressing(node):
            body = _cut_guarded(node.body, need, around, to_the_end=False)
        else:
            body = _cut_block(node.body, need, around)
        if not _useful(body) and not _touches(_header(node), need):
            return None
        return rebuilt(node, body=body or [ast.Pass()])
    if isinstance(node, _TRIES):
        return _cut_try(node, need, around)
    if isinstance(node, ast.Match):
        cases = [rebuilt(case, body=_cut_block(case.body, need, around) or [ast.Pass()]) for case in node.cases]
        if not any(_useful(case.body) for case in cases) and not _touches(_header(node), need):
            return None
        return rebuilt(node, cases=cases)
    return node if _touches([node], need) else None


def _cut_block(body: Sequence[ast.stmt], need: Need, around: _Around) -> list[ast.stmt]:
    return [kept for node in body if (kept := _cut(node, need, around)) is not None]


def _useful(body: Iterable[ast.stmt]) -> bool:
    """True if a cut block does more than steer a loop, or leave."""
    for node in body:
        if isinstance(node, (ast.Break, ast.Continue, ast.Pass, ast.Global, ast.Nonlocal, ast.Raise)):
            continue
        if isinstance(node, (ast.Assert, ast.Delete)) and not bindings([node]).names:
            continue
        if isinstance(node, _BRANCHES):
            inner = [*getattr(node, "body", ()), *getattr(node, "orelse", ()), *getattr(node, "finalbody", ())]
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                inner += part.body
            if not _useful(inner) and not bindings(_header(node)).names:
                continue
        return True
    return False


def _header(node: ast.stmt) -> list[ast.AST]:
    """What of a compound statement stands outside its blocks, as far as it may bind names."""
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target, node.iter]
    if isinstance(node, _WITHS):
        return [part for item in node.items for part in (item.context_expr, item.optional_vars) if part is not None]
    if isinstance(node, ast.Match):
        return [node.subject, *(part for case in node.cases for part in (case.pattern, case.guard) if part is not None)]
    return []


def _touches(nodes: Iterable[ast.AST], need: Need) -> bool:
    """True if the nodes bind or change what is needed."""
    found = bindings(nodes)
    return (
        any(name in need.names for name in found.names)
        or not need.names.isdisjoint(found.stores)
        or not need.mutable.isdisjoint(found.calls)
        or not need.setters.isdisjoint(found.called)
    )


def _cut_import(node: ast.Import | ast.ImportFrom, need: Need) -> ast.stmt | None:
    kept: list[ast.alias] = []
    for alias, name, target in import_targets(node):
        if name == "*":
            names = {member for level, module, member in need.stars if (level, module) == (target.level, target.module)}
            if "*" in names:
                return rebuilt(node, names=[alias])
            kept.extend(ast.copy_location(ast.alias(member, None), alias) for member in sorted(names))
        elif name in need.names and not (
            isinstance(node, ast.Import)
            and not alias.asname
            and need.loads is not None
            and alias.name not in need.loads
        ):
            kept.append(alias)
    return rebuilt(node, names=kept) if kept else None


def _cut_if(node: ast.If, need: Need, around: _Around) -> ast.stmt | None:
    # What only type checkers see is never executed.
    body = [] if is_type_checking(node.test) else _cut_block(node.body, need, around)
    orelse = _cut_block(node.orelse, need, around)
    if not body and not orelse and not _touches([node.test], need):
        return None
    return rebuilt(node, body=body or [ast.Pass()], orelse=orelse)


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _is_suppressing(node: ast.With | ast.AsyncWith) -> bool:
    """`with contextlib.suppress(…)`."""
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return any((chain_of(call.func) or ("",))[-1] == "suppress" for call in calls)


def _cut_loop(node: ast.For | ast.AsyncFor | ast.While, need: Need, around: _Around) -> ast.stmt | None:
    body = _cut_block(node.body, need, around._replace(loop=True))
    orelse = _cut_block(node.orelse, need, around)
    if not _useful(body) and not _useful(orelse) and not _touches(_header(node), need):
        return None
    return rebuilt(node, body=body or [ast.Pass()], orelse=orelse)


def _cut_try(node: ast.Try, need: Need, around: _Around) -> ast.stmt | None:
    handlers = [_cut_handler(handler, need, around) for handler in node.handlers]
    orelse = _cut_block(node.orelse, need, around)
    finalbody = _cut_block(node.finalbody, need, around)
    outside = _useful(orelse) or any(_useful(handler.body) for handler in handlers)
    body = _cut_guarded(node.body, need, around, to_the_end=outside) if handlers else []
    body = body or _cut_block(node.body, need, around)
    if not (_useful(body) or outside or _useful(finalbody)):
        return None
    if not handlers and not finalbody:
        finalbody = [ast.Pass()]
    return rebuilt(node, body=body or [ast.Pass()], handlers=handlers, orelse=orelse, finalbody=finalbody)


def _cut_handler(handler: ast.ExceptHandler, need: Need, around: _Around) -> ast.ExceptHandler:
    body = _cut_block(handler.body, need, around)
    if any(isinstance(node, ast.Raise) for node in handler.body) and not body:
        body = [ast.Pass()]
    return rebuilt(handler, body=body or [ast.Pass()])


def _cut_guarded(body: Sequence[ast.stmt], need: Need, around: _Around, *, to_the_end: bool) -> list[ast.stmt]:
    """The body of a `try` with handlers: what is needed, and the imports and assignments before it that may fail in
    its stead."""
    kept = [_cut(node, need, around._replace(guarded=True)) for node in body]
    last = len(body)
    while last and not to_the_end and not _useful(node for node in kept[last - 1 : last] if node is not None):
        last -= 1
    result: list[ast.stmt] = []
    for index, node in enumerate(body[:last]):
        if kept[index] is not None:
            result.append(kept[index])  # type: ignore[arg-type]
        elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)) and not is_string(node):
            result.append(node)
    return result
