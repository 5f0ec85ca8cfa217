"""How a kernel's body uses its parameters: ranks, dtypes, roles, and the sizes that have to fit one another.

An abstract run of the body, helpers of the workspace included: every branch is taken, every loop runs twice. It is
bounded in steps and in depth, never raises, and what it does not understand it takes to be unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from tile_lsp.frontends.dtypes import canonical
from tile_lsp.frontends.names import Names, chain

from .terms import (
    BOOL,
    INT,
    ONE,
    UNKNOWN,
    Dtype,
    Fixed,
    Function,
    Items,
    Literal,
    Method,
    Mix,
    Mono,
    Named,
    Num,
    Of,
    Ref,
    Shape,
    Slot,
    Term,
    Tile,
    Value,
    View,
    Weak,
    floated,
    join,
    number,
    slots,
)

_MAX_STEPS = 40_000
_MAX_DEPTH = 8

Dims = tuple[Mono | None, ...]


class Use:
    """What was seen of one slot."""

    def __init__(self) -> None:
        self.array: str | None = None
        """Why it is an array, for people."""
        self.rank: int | None = None
        self.rank_why = ""
        self.min_rank = 0
        self.sequence: str | None = None
        """Why it is a list or a tuple."""
        self.dynamic = False
        """Indexed with something other than a literal: a list, not a tuple."""
        self.items: int = 0
        """The least number of items, where literals index it."""
        self.scalar: str | None = None
        self.partners: list[Term] = []
        """Dtypes that it was combined with."""
        self.is_dtype = False
        self.compared: list[object] = []
        """Literals that it is compared with."""
        self.roles: dict[str, str] = {}
        """`mma`, `scaled`, `scale`, `index`, `lock`, `truth` → why."""


class Usage:
    """The outcome."""

    def __init__(self) -> None:
        self.uses: dict[Slot, Use] = {}
        self.shapes: dict[Dims, None] = {}
        """Shapes of tiles, in the order in which they were met."""
        self.accumulators: dict[Dims, None] = {}
        self.equalities: list[tuple[Mono, Mono]] = []
        """Sizes that have to be the same."""
        self.stores: list[tuple[Slot, Term, str]] = []
        """Array, dtype of what is stored into it, and where."""

    def use(self, slot: Slot) -> Use:
        return self.uses.setdefault(slot, Use())


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


class _Frame:
    """One activation of a function."""

    def __init__(self, runner: _Runner, path: str, env: dict[str, Value], depth: int) -> None:
        self.runner = runner
        self.usage = runner.usage
        self.path = path
        self.env = env
        self.depth = depth
        self.returned: list[Value] = []
        self.line = 0

    def tick(self, node: ast.AST) -> None:
        self.runner.steps += 1
        if self.runner.steps > _MAX_STEPS:
            raise _OutOfStepsError
        self.line = getattr(node, "lineno", self.line)

    # -- statements --------------------------------------------------------------------------------------------------

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
                    self.env[alias.asname or alias.name] = _named(f"{module}.{alias.name}")
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
                if (
                    name not in merged
                    or merged[name] is before.get(name)
                    or _knowledge(value) > _knowledge(merged[name])
                ):
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

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        self.tick(node)
        match node:
            case ast.Constant(value=constant):
                return _literal(constant)
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
        return left if _knowledge(left) >= _knowledge(right) else right

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
        names = self.runner.names
        dotted = names.dotted(node, self.path)
        if dotted is not None:
            return _named(dotted)
        found = names.function(node, self.path)
        if found is not None:
            return Function(*found)
        known = names.constant(node, self.path)
        return _literal(known.value) if known is not None else UNKNOWN

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
                return _named(f"{dotted}.{attr}")
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

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        operand = self.scalarise(operand)
        if isinstance(op, ast.Not):
            return Num(dtype=BOOL)
        if isinstance(operand, Num):
            size = operand.size
            if isinstance(op, ast.USub) and size is not None:
                size = Mono(-size.coefficient, size.powers)
            return Num(size, operand.dtype)
        return operand

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        left, right = self.scalarise(left, other=right), self.scalarise(right, other=left)
        if isinstance(left, Items) and isinstance(right, Items) and isinstance(op, ast.Add):
            return Items((*left.items, *right.items))
        if isinstance(op, ast.MatMult):
            return self.matmul(left, right)
        if isinstance(left, Num) and isinstance(right, Num):
            return self.scalar_arithmetic(op, left, right)
        dtype = join(_term(left), _term(right))
        if isinstance(op, ast.Div):
            dtype = floated(dtype)
        if isinstance(left, Tile) or isinstance(right, Tile):
            return Tile(self.broadcast(_dims(left), _dims(right)), dtype)
        return UNKNOWN

    def scalar_arithmetic(self, op: ast.operator, left: Num, right: Num) -> Num:
        size = None
        if left.size is not None and right.size is not None:
            size = _arithmetic(op, left.size, right.size)
        dtype = join(left.dtype, right.dtype)
        if isinstance(op, ast.Div):
            dtype = floated(dtype)
        return Num(size, dtype)

    def compare(self, values: list[Value]) -> Value:
        literals = [value.value for value in values if isinstance(value, Literal)]
        for value in values:
            if isinstance(value, Ref) and literals:
                self.usage.use(value.slot).compared.extend(literals)
            elif isinstance(value, Ref) and any(isinstance(other, Dtype) for other in values):
                self.usage.use(value.slot).is_dtype = True
            elif isinstance(value, Num) and value.size is not None and literals:
                for name in value.size.names:
                    self.usage.use(Slot(name)).compared.extend(literals)
            elif isinstance(value, Num) and value.size is not None and any(isinstance(v, Dtype) for v in values):
                for name in value.size.names:
                    self.usage.use(Slot(name)).is_dtype = True
        others = list(values)
        values = [
            self.scalarise(value, other=others[1 - position] if len(others) == 2 else None)
            for position, value in enumerate(values)
        ]
        shape: Dims | None = ()
        for value in values:
            shape = self.broadcast(shape, _dims(value))
        if any(isinstance(value, Tile) for value in values):
            return Tile(shape, BOOL)
        return Num(dtype=BOOL)

    def scalarise(self, value: Value, other: Value | None = None) -> Value:
        """A parameter that takes part in arithmetic is a scalar."""
        if not isinstance(value, Ref):
            return value
        use = self.usage.use(value.slot)
        if use.array is not None or use.sequence is not None:
            return UNKNOWN
        use.scalar = use.scalar or f"used in arithmetic at {self.where()}"
        use.partners.append(_term(other))
        return Num(None, Of(value.slot))

    def integral(self, value: Value) -> None:
        """The value is used as an index or a count: what it came from is integral."""
        if isinstance(value, Ref):
            use = self.usage.use(value.slot)
            if use.array is None and use.sequence is None:
                use.scalar = use.scalar or f"used as an index at {self.where()}"
                use.roles.setdefault("index", f"used as an index at {self.where()}")
            return
        if isinstance(value, Items):
            for item in value.items:
                self.integral(item)
            return
        for slot in slots(_term(value)):
            self.usage.use(slot).roles.setdefault("index", f"its elements are indices at {self.where()}")

    # -- facts -------------------------------------------------------------------------------------------------------

    def where(self) -> str:
        place = self.runner.names.place(self.path, self.line)
        if self.path != self.runner.home:
            return place
        line = place[len(self.path.rsplit("/", 1)[-1]) + 1 :]
        return line if line.startswith("cell") else f"line {line}"

    def array(self, slot: Slot, why: str) -> Use:
        use = self.usage.use(slot)
        use.array = use.array or f"{why} at {self.where()}"
        return use

    def sequence(self, slot: Slot, why: str) -> Use:
        use = self.usage.use(slot)
        use.sequence = use.sequence or f"{why} at {self.where()}"
        return use

    def rank(self, slot: Slot, rank: int, why: str) -> None:
        use = self.array(slot, why)
        if use.rank is None:
            use.rank = rank
            use.rank_why = f"{why} at {self.where()}"

    def indexed(self, slot: Slot, index: Value, shape: Dims | None = None) -> None:
        """An access by coordinates: their number is the rank, and what they were loaded from is integral."""
        self.integral(index)
        if isinstance(index, Items):
            count = len(index.items)
            self.rank(slot, count, f"indexed with {count} coordinate{'s' * (count != 1)}")
        elif shape is not None and len(shape) > 0:
            self.rank(slot, len(shape), f"its tiles have {len(shape)} dimension{'s' * (len(shape) != 1)}")
        elif isinstance(index, (Num, Tile, Ref)):
            self.rank(slot, 1, "indexed with 1 coordinate")
        else:
            self.array(slot, "indexed")

    def tile_shape(self, value: Value) -> Dims | None:
        """The shape of a tile as an argument gives it."""
        if isinstance(value, Items):
            shape = tuple(item.size if isinstance(item, Num) else None for item in value.items)
        elif isinstance(value, Num):
            shape = (value.size,)
        else:
            return None
        if not any(size is not None and size.coefficient < 0 for size in shape):
            self.usage.shapes[shape] = None
        return shape

    def equal(self, left: Mono | None, right: Mono | None) -> None:
        if left is not None and right is not None and left != right:
            self.usage.equalities.append((left, right))

    def broadcast(self, left: Dims | None, right: Dims | None) -> Dims | None:
        if left is None or right is None:
            return None
        if len(left) < len(right):
            left, right = right, left
        padded = (*([ONE] * (len(left) - len(right))), *right)
        result: list[Mono | None] = []
        for a, b in zip(left, padded, strict=True):
            if b == ONE:
                result.append(a)
            elif a == ONE:
                result.append(b)
            else:
                self.equal(a, b)
                result.append(a if a is not None else b)
        if len(left) > 1:
            self.usage.shapes[tuple(result)] = None
        return tuple(result)

    def same_count(self, before: Dims | None, after: Dims | None) -> None:
        """A reshape keeps the number of elements."""
        if before is not None and after is not None and None not in before and None not in after:
            self.equal(_product(before), _product(after))

    def mma_operand(self, value: Value, role: str, what: str) -> None:
        for slot in slots(_term(value)):
            self.usage.use(slot).roles.setdefault(role, f"{what} at {self.where()}")

    def multiply(self, left: Dims | None, right: Dims | None) -> Dims | None:
        """Shape of a matrix product; notes that the inner lengths agree."""
        if left is None or right is None or len(left) < 2 or len(right) < 2:
            return None
        self.equal(left[-1], right[-2])
        batch = self.broadcast(left[:-2], right[:-2])
        return (*batch, left[-2], right[-1]) if batch is not None else None

    def matmul(self, left: Value, right: Value) -> Value:
        self.mma_operand(left, "mma", "an operand of a matrix product")
        self.mma_operand(right, "mma", "an operand of a matrix product")
        shape = self.multiply(_dims(left), _dims(right))
        return Tile(shape, join(_term(left), _term(right)))

    # -- calls -------------------------------------------------------------------------------------------------------

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
        spec = callee.node.args
        parameters = [*spec.posonlyargs, *spec.args]
        env: dict[str, Value] = dict(callee.captured)
        frame = _Frame(runner, callee.path, env, self.depth + 1)
        defaults = dict(zip(reversed([p.arg for p in parameters]), reversed(spec.defaults), strict=False))
        defaults.update({p.arg: d for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None})
        for position, parameter in enumerate([*parameters, *spec.kwonlyargs]):
            name = parameter.arg
            if position < len(arguments) and position < len(parameters):
                env[name] = arguments[position]
            elif name in keywords:
                env[name] = keywords[name]
            elif name in defaults:
                env[name] = frame.value(defaults[name])
            else:
                env[name] = UNKNOWN
        if spec.vararg is not None:
            env[spec.vararg.arg] = Items(tuple(arguments[len(parameters) :]))
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
            handler = _OPERATIONS.get(name)
            if handler is not None:
                return handler(self, _Arguments(arguments, keywords))
            return self.elementwise(name, arguments, keywords)
        if module in ("math", "numpy"):
            if all(isinstance(a, Num) for a in arguments):
                return Num(None, Weak("float"))
            return UNKNOWN
        if module == "builtins":
            return self.builtin_call(name, arguments)
        return UNKNOWN

    def elementwise(self, name: str, arguments: list[Value], keywords: Mapping[str, Value]) -> Value:
        """`ct.add`, `ct.exp`, … and what is not known: shapes broadcast, dtypes join."""
        del keywords
        operands = [self.scalarise(a) for a in arguments if not isinstance(a, (Literal, Function, Dtype))]
        if not operands:
            return UNKNOWN
        dtype = _term(operands[0])
        shape = _dims(operands[0])
        for operand in operands[1:]:
            dtype = join(dtype, _term(operand))
            shape = self.broadcast(shape, _dims(operand))
        if name in _COMPARISONS:
            dtype = BOOL
        elif name in _REAL:
            dtype = floated(dtype)
        if any(isinstance(operand, Tile) for operand in operands):
            return Tile(shape, dtype)
        return Num(None, dtype) if all(isinstance(operand, Num) for operand in operands) else Tile(None, None)

    def method_call(self, method: Method, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        owner = method.owner
        if isinstance(owner, Tile):
            return self.named_call(f"cuda.tile.{method.name}", [owner, *arguments], keywords)
        if isinstance(owner, Ref):
            return self.array_method(owner, method.name, _Arguments(arguments, keywords))
        if isinstance(owner, View):
            return self.view_method(owner, method.name, _Arguments(arguments, keywords))
        return UNKNOWN

    def array_method(self, owner: Ref, name: str, arguments: _Arguments) -> Value:
        slot = owner.slot
        if name == "slice":
            self.array(slot, "sliced")
            self.integral(arguments.get(1, "start"))
            self.integral(arguments.get(2, "stop"))
            axis = arguments.get(0, "axis")
            if isinstance(axis, Num) and axis.size is not None and not axis.size.powers:
                use = self.usage.use(slot)
                use.min_rank = max(use.min_rank, int(axis.size.coefficient) + 1)
            return owner
        if name == "tiled_view":
            shape = self.tile_shape(arguments.get(0, "tile_shape"))
            if shape is not None:
                self.rank(slot, len(shape), f"viewed in tiles of {len(shape)} dimension{'s' * (len(shape) != 1)}")
            else:
                self.array(slot, "viewed in tiles")
            return View(slot, shape)
        if name == "get_raw_memory":
            self.array(slot, "its memory is asked for")
            return View(slot, None)
        if name == "item" or name == "astype":
            dtype = arguments.get(0, "dtype")
            self.scalarise(owner)
            return Num(None, dtype.term if isinstance(dtype, Dtype) else Of(slot))
        return UNKNOWN

    def view_method(self, owner: View, name: str, arguments: _Arguments) -> Value:
        slot = owner.slot
        first = arguments.get(0, "index")
        if name == "num_tiles":
            return Num()
        self.integral(first)
        if name in ("load", "load_offset"):
            shape = owner.shape if name == "load" else _dims(first)
            return Tile(shape, Of(slot))
        if name in ("store", "store_offset"):
            self.stored(slot, arguments.get(1, "tile", "value"))
            return Literal(None)
        if name.startswith("atomic"):
            self.atomic(slot, name, arguments)
            return Tile(_dims(first), Of(slot))
        return UNKNOWN

    def condition(self, value: Value) -> None:
        """What is loaded and taken for a truth value is one."""
        term = _term(value)
        if isinstance(term, Of) and isinstance(value, Tile):
            self.usage.use(term.slot).roles.setdefault("truth", f"its elements are conditions at {self.where()}")

    def stored(self, slot: Slot, value: Value) -> None:
        if isinstance(value, Ref):
            value = self.scalarise(value)
        self.usage.stores.append((slot, _term(value), self.where()))

    def atomic(self, slot: Slot, name: str, arguments: _Arguments) -> None:
        update = arguments.get(2, "update", "desired") if "cas" in name or len(arguments.positional) > 2 else UNKNOWN
        if any(part in name for part in ("cas", "xchg", "and", "or", "xor")):
            self.usage.use(slot).roles.setdefault("lock", f"updated by {name} at {self.where()}")
        elif update is not UNKNOWN:
            self.stored(slot, update)


class _Arguments:
    """Arguments of a call, by position or by name."""

    def __init__(self, positional: list[Value], keywords: dict[str, Value]) -> None:
        self.positional = positional
        self.keywords = keywords

    def get(self, position: int, *names: str) -> Value:
        if position < len(self.positional):
            return self.positional[position]
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return UNKNOWN


# -- the operations of cuda.tile that say more than an elementwise one -------------------------------------------------


def _load(frame: _Frame, a: _Arguments) -> Value:
    array, index = a.get(0, "array"), a.get(1, "index")
    shape = frame.tile_shape(a.get(2, "shape"))
    if not isinstance(array, Ref):
        frame.integral(index)
        return Tile(shape, None)
    frame.indexed(array.slot, index, shape)
    return Tile(shape, Of(array.slot))


def _store(frame: _Frame, a: _Arguments) -> Value:
    array, index, tile = a.get(0, "array"), a.get(1, "index"), a.get(2, "tile")
    if isinstance(array, Ref):
        frame.indexed(array.slot, index, _dims(tile))
        frame.stored(array.slot, tile)
    return Literal(None)


def _gather(frame: _Frame, a: _Arguments) -> Value:
    array, indices = a.get(0, "array"), a.get(1, "indices")
    shape = _index_shape(frame, indices)
    frame.condition(a.keywords.get("mask", UNKNOWN))
    if not isinstance(array, Ref):
        frame.integral(indices)
        return Tile(shape, None)
    frame.indexed(array.slot, indices)
    return Tile(shape, Of(array.slot))


def _scatter(frame: _Frame, a: _Arguments) -> Value:
    array, indices, value = a.get(0, "array"), a.get(1, "indices"), a.get(2, "value", "tile")
    frame.condition(a.keywords.get("mask", UNKNOWN))
    if isinstance(array, Ref):
        frame.indexed(array.slot, indices)
        frame.stored(array.slot, value)
    return Literal(None)


def _atomic(name: str) -> Callable[[_Frame, _Arguments], Value]:
    def handle(frame: _Frame, a: _Arguments) -> Value:
        array, indices = a.get(0, "array"), a.get(1, "indices")
        if not isinstance(array, Ref):
            return UNKNOWN
        frame.indexed(array.slot, indices)
        frame.atomic(array.slot, name, a)
        return Tile(_index_shape(frame, indices), Of(array.slot))

    return handle


def _num_tiles(frame: _Frame, a: _Arguments) -> Value:
    array = a.get(0, "array")
    shape = frame.tile_shape(a.get(2, "shape"))
    if isinstance(array, Ref):
        if shape is not None:
            frame.rank(array.slot, len(shape), f"counted in tiles of {len(shape)} dimensions")
        else:
            frame.array(array.slot, "its tiles are counted")
    return Num()


def _mma(frame: _Frame, a: _Arguments) -> Value:
    left, right, acc = a.get(0, "x"), a.get(1, "y"), a.get(2, "acc")
    frame.mma_operand(left, "mma", "an operand of ct.mma")
    frame.mma_operand(right, "mma", "an operand of ct.mma")
    return _accumulate(frame, _dims(left), _dims(right), acc)


def _mma_scaled(frame: _Frame, a: _Arguments) -> Value:
    left, left_scale, right, right_scale, acc = (
        a.get(i, n) for i, n in enumerate(("x", "x_scale", "y", "y_scale", "acc"))
    )
    for operand in (left, right):
        frame.mma_operand(operand, "scaled", "an operand of ct.mma_scaled")
    for scale in (left_scale, right_scale):
        frame.mma_operand(scale, "scale", "a scale of ct.mma_scaled")
    return _accumulate(frame, _dims(left), _dims(right), acc)


def _accumulate(frame: _Frame, left: Dims | None, right: Dims | None, acc: Value) -> Value:
    shape = frame.multiply(left, right)
    known = _dims(acc) if isinstance(acc, Tile) else None
    if shape is not None and known is not None and len(shape) == len(known):
        for ours, theirs in zip(shape, known, strict=True):
            frame.equal(ours, theirs)
    result = known if known is not None else shape
    if result is not None:
        frame.usage.accumulators[result] = None
    return Tile(result, _term(acc))


def _matmul(frame: _Frame, a: _Arguments) -> Value:
    return frame.matmul(a.get(0, "x"), a.get(1, "y"))


def _filled(frame: _Frame, a: _Arguments) -> Value:
    dtype = a.get(2, "dtype")
    frame.scalarise(a.get(1, "fill_value"))
    return Tile(frame.tile_shape(a.get(0, "shape")), dtype.term if isinstance(dtype, Dtype) else None)


def _constant_tile(frame: _Frame, a: _Arguments) -> Value:
    dtype = a.get(1, "dtype")
    return Tile(frame.tile_shape(a.get(0, "shape")), dtype.term if isinstance(dtype, Dtype) else None)


def _arange(frame: _Frame, a: _Arguments) -> Value:
    dtype = a.get(1, "dtype")
    return Tile(frame.tile_shape(a.get(0, "size")), dtype.term if isinstance(dtype, Dtype) else INT)


def _reshape(frame: _Frame, a: _Arguments) -> Value:
    tile = a.get(0, "x")
    wanted = a.get(1, "shape")
    before, after = _dims(tile), frame.tile_shape(wanted)
    if after is not None and any(size is not None and size.coefficient < 0 for size in after):
        # One length of -1 stands for what is left.
        rest = [size for size in after if size is not None and size.coefficient > 0]
        left = None
        if before is not None and None not in before and len(rest) == len(after) - 1:
            left = _product(before).times(_product(rest), -1)
        after = tuple(left if size is not None and size.coefficient < 0 else size for size in after)
        return Tile(after, _term(tile))
    frame.same_count(before, after)
    return Tile(after, _term(tile))


def _permute(frame: _Frame, a: _Arguments) -> Value:
    del frame
    tile, axes = a.get(0, "x"), a.get(1, "axes")
    shape = _dims(tile)
    order = [_index_of(item) for item in axes.items] if isinstance(axes, Items) else None
    if shape is None or order is None or len(order) != len(shape) or None in order:
        return Tile(None, _term(tile))
    return Tile(tuple(shape[axis] for axis in order), _term(tile))


def _transpose(frame: _Frame, a: _Arguments) -> Value:
    del frame
    tile = a.get(0, "x")
    shape = _dims(tile)
    if shape is None or len(shape) < 2:
        return Tile(None, _term(tile))
    first, second = a.get(1, "axis0"), a.get(2, "axis1")
    i = _index_of(first) if isinstance(first, Num) else 0
    j = _index_of(second) if isinstance(second, Num) else 1
    if i is None or j is None or not (-len(shape) <= i < len(shape) and -len(shape) <= j < len(shape)):
        return Tile(None, _term(tile))
    swapped = list(shape)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return Tile(tuple(swapped), _term(tile))


def _expand_dims(frame: _Frame, a: _Arguments) -> Value:
    del frame
    tile, axis = a.get(0, "x"), _index_of(a.get(1, "axis"))
    shape = _dims(tile)
    if shape is None or axis is None or not -len(shape) - 1 <= axis <= len(shape):
        return Tile(None, _term(tile))
    at = axis if axis >= 0 else len(shape) + 1 + axis
    return Tile((*shape[:at], ONE, *shape[at:]), _term(tile))


def _broadcast_to(frame: _Frame, a: _Arguments) -> Value:
    return Tile(frame.tile_shape(a.get(1, "shape")), _term(a.get(0, "x")))


def _cat(frame: _Frame, a: _Arguments) -> Value:
    tiles, axis = a.get(0, "tiles"), _index_of(a.get(1, "axis"))
    if not isinstance(tiles, Items) or not tiles.items:
        return UNKNOWN
    dtype, shape = _term(tiles.items[0]), _dims(tiles.items[0])
    for tile in tiles.items[1:]:
        dtype = join(dtype, _term(tile))
    if shape is None or axis is None or not -len(shape) <= axis < len(shape) or shape[axis] is None:
        return Tile(None, dtype)
    whole = list(shape)
    whole[axis] = shape[axis].times(number(len(tiles.items)))
    del frame
    return Tile(tuple(whole), dtype)


def _extract(frame: _Frame, a: _Arguments) -> Value:
    frame.integral(a.get(1, "index"))
    return Tile(frame.tile_shape(a.get(2, "shape")), _term(a.get(0, "x")))


def _insert(frame: _Frame, a: _Arguments) -> Value:
    frame.integral(a.get(1, "index"))
    return a.get(0, "x")


def _cast(frame: _Frame, a: _Arguments) -> Value:
    value, dtype = frame.scalarise(a.get(0, "x", "value")), a.get(1, "dtype")
    if isinstance(dtype, Num) and dtype.size is not None:
        for name in dtype.size.names:
            frame.usage.use(Slot(name)).is_dtype = True
    elif isinstance(dtype, Ref):
        frame.usage.use(dtype.slot).is_dtype = True
    term = dtype.term if isinstance(dtype, Dtype) else None
    if isinstance(value, Num):
        return Num(value.size, term)
    return Tile(_dims(value), term)


def _repack(frame: _Frame, a: _Arguments) -> Value:
    del frame
    dtype = a.get(1, "dtype")
    return Tile(None, dtype.term if isinstance(dtype, Dtype) else Fixed("u8"))


def _reduce(frame: _Frame, a: _Arguments) -> Value:
    tile, axis, keep = a.get(0, "x"), a.get(1, "axis"), a.keywords.get("keepdims")
    del frame
    return Tile(_reduced(_dims(tile), axis, keep), _term(tile))


def _argreduce(frame: _Frame, a: _Arguments) -> Value:
    reduced = _reduce(frame, a)
    return Tile(_dims(reduced), INT)


def _scan(frame: _Frame, a: _Arguments) -> Value:
    del frame
    return a.get(0, "x")


def _where(frame: _Frame, a: _Arguments) -> Value:
    condition, left, right = (frame.scalarise(a.get(i, n)) for i, n in enumerate(("cond", "x", "y")))
    frame.condition(condition)
    shape = frame.broadcast(frame.broadcast(_dims(condition), _dims(left)), _dims(right))
    return Tile(shape, join(_term(left), _term(right)))


def _assert(frame: _Frame, a: _Arguments) -> Value:
    frame.condition(a.get(0, "cond"))
    return Literal(None)


def _count(frame: _Frame, a: _Arguments) -> Value:
    del a
    del frame
    return Num()


def _cdiv(frame: _Frame, a: _Arguments) -> Value:
    return frame.binary(ast.FloorDiv(), a.get(0, "x"), a.get(1, "y"))


def _same(frame: _Frame, a: _Arguments) -> Value:
    value = a.get(0, "x", "value", "expr", "iterable")
    return frame.scalarise(value) if isinstance(value, Ref) else value


_OPERATIONS: dict[str, Callable[[_Frame, _Arguments], Value]] = {
    "load": _load,
    "store": _store,
    "gather": _gather,
    "scatter": _scatter,
    "load_advanced_indexing": _gather,
    "store_advanced_indexing": _scatter,
    "num_tiles": _num_tiles,
    "mma": _mma,
    "mma_scaled": _mma_scaled,
    "matmul": _matmul,
    "full": _filled,
    "zeros": _constant_tile,
    "ones": _constant_tile,
    "arange": _arange,
    "reshape": _reshape,
    "permute": _permute,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "broadcast_to": _broadcast_to,
    "cat": _cat,
    "extract": _extract,
    "insert": _insert,
    "astype": _cast,
    "astile": _cast,
    "bitcast": _cast,
    "pack_to_bytes": _repack,
    "unpack_from_bytes": _repack,
    "sum": _reduce,
    "max": _reduce,
    "min": _reduce,
    "prod": _reduce,
    "reduce": _reduce,
    "argmax": _argreduce,
    "argmin": _argreduce,
    "cumsum": _scan,
    "cumprod": _scan,
    "scan": _scan,
    "where": _where,
    "assert_": _assert,
    "bid": _count,
    "num_blocks": _count,
    "cdiv": _cdiv,
    "static_eval": _same,
    "static_iter": _same,
    "ensure_constant": _same,
    "assume_divisible_by": _same,
    **{
        f"atomic_{name}": _atomic(f"atomic_{name}") for name in ("cas", "xchg", "add", "max", "min", "and", "or", "xor")
    },
}

_COMPARISONS = frozenset({"greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isnan"})
_REAL = frozenset(
    {"truediv", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan2"}
)


# -- helpers -----------------------------------------------------------------------------------------------------------


def _named(dotted: str) -> Value:
    """What a dotted name of a module outside the workspace stands for."""
    module, _, name = dotted.rpartition(".")
    if module in ("cuda.tile", "torch", "numpy", "cupy", "jax.numpy"):
        dtype = canonical(name)
        if dtype is not None and name not in ("int", "float", "bool", "half", "double", "long", "short", "single"):
            return Dtype(Fixed(dtype))
        if name in ("inf", "nan", "pi", "e"):
            return Num(None, Weak("float"))
    if module == "math" and name in ("inf", "nan", "pi", "e", "tau"):
        return Num(None, Weak("float"))
    return Named(dotted)


def _literal(value: object) -> Value:
    if isinstance(value, bool):
        return Num(None, Weak("bool"))
    if isinstance(value, int):
        return Num(number(value), Weak("int"))
    if isinstance(value, float):
        return Num(None, Weak("float"))
    if isinstance(value, (tuple, list)):
        return Items(tuple(map(_literal, value)))
    return Literal(value)


def _knowledge(value: Value) -> int:
    """How much a value says, to choose between branches."""
    match value:
        case Tile(shape=shape, dtype=dtype):
            return 2 + (shape is not None) + (dtype is not None)
        case Num(size=size):
            return 1 + (size is not None)
        case Literal() | Items() | Dtype() | Ref() | View() | Shape() | Named() | Function():
            return 2
        case _:
            return 0


def _term(value: Value | None) -> Term:
    return value.dtype if isinstance(value, (Tile, Num)) else None


def _dims(value: Value) -> Dims | None:
    if isinstance(value, Tile):
        return value.shape
    return () if isinstance(value, Num) else None


def _is_float(term: Term) -> bool:
    match term:
        case Fixed(dtype=dtype):
            return dtype[0] in "fbt" and dtype != "bool"
        case Weak(kind=kind):
            return kind == "float"
        case Mix(leaves=leaves, floated=real):
            return real or any(map(_is_float, leaves))
        case _:
            return False


def _has_tile(values: Iterable[Value]) -> bool:
    return any(isinstance(value, Tile) for value in values)


def _product(sizes: Iterable[Mono | None]) -> Mono:
    result = ONE
    for size in sizes:
        if size is not None:
            result = result.times(size)
    return result


def _arithmetic(op: ast.operator, left: Mono, right: Mono) -> Mono | None:
    if isinstance(op, ast.Mult):
        return left.times(right) if right.coefficient and left.coefficient else number(0)
    if isinstance(op, (ast.FloorDiv, ast.Div)):
        return left.times(right, -1) if right.coefficient else None
    if not left.powers and not right.powers:
        if isinstance(op, ast.Add):
            return Mono(left.coefficient + right.coefficient)
        if isinstance(op, ast.Sub):
            return Mono(left.coefficient - right.coefficient)
        if isinstance(op, ast.Pow) and abs(right.coefficient) <= 64 and left.coefficient:
            return Mono(Fraction(left.coefficient ** int(right.coefficient)))
    return None


def _position(index: ast.expr) -> int | None:
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        inner = _position(index.operand)
        return -inner if inner is not None else None
    return index.value if isinstance(index, ast.Constant) and type(index.value) is int else None


def _index_of(value: Value) -> int | None:
    if isinstance(value, Num) and value.size is not None and not value.size.powers:
        return int(value.size.coefficient)
    return None


def _index_shape(frame: _Frame, indices: Value) -> Dims | None:
    if isinstance(indices, Items):
        shape: Dims | None = ()
        for item in indices.items:
            shape = frame.broadcast(shape, () if isinstance(item, Ref) else _dims(item))
        return shape
    return () if isinstance(indices, Ref) else _dims(indices)


def _reduced(shape: Dims | None, axis: Value, keep: Value | None) -> Dims | None:
    if shape is None:
        return None
    kept = keep is not None
    if isinstance(axis, Num):
        at = _index_of(axis)
        if at is None or not -len(shape) <= at < len(shape):
            return None
        at %= len(shape)
        return (*shape[:at], *((ONE,) if kept else ()), *shape[at + 1 :])
    if isinstance(axis, Items):
        axes = {_index_of(item) for item in axis.items}
        if None in axes:
            return None
        reduced = {at % len(shape) for at in axes} if shape else set()
        return tuple(ONE if i in reduced else size for i, size in enumerate(shape) if kept or i not in reduced)
    return tuple([ONE] * len(shape)) if kept else ()
