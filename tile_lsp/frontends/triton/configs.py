"""The autotuner's configs and the heuristics above a kernel, as far as their text says what they are."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tile_lsp.analysis.python import KernelSite
from tile_lsp.frontends.names import Names, statements
from tile_lsp.model.job import Scalar

from . import spec
from .hints import HINTS

_MOST = 64
_STEPS = 20_000
#: Expressions within expressions, calls and names included.
_DEEPEST = 60
#: Bits of a number that somebody could have meant.
_WIDEST = 256
_DEFAULTS: dict[str, Scalar] = {"num_warps": 4, "num_stages": 3}
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


#: Specs of a job's arguments by parameter → block shapes of its tensor descriptors by parameter.
Blocks = Callable[[Mapping[str, str]], Mapping[str, tuple[int, ...]]]


class TunedConfig(msgspec.Struct, frozen=True):
    """One `triton.Config`."""

    arguments: Mapping[str, str]
    """Parameter → spec."""
    hints: Mapping[str, Scalar]
    blocks: Blocks | None = None
    """What its hook gives to tensor descriptors."""


class Tuning(msgspec.Struct, frozen=True):
    """What the decorators say."""

    configs: tuple[TunedConfig, ...] = ()
    """No more than are worth a job each."""
    total: int = 0
    """How many there are."""
    unread: str | None = None
    """Why the configs can't be read from the text: then the worker takes the first one that there is."""
    pruned: bool = False
    """Some configs may be left out at a launch, by a rule that needs its arguments."""
    heuristics: frozenset[str] = frozenset()
    """Parameters whose values rules compute."""
    optional: frozenset[str] = frozenset()
    """Parameters that those rules compare with None."""


def read_tuning(site: KernelSite, names: Names) -> Tuning:
    """Never raises."""
    configs: tuple[TunedConfig, ...] = ()
    total = 0
    unread: str | None = None
    pruned = False
    heuristics: set[str] = set()
    optional: set[str] = set()
    for decorator in site.definition.decorator_list if site.definition is not None else ():
        if not isinstance(decorator, ast.Call):
            continue
        dotted = names.dotted(decorator.func, site.path) or ast.unparse(decorator.func)
        given = {keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg}
        last = dotted.rpartition(".")[2]
        if last == "autotune" or "configs" in given:
            node = given.get("configs") or (decorator.args[0] if decorator.args else None)
            is_triton = dotted.startswith("triton.")
            pruned = "prune_configs_by" in given or "prune_configs" in given
            try:
                configs, total = _Reader(names).configs(node, site.path) if node is not None else ((), 0)
            except _UnreadableError as error:
                unread = str(error) if is_triton else None
        elif last == "heuristics":
            node = given.get("values") or (decorator.args[0] if decorator.args else None)
            table = _table(node, site.path, names)
            heuristics |= table.keys()
            optional |= {name for rule in table.values() for name in _compared_with_none(rule)}
    return Tuning(configs, total, unread, pruned, frozenset(heuristics), frozenset(optional))


def _table(node: ast.expr | None, path: str, names: Names) -> dict[str, ast.expr]:
    """Rules by the parameter whose value they compute."""
    if node is None:
        return {}
    node, _ = names.expression(node, path)
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _compared_with_none(rule: ast.expr) -> Iterator[str]:
    """`lambda args: args["bias"] is not None`: `bias`."""
    for node in ast.walk(rule):
        match node:
            case ast.Compare(
                left=ast.Subscript(slice=ast.Constant(value=str() as name)), comparators=[ast.Constant(value=None)]
            ):
                yield name


_UNKNOWN = object()


