"""The abstract run itself: statements, names, expressions, and the functions of the workspace that are called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from tile_lsp.frontends.calls import by_parameter
from tile_lsp.frontends.cutile.terms import (
    BOOL,
    ONE,
    UNKNOWN,
    Dims,
    Dtype,
    Function,
    Items,
    Literal,
    Method,
    Mono,
    Named,
    Num,
    Of,
    Ref,
    Shape,
    Slot,
    Tile,
    Value,
    View,
    Weak,
    join,
    knowledge,
    literal,
    named,
    number,
    slots,
)
from tile_lsp.frontends.names import Names, chain

from . import methods, operations
from .evidence import Evidence
from .operations import Arguments
from .use import Usage

_MAX_STEPS = 40_000
_MAX_DEPTH = 8


def read_usage(
    function: ast.FunctionDef,
    path: str,
    names: Names,
    constants: Iterable[str],
    around: Sequence[ast.FunctionDef] = (),
) -> Usage:
    """Reads the body of a kernel. `constants` are the names of the parameters whose values the compiler will know.

    `around`: the functions that it is defined in, outermost first.
    """
    usage = Usage()
    runner = _Runner(usage, names, frozenset(constants), path)
    try:
        env: dict[str, Value] = {}
        for outer in around:
            env |= {argument.arg: UNKNOWN for argument in _arguments(outer)}
            _Frame(runner, path, env, depth=0).block([s for s in outer.body if isinstance(s, _BINDING)])
        env |= {argument.arg: Ref(Slot(argument.arg)) for argument in _arguments(function)}
        _Frame(runner, path, env, depth=0).block(function.body)
    except _OutOfStepsError:
        pass
    return usage


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


#: What can bind a name that a kernel inside a function captures.
_BINDING = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)


class _OutOfStepsError(Exception):
    pass


class _Runner:
    def __init__(self, usage: Usage, names: Names, constants: frozenset[str], home: str) -> None:
        self.usage = usage
        self.names = names
        self.constants = constants
        self.home = home
        self.steps = 0
        self.outer: dict[tuple[str, tuple[str, ...]], Value] = {}
        self.active: list[ast.AST] = []


class _Frame(Evidence):
    """One activation of a function."""

    def __init__(self, runner: _Runner, path: str, env: dict[str, Value], depth: int) -> None:
        super().__init__(runner.usage, runner.names, runner.home, path)
        self.runner = runner
        self.env = env
        self.depth = depth
        self.returned: list[Value] = []

    def tick(self, node: ast.AST) -> None:
        self.runner.steps += 1
        if self.runner.steps > _MAX_STEPS:
            raise _OutOfStepsError
        self.line = getattr(node, "lineno", self.line)

    # -- statements ----------------------------------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        self.tick(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self.bind(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self.bind(target, self.binary(op, self.lookup(name), self.value(value)))
            case ast.Expr(value=value):
                self.value(value)
            case ast.Return(value=value):
                self.returned.append(self.value(value) if value is not None else Literal(None))
            case ast.If(test=test, body=body, orelse=orelse):
                self.value(test)
                self.branches([body, orelse])
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                item = self.iterate(iterable)
                for _ in range(2):
                    self.bind(target, item)
                    self.block(body)
                self.block(orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                for _ in range(2):
                    self.value(test)
                    self.block(body)
                self.block(orelse)
            case ast.Import(names=aliases):
                for alias in aliases:
                    self.env[alias.asname or alias.name.partition(".")[0]] = Named(
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            case ast.ImportFrom(module=str() as module, level=0, names=aliases):
                for alias in aliases:
                    self.env[alias.asname or alias.name] = named(f"{module}.{alias.name}")
            case ast.FunctionDef(name=name):
                self.env[name] = Function(node, self.path, tuple(self.env.items()))
            case ast.With(items=items, body=body):
                for item in items:
                    self.value(item.context_expr)
                self.block(body)
            case ast.Assert(test=test):
                self.value(test)
            case ast.Match(subject=subject, cases=cases):
                self.value(subject)
                self.branches([case.body for case in cases])
            case ast.Try(body=body, orelse=orelse, finalbody=final):
                self.block([*body, *orelse, *final])
            case _:
                pass

    def branches(self, bodies: Sequence[Sequence[ast.stmt]]) -> None:
        """Runs each on its own, and keeps of what they bind the value that says most."""
        before = dict(self.env)
        merged = dict(before)
        for body in bodies:
            self.env = dict(before)
            self.block(body)
            for name, value in self.env.items():
                if name not in merged or merged[name] is before.get(name) or knowledge(value) > knowledge(merged[name]):
                    merged[name] = value
        self.env = merged

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN)
        elif isinstance(target, (ast.Tuple, ast.List)):
            count = len(target.elts)
            for position, element in enumerate(target.elts):
                self.bind(element, self.item(value, position, count))

    def item(self, value: Value, position: int, count: int) -> Value:
        """Item `position` of something unpacked into `count` names."""
        if isinstance(value, Items) and position < len(value.items):
            return value.items[position]
        if isinstance(value, Ref):
            use = self.sequence(value.slot, f"unpacked into {count} names")
            use.items = max(use.items, count)
            return Ref(Slot(value.slot.name, (*value.slot.path, position)))
        if isinstance(value, Shape):
            self.rank(value.slot, count, f"its shape is unpacked into {count} names")
            return Num()
        return UNKNOWN

    def iterate(self, iterable: ast.expr) -> Value:
        value = self.value(iterable)
        if isinstance(value, Ref):
            self.sequence(value.slot, "iterated over").dynamic = True
            return Ref(Slot(value.slot.name, (*value.slot.path, "*")))
        if isinstance(value, Items) and value.items:
            return value.items[0]
        if isinstance(value, Num):
            return Num()
        return UNKNOWN

    # -- expressions ---------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        self.tick(node)
        match node:
            case ast.Constant(value=constant):
                return literal(constant)
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return self.items(elements)
            case ast.Attribute(value=owner, attr=attr):
                return self.member(node) or self.attribute(self.value(owner), attr)
            case ast.Subscript(value=owner, slice=index):
                return self.subscript(self.value(owner), index)
            case ast.Call():
                return self.call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.value(operand))
            case ast.Compare(left=left, comparators=comparators):
                return self.compare([self.value(left), *map(self.value, comparators)])
            case ast.BoolOp(values=values):
                for value in values:
                    self.scalarise(self.value(value))
                return Num(dtype=BOOL)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                left, right = self.value(body), self.value(orelse)
                return self.choose(left, right)
            case ast.NamedExpr(target=target, value=value):
                result = self.value(value)
                self.bind(target, result)
                return result
            case ast.Lambda():
                return Function(node, self.path, tuple(self.env.items()))
            case ast.Starred(value=value):
                self.value(value)
                return UNKNOWN
            case ast.JoinedStr() | ast.ListComp() | ast.GeneratorExp():
                return UNKNOWN
            case _:
                return UNKNOWN

    def items(self, elements: Sequence[ast.expr]) -> Value:
        values: list[Value] = []
        for element in elements:
            value = self.value(element.value if isinstance(element, ast.Starred) else element)
            if not isinstance(element, ast.Starred):
                values.append(value)
            elif isinstance(value, Items):
                values.extend(value.items)
            else:
                return UNKNOWN
        return Items(tuple(values))

    def choose(self, left: Value, right: Value) -> Value:
        """Of two outcomes the one that says more; a dtype that hangs on an array says more than one spelt out."""
        if isinstance(left, Dtype) and isinstance(right, Dtype):
            return right if slots(right.term) else left
        return left if knowledge(left) >= knowledge(right) else right

    def lookup(self, name: str) -> Value:
        value = self.env.get(name)
        if value is None:
            value = self.outer(ast.Name(name, ast.Load()))
        if isinstance(value, Ref) and not value.slot.path and value.slot.name in self.runner.constants:
            return Num(Mono(Fraction(1), ((value.slot.name, 1),)), Weak("int"))
        return value

    def outer(self, node: ast.expr) -> Value:
        """A name of the module, or of a module that it imports."""
        key = (self.path, chain(node) or ())
        known = self.runner.outer.get(key)
        if known is None:
            known = self.runner.outer[key] = self.find_outer(node)
        return known

    def find_outer(self, node: ast.expr) -> Value:
        dotted = self.names.dotted(node, self.path)
        if dotted is not None:
            return named(dotted)
        found = self.names.function(node, self.path)
        if found is not None:
            return Function(*found)
        known = self.names.constant(node, self.path)
        return literal(known.value) if known is not None else UNKNOWN

    def member(self, node: ast.Attribute) -> Value | None:
        """A function or constant of another module of the workspace, `helpers.swizzle`."""
        names = chain(node)
        if names is None or names[0] in self.env:
            return None
        found = self.outer(node)
        return None if found is UNKNOWN else found

    def attribute(self, owner: Value, attr: str) -> Value:
        match owner:
            case Named(dotted=dotted):
                return named(f"{dotted}.{attr}")
            case Ref(slot=slot):
                if attr == "dtype":
                    self.array(slot, "its dtype is asked for")
                    return Dtype(Of(slot))
                if attr in ("shape", "strides"):
                    self.array(slot, f"its {attr} is asked for")
                    return Shape(slot)
                if attr == "ndim":
                    self.array(slot, "its rank is asked for")
                    return Num()
                return Method(owner, attr)
            case Tile(shape=shape, dtype=dtype):
                if attr == "dtype":
                    return Dtype(dtype)
                if attr == "shape":
                    return Items(tuple(map(Num, shape))) if shape is not None else UNKNOWN
                if attr == "ndim":
                    return Num(number(len(shape))) if shape is not None else Num()
                return Method(owner, attr)
            case View(slot=slot, shape=shape):
                if attr == "dtype":
                    return Dtype(Of(slot))
                if attr == "tile_shape" and shape is not None:
                    return Items(tuple(map(Num, shape)))
                return Method(owner, attr)
            case Num():
                return Method(Tile((), owner.dtype), attr)
            case _:
                return UNKNOWN

    def subscript(self, owner: Value, index: ast.expr) -> Value:
        position = _position(index)
        match owner:
            case Shape(slot=slot):
                if position is not None and position >= 0:
                    use = self.array(slot, f"its length along axis {position} is asked for")
                    use.min_rank = max(use.min_rank, position + 1)
                else:
                    self.value(index)
                return Num()
            case Ref(slot=slot):
                use = self.sequence(slot, "indexed with []")
                if position is None:
                    self.integral(self.value(index))
                    use.dynamic = True
                    return Ref(Slot(slot.name, (*slot.path, "*")))
                if position >= 0:
                    use.items = max(use.items, position + 1)
                return Ref(Slot(slot.name, (*slot.path, position)))
            case Items(items=items):
                if position is not None and -len(items) <= position < len(items):
                    return items[position]
                return items[0] if items and position is None else UNKNOWN
            case Tile(shape=shape, dtype=dtype):
                return Tile(self.sliced(shape, index), dtype)
            case Num(dtype=dtype):
                return Tile(self.sliced((), index), dtype)
            case _:
                self.value(index)
                return UNKNOWN

    def sliced(self, shape: Dims | None, index: ast.expr) -> Dims | None:
        elements = index.elts if isinstance(index, ast.Tuple) else [index]
        if shape is None:
            return None
        rest = list(shape)
        result: list[Mono | None] = []
        for element in elements:
            if isinstance(element, ast.Constant) and element.value is None:
                result.append(ONE)
            elif isinstance(element, ast.Constant) and element.value is Ellipsis:
                return None
            elif isinstance(element, ast.Slice) and rest:
                result.append(rest.pop(0))
            elif rest:
                rest.pop(0)
        return (*result, *rest)

    # -- calls ---------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Value:
        callee = self.value(node.func)
        arguments = [self.value(argument) for argument in node.args]
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        self.line = node.lineno
        if isinstance(callee, Named):
            return self.named_call(callee.dotted, arguments, keywords)
        if isinstance(callee, Method):
            return self.method_call(callee, arguments, keywords)
        if isinstance(callee, Function):
            return self.inline(callee, arguments, keywords)
        if isinstance(callee, Dtype):
            return Num(arguments[0].size if arguments and isinstance(arguments[0], Num) else None, callee.term)
        if isinstance(node.func, ast.Name):
            return self.builtin_call(node.func.id, arguments)
        return UNKNOWN

    def inline(self, callee: Function, arguments: list[Value], keywords: Mapping[str, Value]) -> Value:
        runner = self.runner
        if self.depth >= _MAX_DEPTH or callee.node in runner.active:
            return UNKNOWN
        parameters = callee.node.args
        frame = _Frame(runner, callee.path, dict(callee.captured), self.depth + 1)
        frame.env |= by_parameter(parameters, arguments, keywords, frame.value, UNKNOWN)
        if parameters.vararg is not None:
            rest = arguments[len(parameters.posonlyargs) + len(parameters.args) :]
            frame.env[parameters.vararg.arg] = Items(tuple(rest))
        runner.active.append(callee.node)
        try:
            if isinstance(callee.node, ast.Lambda):
                return frame.value(callee.node.body)
            frame.block(callee.node.body)
        finally:
            runner.active.pop()
        result: Value = frame.returned[0] if frame.returned else Literal(None)
        for value in frame.returned[1:]:
            result = self.choose(result, value)
        return result

    def builtin_call(self, name: str, arguments: list[Value]) -> Value:
        if name == "len" and arguments:
            owner = arguments[0]
            if isinstance(owner, Ref):
                self.sequence(owner.slot, "its length is asked for")
            if isinstance(owner, Items):
                return Num(number(len(owner.items)))
            return Num()
        if name == "range":
            for argument in arguments:
                self.integral(self.scalarise(argument))
                self.integral(argument)
            return Num()
        if name in ("min", "max") and len(arguments) == 2:
            return self.binary(ast.Add(), *arguments) if _has_tile(arguments) else self.smaller(name, arguments)
        if name == "int":
            return Num(arguments[0].size if arguments and isinstance(arguments[0], Num) else None)
        if name == "float":
            return Num(None, Weak("float"))
        if name == "bool":
            return Num(None, BOOL)
        if name == "abs" and arguments:
            return self.scalarise(arguments[0])
        if name in ("tuple", "list") and arguments:
            return arguments[0]
        return UNKNOWN

    def smaller(self, name: str, arguments: list[Value]) -> Value:
        left, right = (self.scalarise(argument) for argument in arguments)
        if isinstance(left, Num) and isinstance(right, Num):
            size = left.size if name == "min" and right.size is None else None
            return Num(size, join(left.dtype, right.dtype))
        return UNKNOWN

    def named_call(self, dotted: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        module, _, name = dotted.rpartition(".")
        if module == "cuda.tile":
            return operations.called(self, name, Arguments(arguments, keywords))
        if module in ("math", "numpy"):
            if all(isinstance(a, Num) for a in arguments):
                return Num(None, Weak("float"))
            return UNKNOWN
        if module == "builtins":
            return self.builtin_call(name, arguments)
        return UNKNOWN

    def method_call(self, method: Method, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        owner = method.owner
        if isinstance(owner, Tile):
            return self.named_call(f"cuda.tile.{method.name}", [owner, *arguments], keywords)
        if isinstance(owner, Ref):
            return methods.array(self, owner, method.name, Arguments(arguments, keywords))
        if isinstance(owner, View):
            return methods.view(self, owner, method.name, Arguments(arguments, keywords))
        return UNKNOWN


def _has_tile(values: Iterable[Value]) -> bool:
    return any(isinstance(value, Tile) for value in values)


def _position(index: ast.expr) -> int | None:
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        inner = _position(index.operand)
        return -inner if inner is not None else None
    return index.value if isinstance(index, ast.Constant) and type(index.value) is int else None
