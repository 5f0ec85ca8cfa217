"""What typed IR says of the source: the type of every expression and name, and where doubles were not meant."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...records import record
from . import typetext
from .api import ir, types
from .compiler import Typed, calls_of
from .errors import place_of
from .ranges import Location
from .ranges import location as make_location

Place = list[Any]

#: A function that is called from a hundred places is shown from so many of them.
_MOST_PATHS = 64
_DEEPEST = 16
#: Steps of the IR that have the range of an expression, and a type that is not the expression's.
_INNER = frozenset({"getiter", "iternext", "pair_first", "pair_second", "exhaust_iter", "phi", "undef", "null", "cast"})
_MIXING = frozenset({"min", "max", "pow", "fma", "fmod", "atan2", "hypot", "copysign"})
_NARROW = (types.float16, types.float32)


class Path(NamedTuple):
    """A function's state, and how it was reached."""

    state: Any
    sites: list[Place]
    """Call sites, innermost first."""


class Sources:
    """The members' texts, and the ranges of the parameters in them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def text(self, location: Any) -> str | None:
        """The source of one line at most."""
        text = self.texts.get(location.filename)
        if text is None or not isinstance(location, Location) or location.line != location.end_line:
            return None
        line = text.split("\n")[location.line - 1].encode()
        return line[location.col : location.end_col].decode("utf-8", "replace")

    def parameters(self, function: Any) -> Mapping[str, Location]:
        node, code = self.definition(function), function.__code__
        if node is None:
            return {}
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        return {
            a.arg: make_location(code.co_filename, a.lineno, a.col_offset, a.lineno, a.col_offset + len(a.arg.encode()))
            for a in every
        }

    def definition(self, function: Any) -> Any:
        """The syntax tree of a function, None where the text is not at hand."""
        code = function.__code__
        return self._definitions(code.co_filename).get((code.co_firstlineno, code.co_name))

    @functools.cache  # noqa: B019  (lives as long as one inference)
    def _definitions(self, member: str) -> dict[tuple[int, str], Any]:
        text = self.texts.get(member)
        found: dict[tuple[int, str], Any] = {}
        for node in ast.walk(ast.parse(text)) if text is not None else ():
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                decorators = getattr(node, "decorator_list", ())
                first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
                found[first, getattr(node, "name", "<lambda>")] = node
        return found


def locate_parameters(state: Any, sources: Sources) -> None:
    """The IR has the first line of the function for a parameter; from here on it has the parameter's own place."""
    known = sources.parameters(state.func_ir.func_id.func)
    for block in state.func_ir.blocks.values():
        for inst in block.body:
            if isinstance(inst, ir.Assign) and isinstance(inst.value, ir.Arg) and inst.value.name in known:
                inst.value.loc = inst.loc = known[inst.value.name]


def paths(typed: Typed, members: Iterable[str]) -> list[Path]:
    """The kernel and each function that it reaches, by each way there."""
    found: list[Path] = []
    inside = frozenset(members)

    def walk(function: Typed, sites: list[Place]) -> None:
        if len(found) >= _MOST_PATHS or len(sites) > _DEEPEST:
            return
        found.append(Path(function.state, sites))
        for location, called in calls_of(function.state):
            place = place_of(location, inside)
            if called.function.__code__.co_filename in inside:
                walk(called, [place, *sites] if place is not None else sites)

    walk(typed, [])
    return found


def _assignments(state: Any) -> Iterator[Any]:
    for block in state.func_ir.blocks.values():
        for inst in block.body:
            if isinstance(inst, ir.Assign):
                yield inst


# -- types -------------------------------------------------------------------------------------------------------------


def types_of(found: Iterable[Path], sources: Sources) -> list[list[Any]]:
    """As the server's `TypeRecord`s, each once."""
    inside = frozenset(sources.texts)
    records: dict[str, list[Any]] = {}
    for path in found:
        for one in (*_names(path, sources, inside), *_expressions(path, inside)):
            records.setdefault(repr(one), one)
    return list(records.values())