def _constant(text: str) -> object:
    """The value of a spec that is one."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return _UNKNOWN


class _UnreadableError(Exception):
    pass


class _Config(NamedTuple):
    kwargs: dict[str, object]
    options: dict[str, object]
    hook: _Function | None

    def attribute(self, name: str) -> object:
        if name in ("kwargs", "pre_hook"):
            return dict(self.kwargs) if name == "kwargs" else self.hook
        if name in _OPTIONS:
            return self.options.get(name, _DEFAULTS.get(name))
        raise _UnreadableError(f"`{name}` of a config can't be read")


class _Function(NamedTuple):
    node: ast.FunctionDef
    path: str


def _joined(first: Sequence[object], second: Sequence[object]) -> list[object]:
    if len(first) + len(second) > _STEPS:
        raise _UnreadableError("there are too many configs to read")
    return [*first, *second]


def _computed(operator: ast.operator, left: float, right: float) -> object:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow() if abs(right) < 64:
            return left**right
    return None


class _Reader:
    """A small interpreter of what config lists are made of: literals, comprehensions, sums, functions that return
    them.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.steps = 0
        self.depth = 0
        self.open: list[ast.expr] = []
        """Values of names that are being read: a name that is made from itself is made from what it was before."""

    def configs(self, node: ast.expr, path: str) -> tuple[tuple[TunedConfig, ...], int]:
        """The first of them, and how many there are."""
        value = self.value(node, path, {})
        if not isinstance(value, (list, tuple)):
            raise _UnreadableError(f"`{ast.unparse(node)}` is no list that can be read")
        made = [item for item in value if isinstance(item, _Config)]
        if not made:
            raise _UnreadableError(f"`{ast.unparse(node)}` holds no configs that can be read")
        return tuple(map(self._tuned, made[:_MOST])), len(made)

    def _tuned(self, config: _Config) -> TunedConfig:
        arguments: dict[str, str] = {}
        hints: dict[str, Scalar] = dict(_DEFAULTS)
        for name, value in config.kwargs.items():
            text = spec.literal(value)
            if text is None:
                raise _UnreadableError(f"the value of {name} can't be read")
            if name in HINTS and isinstance(value, (bool, int, str)):
                hints[name] = value
            else:
                arguments[name] = text
        hints.update({k: v for k, v in config.options.items() if k in _OPTIONS and isinstance(v, int)})
        if hints.get("num_ctas") == 1:
            del hints["num_ctas"]
        return TunedConfig(arguments, hints, self._blocks(config.hook) if config.hook is not None else None)

    def _blocks(self, hook: _Function) -> Blocks | None:
        """The shapes that a hook sets are evaluated where the other arguments are known: it may read any of them."""
        parameters = hook.node.args.args
        if not parameters:
            return None
        given = parameters[0].arg
        read = {n.value for n in ast.walk(hook.node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        known: dict[tuple[tuple[str, str], ...], dict[str, tuple[int, ...]]] = {}

        def blocks(specs: Mapping[str, str]) -> Mapping[str, tuple[int, ...]]:
            key = tuple((name, text) for name, text in specs.items() if name in read)
            if key not in known:
                found: dict[str, tuple[int, ...]] = {}
                values = {name: value for name, text in key if (value := _constant(text)) is not _UNKNOWN}
                _Reader(self.names)._hook(hook.node.body, hook.path, given, {given: values}, found)
                known[key] = found
            return known[key]

        return blocks

    def value(self, node: ast.expr, path: str, scope: Mapping[str, object]) -> object:
        self.steps += 1
        if self.steps > _STEPS or self.depth >= _DEEPEST:
            raise _UnreadableError("there is too much to read of the configs")
        self.depth += 1
        try:
            return self._value(node, path, scope)
        finally:
            self.depth -= 1

    def _value(self, node: ast.expr, path: str, scope: Mapping[str, object]) -> object:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name() if node.id in scope:
                return scope[node.id]
            case ast.Name(id="True" | "False"):
                return node.id == "True"
            case ast.List() | ast.Tuple():
                return self._sequence(node.elts, path, scope)
            case ast.Dict():
                return self._dict(node, path, scope)
            case ast.ListComp() | ast.GeneratorExp():
                return [self.value(node.elt, path, inner) for inner in self._loops(node.generators, path, scope)]
            case ast.BinOp():
                return self._binary(node, path, scope)
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand, path, scope)
            case ast.UnaryOp(op=ast.Not()):
                return not self.value(node.operand, path, scope)
            case ast.IfExp():
                try:
                    chosen = self.value(node.test, path, scope)
                except _UnreadableError:
                    chosen = True
                return self.value(node.body if chosen else node.orelse, path, scope)
            case ast.Compare() | ast.BoolOp():
                return self._logic(node, path, scope)
            case ast.Call():
                return self._call(node, path, scope)
            case ast.Subscript():
                container = self.value(node.value, path, scope)
                try:
                    return container[self.value(node.slice, path, scope)]  # type: ignore[index]
                except (KeyError, IndexError, TypeError) as error:
                    raise _UnreadableError(f"`{ast.unparse(node)}` can't be read") from error
            case ast.Attribute() if isinstance(found := self._owner(node.value, path, scope), _Config):
                return found.attribute(node.attr)
        target, home = self.names.expression(node, path)
        if target is not node:
            return self._global(node, target, home)
        known = self.names.constant(node, path)
        if known is not None:
            return known.value
        function = self.names.function(node, path)
        if function is not None and isinstance(function[0], ast.FunctionDef):
            return _Function(function[0], function[1])
        raise _UnreadableError(f"`{ast.unparse(node)}` can't be read")

    def _global(self, node: ast.expr, target: ast.expr, home: str) -> object:
        if any(target is each for each in self.open):
            target = self._earlier(node, target, home)
        self.open.append(target)
        try:
            return self.value(target, home, {})
        finally:
            self.open.pop()

    def _earlier(self, node: ast.expr, target: ast.expr, home: str) -> ast.expr:
        """What a name of module level stood for before the last of its values that are being read."""
        tree = self.names.tree(home)
        given = [
            statement.value
            for statement in statements(tree.body if tree is not None else [])
            if isinstance(statement, ast.Assign)
            and any(
                isinstance(t, ast.Name) and isinstance(node, ast.Name) and t.id == node.id for t in statement.targets
            )
        ]
        texts = [ast.dump(value) for value in given]
        known = [ast.dump(each) for each in self.open]
        before = next((at for at, text in enumerate(texts) if text in known), 0) - 1
        if before < 0:
            raise _UnreadableError(f"`{ast.unparse(node)}` is made from itself")
        return given[before]

    def _owner(self, node: ast.expr, path: str, scope: Mapping[str, object]) -> object:
        """The value whose attribute is asked for, where it is one of a function's own."""
        if isinstance(node, ast.Name):
            return scope.get(node.id)
        return self.value(node, path, scope) if isinstance(node, (ast.Call, ast.Subscript)) else None

    def _sequence(self, nodes: list[ast.expr], path: str, scope: Mapping[str, object]) -> list[object]:
        found: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.value(node.value, path, scope)
                found = _joined(found, inner if isinstance(inner, (list, tuple)) else [])
            else:
                found.append(self.value(node, path, scope))
        return found

    def _dict(self, node: ast.Dict, path: str, scope: Mapping[str, object]) -> dict[object, object]:
        made: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.value(value, path, scope)
                made.update(inner if isinstance(inner, dict) else {})
            else:
                made[self._hashable(key, path, scope)] = self.value(value, path, scope)
        return made

    def _hashable(self, node: ast.expr, path: str, scope: Mapping[str, object]) -> object:
        value = self.value(node, path, scope)
        if isinstance(value, (bool, int, float, str)) or value is None:
            return value
        raise _UnreadableError(f"`{ast.unparse(node)}` is no key that can be read")

    def _loops(
        self, generators: list[ast.comprehension], path: str, scope: Mapping[str, object]
    ) -> Iterator[Mapping[str, object]]:
        if not generators:
            yield scope
            return
        first, *rest = generators
        values = self.value(first.iter, path, scope)
        if not isinstance(values, (list, tuple, range)):
            raise _UnreadableError(f"`{ast.unparse(first.iter)}` can't be read")
        for value in values:
            inner = {**scope, **self._bound(first.target, value)}
            if all(self.value(test, path, inner) for test in first.ifs):
                yield from self._loops(rest, path, inner)

    def _bound(self, target: ast.expr, value: object) -> dict[str, object]:
        if isinstance(target, ast.Name):
            return {target.id: value}
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)):
            made: dict[str, object] = {}
            for inner, item in zip(target.elts, value, strict=False):
                made.update(self._bound(inner, item))
            return made
        raise _UnreadableError(f"`{ast.unparse(target)}` can't be read")

    def _number(self, node: ast.expr, path: str, scope: Mapping[str, object]) -> int:
        value = self.value(node, path, scope)
        if isinstance(value, (int, float)):
            return value  # type: ignore[return-value]
        raise _UnreadableError(f"`{ast.unparse(node)}` is no number")

    def _binary(self, node: ast.BinOp, path: str, scope: Mapping[str, object]) -> object:
        left, right = self.value(node.left, path, scope), self.value(node.right, path, scope)
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and isinstance(node.op, ast.Add):
            return _joined(left, right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            try:
                found = _computed(node.op, left, right)
            except ArithmeticError as error:
                raise _UnreadableError(str(error)) from error
            if isinstance(found, float) or (isinstance(found, int) and found.bit_length() <= _WIDEST):
                return found
        raise _UnreadableError(f"`{ast.unparse(node)}` can't be read")

    def _logic(self, node: ast.Compare | ast.BoolOp, path: str, scope: Mapping[str, object]) -> object:
        if isinstance(node, ast.BoolOp):
            values = [self.value(value, path, scope) for value in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        left = self.value(node.left, path, scope)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator, path, scope)
            try:
                holds = {
                    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b,
                    ast.GtE: lambda a, b: a >= b, ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
                    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
                    ast.Is: lambda a, b: a is b, ast.IsNot: lambda a, b: a is not b,
                }[type(operator)](left, right)  # fmt: skip
            except TypeError as error:
                raise _UnreadableError(f"`{ast.unparse(node)}` can't be read") from error
            if not holds:
                return False
            left = right
        return True

    def _call(self, node: ast.Call, path: str, scope: Mapping[str, object]) -> object:
        dotted = self.names.dotted(node.func, path) or ""
        last = dotted.rpartition(".")[2] or ast.unparse(node.func).rpartition(".")[2]
        if last == "Config" and (dotted.startswith("triton.") or not dotted):
            return self._config(node, path, scope)
        if last == "dict" and not node.args:
            return {k.arg: self.value(k.value, path, scope) for k in node.keywords if k.arg}
        arguments = self._sequence(node.args, path, scope)
        if last == "range" and all(isinstance(item, int) for item in arguments) and arguments:
            try:
                return list(itertools.islice(range(*arguments), _STEPS))  # type: ignore[call-overload]
            except (TypeError, ValueError) as error:
                raise _UnreadableError(f"`{ast.unparse(node)}` can't be read") from error
        if last in ("list", "tuple", "sorted") and len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
            return list(arguments[0])
        if last == "product" and all(isinstance(item, (list, tuple)) for item in arguments):
            return list(itertools.islice(itertools.product(*arguments), _STEPS))  # type: ignore[arg-type]
        if last in ("min", "max") and arguments and all(isinstance(item, (int, float)) for item in arguments):
            return (min if last == "min" else max)(arguments)  # type: ignore[type-var]
        if last == "get" and 1 <= len(arguments) <= 2 and isinstance(node.func, ast.Attribute):
            table = self._owner(node.func.value, path, scope)
            if isinstance(table, dict):
                return table.get(self._hashable(node.args[0], path, scope), *arguments[1:])
        known = scope.get(node.func.id) if isinstance(node.func, ast.Name) else None
        found = known if isinstance(known, _Function) else self.names.function(node.func, path)
        if found is not None and isinstance(found[0], ast.FunctionDef):
            return self._function(found[0], found[1], arguments, node, path, scope)
        raise _UnreadableError(f"`{ast.unparse(node)}` can't be read")

    def _config(self, node: ast.Call, path: str, scope: Mapping[str, object]) -> _Config:
        options = {k.arg: self.value(k.value, path, scope) for k in node.keywords if k.arg and k.arg in _OPTIONS}
        first = next((k.value for k in node.keywords if k.arg == "kwargs"), node.args[0] if node.args else None)
        kwargs = self.value(first, path, scope) if first is not None else {}
        if not isinstance(kwargs, dict):
            raise _UnreadableError(f"`{ast.unparse(node)}` can't be read")
        for name, value in zip(_OPTIONS[:2], node.args[1:], strict=False):
            options[name] = self.value(value, path, scope)
        return _Config({str(key): value for key, value in kwargs.items()}, options, self._pre_hook(node, path, scope))

    def _pre_hook(self, node: ast.Call, path: str, scope: Mapping[str, object]) -> _Function | None:
        given = next((k.value for k in node.keywords if k.arg == "pre_hook"), None)
        try:
            found = self.value(given, path, scope) if given is not None else None
        except _UnreadableError:
            # One that can't be followed says nothing of the config's own values.
            return None
        return found if isinstance(found, _Function) else None

    def _hook(
        self, body: list[ast.stmt], path: str, given: str, local: dict[str, object], into: dict[str, tuple[int, ...]]
    ) -> None:
        """Block shapes that a hook sets: `given["x"].block_shape = [given["M"], 64]`. Others are left out."""
        for statement in body:
            try:
                match statement:
                    case ast.Assign(
                        targets=[
                            ast.Attribute(
                                value=ast.Subscript(
                                    value=ast.Name(id=name), slice=ast.Constant(value=str() as parameter)
                                ),
                                attr="block_shape",
                            )
                        ],
                        value=value,
                    ) if name == given:
                        shape = self.value(value, path, local)
                        if isinstance(shape, (list, tuple)) and all(isinstance(length, int) for length in shape):
                            into[parameter] = tuple(shape)
                    case ast.Assign(targets=[target], value=value):
                        local.update(self._bound(target, self.value(value, path, local)))
                    case ast.If(test=test, body=then, orelse=otherwise):
                        try:
                            chosen = bool(self.value(test, path, local))
                        except _UnreadableError:
                            chosen = True
                        self._hook(then if chosen else otherwise, path, given, local, into)
            except _UnreadableError:
                continue

    def _function(
        self, function: ast.FunctionDef, home: str, arguments: list[object], node: ast.Call, path: str,
        scope: Mapping[str, object],
    ) -> object:  # fmt: skip
        parameters = function.args.args
        local: dict[str, object] = {}
        defaults = function.args.defaults
        for parameter, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
            local[parameter.arg] = self.value(default, home, {})
        local.update({p.arg: value for p, value in zip(parameters, arguments, strict=False)})
        local.update({k.arg: self.value(k.value, path, scope) for k in node.keywords if k.arg})
        returned = self._block(function.body, home, local)
        if returned is None:
            raise _UnreadableError(f"what `{function.name}` returns can't be read")
        return returned[0]

    def _block(self, body: list[ast.stmt], path: str, local: dict[str, object]) -> tuple[object] | None:
        """The returned value, wrapped; None where the block ends without one."""
        for statement in body:
            match statement:
                case ast.Return(value=ast.expr() as value):
                    return (self.value(value, path, local),)
                case ast.Assign(targets=[target], value=value):
                    local.update(self._bound(target, self.value(value, path, local)))
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name in local:
                    extra, old = self.value(value, path, local), local[name]
                    if not isinstance(old, list) or not isinstance(extra, (list, tuple)):
                        raise _UnreadableError(f"`{ast.unparse(statement)}` can't be read")
                    local[name] = _joined(old, extra)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=[value])) if (
                    name in local and attr in ("append", "extend")
                ):
                    added, old = self.value(value, path, local), local[name]
                    if not isinstance(old, list):
                        raise _UnreadableError(f"`{ast.unparse(statement)}` can't be read")
                    old[:] = _joined(old, added if attr == "extend" and isinstance(added, (list, tuple)) else [added])
                case ast.For(target=target, iter=iterated, body=inner):
                    values = self.value(iterated, path, local)
                    if not isinstance(values, (list, tuple)):
                        raise _UnreadableError(f"`{ast.unparse(iterated)}` can't be read")
                    for value in values:
                        local.update(self._bound(target, value))
                        if (found := self._block(inner, path, local)) is not None:
                            return found
                case ast.If(test=test, body=then, orelse=otherwise):
                    try:
                        chosen = bool(self.value(test, path, local))
                    except _UnreadableError:
                        # Most such tests ask for the vendor, and the first answer is mostly NVIDIA's.
                        chosen = not any(word in ast.unparse(test).lower() for word in ("hip", "amd", "rocm", "xpu"))
                    if (found := self._block(then if chosen else otherwise, path, local)) is not None:
                        return found
                case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                    continue
                case _:
                    raise _UnreadableError(f"`{ast.unparse(statement)[:60]}` can't be read")
        return None