def _expressions(path: Path, members: frozenset[str]) -> Iterator[list[Any]]:
    state = path.state
    for inst in _assignments(state):
        value = inst.value
        ty = _known(state, inst.target)
        if ty is None:
            continue
        if isinstance(value, ir.Arg):
            yield from _record(path, members, value.loc, "param", ty, name=value.name)
        elif isinstance(value, (ir.Global, ir.FreeVar)):
            if value.value is not bool or not inst.target.name.startswith("$bool"):
                yield from _record(path, members, value.loc, "load", ty, value.name, _value(value.value))
        elif isinstance(value, ir.Const):
            yield from _record(path, members, value.loc, "expr", ty, constant=_value(value.value))
        elif isinstance(value, ir.Expr) and value.op not in _INNER and not _is_truth(value):
            yield from _record(path, members, value.loc, "expr", ty, facts=_facts(state, value))


def _names(path: Path, sources: Sources, members: frozenset[str]) -> Iterator[list[Any]]:
    """Local names where they are written: the IR has them where they are computed, if at all.

    What a name is there is what the smallest step around it takes by that name, or, where it is bound, what the
    statement around it leaves under it: each version of it on its own.
    """
    state = path.state
    taken: dict[str, list[tuple[Location, Any]]] = {}
    left: dict[str, list[tuple[Location, Any]]] = {}
    for block in state.func_ir.blocks.values():
        for inst in block.body:
            location = _place_of_step(inst)
            if location is None:
                continue
            if isinstance(inst, ir.Assign) and not inst.target.is_temp and not isinstance(inst.value, ir.Arg):
                left.setdefault(_name(inst.target), []).append((location, inst.target))
            target = inst.target.name if isinstance(inst, ir.Assign) else None
            for variable in inst.list_vars():
                if not variable.is_temp and variable.name != target:
                    taken.setdefault(_name(variable), []).append((location, variable))
    node = sources.definition(state.func_ir.func_id.func)
    member = state.func_ir.func_id.func.__code__.co_filename
    for name, statement in _written(node):
        bound = isinstance(name.ctx, ast.Store)
        own = make_location(member, name.lineno, name.col_offset, name.end_lineno, name.end_col_offset)
        steps = (left if bound else taken).get(name.id, ())
        # A step that stores has the range of what it stores to, which its value stands outside of.
        variables = (None if bound else _around(steps, own)) or _within(steps, statement)
        for ty in dict.fromkeys(filter(None, (_known(state, variable) for variable in variables))):
            yield from _record(path, members, own, "store" if bound else "load", ty, name=name.id)


def _place_of_step(inst: Any) -> Location | None:
    own = getattr(getattr(inst, "value", None), "loc", None)
    found = own if isinstance(own, Location) and not isinstance(inst.value, ir.Var) else inst.loc
    return found if isinstance(found, Location) else None


def _written(node: Any) -> Iterator[tuple[ast.Name, ast.AST]]:
    """Each name of a function's own scope, with what binds it."""
    stack: list[tuple[ast.AST, ast.AST]] = [(child, child) for child in getattr(node, "body", ())]
    while stack:
        inner, statement = stack.pop()
        if isinstance(inner, ast.Name):
            yield inner, statement
        elif isinstance(inner, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        for child in ast.iter_child_nodes(inner):
            around = child if isinstance(child, ast.stmt) else statement
            if isinstance(inner, (ast.For, ast.With)) and child is getattr(inner, "target", None):
                around = child
            stack.append((child, around))


def _within(steps: Iterable[tuple[Location, Any]], statement: Any) -> list[Any]:
    first = (statement.lineno, statement.col_offset)
    last = (statement.end_lineno, statement.end_col_offset)
    return [v for at, v in steps if first <= (at.line, at.col) and (at.end_line, at.end_col) <= last]


def _around(steps: Iterable[tuple[Location, Any]], own: Location) -> list[Any]:
    start, end = (own.line, own.col), (own.end_line, own.end_col)
    covering = [
        (at, variable) for at, variable in steps if (at.line, at.col) <= start and end <= (at.end_line, at.end_col)
    ]
    if not covering:
        return []
    innermost = max(covering, key=lambda step: (step[0].line, step[0].col, -step[0].end_line, -step[0].end_col))[0]
    return [variable for at, variable in covering if _same(at, innermost)]


def _same(one: Location, other: Location) -> bool:
    return (one.line, one.col, one.end_line, one.end_col) == (other.line, other.col, other.end_line, other.end_col)


def _known(state: Any, variable: Any) -> Any:
    ty = state.typemap.get(variable.name)
    return None if ty is None or ty is types.unknown or isinstance(ty, types.Undefined) else ty


def _record(
    path: Path,
    members: frozenset[str],
    location: Any,
    kind: str,
    ty: Any,
    name: str | None = None,
    constant: str | None = None,
    facts: list[list[str]] | None = None,
) -> Iterator[list[Any]]:
    place = place_of(location, members)
    if place is None or place[2] < 0:
        return
    constant = constant or typetext.constant(ty)
    known = [*typetext.facts(ty), *(facts or [])]
    yield record([place, *path.sites], kind, typetext.of(ty), name, constant, known)


def _name(variable: Any) -> str:
    return variable.unversioned_name or variable.name


def _value(value: Any) -> str | None:
    if isinstance(value, (bool, int, float, complex, str)):
        return typetext.scrub(repr(value))[:120]
    if isinstance(value, tuple) and all(isinstance(item, (bool, int, float)) for item in value):
        return repr(value)[:120]
    return None


def _is_truth(expression: Any) -> bool:
    """The call of `bool` that a branch makes."""
    return expression.op == "call" and expression.func.name.startswith("$bool")


def _facts(state: Any, expression: Any) -> list[list[str]]:
    signature = state.calltypes.get(expression)
    if signature is None or expression.op not in ("call", "binop", "inplace_binop"):
        return []
    return [["computed as", typetext.scrub(str(signature))]]


# -- doubles -----------------------------------------------------------------------------------------------------------


def doubles(found: Iterable[Path], sources: Sources) -> list[dict[str, Any]]:
    """As the server's `Remark`s: where single precision meets what makes it double."""
    remarks: dict[str, dict[str, Any]] = {}
    for path in found:
        origins = {inst.target.name: inst.value for inst in _assignments(path.state)}
        for inst in _assignments(path.state):
            remark = _double(path, inst, origins, sources)
            if remark is not None:
                remarks.setdefault(repr(remark), remark)
    return list(remarks.values())


def _double(path: Path, inst: Any, origins: Mapping[str, Any], sources: Sources) -> dict[str, Any] | None:
    state, expression = path.state, inst.value
    if state.typemap.get(inst.target.name) not in (types.float64, types.complex128):
        return None
    operands = _operands(state, expression)
    if not any(_plain(state, operand) in _NARROW for operand in operands):
        return None
    for operand in operands:
        ty = _plain(state, operand)
        if ty in (types.float64, types.complex128) or isinstance(ty, types.Integer):
            place = place_of(expression.loc, sources.texts)
            narrow = next(str(_plain(state, other)) for other in operands if _plain(state, other) in _NARROW)
            if place is None:
                return None
            message = f"computed in float64: {_cause(operand, origins, sources, ty, narrow)}"
            return {"message": message, "severity": "hint", "chain": [place, *path.sites], "code": "float64"}
    return None


def _operands(state: Any, expression: Any) -> list[Any]:
    if not isinstance(expression, ir.Expr):
        return []
    if expression.op in ("binop", "inplace_binop"):
        return [expression.lhs, expression.rhs]
    if expression.op == "call":
        callee = state.typemap.get(expression.func.name)
        key = getattr(callee, "typing_key", None)
        if getattr(key, "__name__", None) in _MIXING:
            return list(expression.args)
    return []


def _plain(state: Any, operand: Any) -> Any:
    ty = state.typemap.get(operand.name)
    return ty.literal_type if isinstance(ty, types.Literal) else ty


def _cause(operand: Any, origins: Mapping[str, Any], sources: Sources, ty: Any, narrow: str) -> str:
    """`0.5 is a Python float, which is float64; float32(0.5) is not`."""
    value = operand
    for _ in range(8):
        following = origins.get(value.name) if isinstance(value, ir.Var) else None
        if following is None:
            break
        value = following
    text = sources.text(value.loc) if getattr(value, "loc", None) is not None else None
    shown = f"`{text}`" if text else "an operand"
    keep = f"; `{narrow}({text})` stays in {narrow}" if text else ""
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)) and isinstance(value.value, float):
        return f"{shown} is a Python float, which is float64{keep}"
    if isinstance(ty, types.Integer):
        return f"{narrow} and {ty} meet in float64{keep}"
    return f"{shown} is {ty}{keep}"
