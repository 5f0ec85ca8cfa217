"""What host code knows, without running it, of the arrays and numbers that it launches kernels with.

An abstract run of a file: its top level with the `__main__` block, then each function that launches and was not
reached. Arrays are dtypes and lengths, numbers are numbers, the rest is unknown. Bounded in steps and depth; it never
raises.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from .dtypes import DTYPES, canonical
from .names import Names, chain, statements

_MAX_STEPS = 10_000
_MAX_DEPTH = 6
_LIBRARIES = ("torch", "numpy", "cupy", "jax.numpy")


class Array(msgspec.Struct, frozen=True):
    """An array, as far as it is known. A length that is None is not."""

    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    strides: tuple[int, ...] | None = None
    """None: contiguous, or not known."""


class Number(msgspec.Struct, frozen=True):
    """A Python value that is known: a number, a text, None."""

    value: int | float | bool | str | None


class DtypeValue(msgspec.Struct, frozen=True):
    dtype: str


class Sequence_(msgspec.Struct, frozen=True):
    items: tuple[HostValue, ...]
    is_list: bool = False


class Many(msgspec.Struct, frozen=True):
    """A list of some length."""

    item: HostValue


class Callee(msgspec.Struct, frozen=True, eq=False):
    """A function of the workspace; a kernel is one too. `lambda`s and classes are unknown."""

    node: ast.FunctionDef
    path: str
    captured: Mapping[str, HostValue] = {}


class External(msgspec.Struct, frozen=True):
    dotted: str


class Choice(msgspec.Struct, frozen=True):
    """One of several functions."""

    options: tuple[HostValue, ...]


class Bound(msgspec.Struct, frozen=True):
    owner: HostValue
    name: str


class Nothing(msgspec.Struct, frozen=True):
    pass


HostValue = Array | Number | DtypeValue | Sequence_ | Many | Callee | External | Choice | Bound | Nothing

NOTHING = Nothing()


class Launch(msgspec.Struct, frozen=True):
    """One call of `ct.launch` as it was reached."""

    kernel: Callee
    arguments: tuple[HostValue, ...]
    path: str
    line: int


def find_launches(path: str, names: Names) -> tuple[Launch, ...]:
    """The launches in a file, those reached from its top level first."""
    tree = names.tree(path)
    if tree is None or "launch" not in names.text(path):
        return ()
    return run_file(path, tree, names, Frame, lambda function: any("launch" in other for other in _called(function)))


def run_file(
    path: str, tree: ast.Module, names: Names, frame: type[Frame], launches: Callable[[ast.FunctionDef], bool]
) -> tuple[Launch, ...]:
    """The file's top level, then each function that launches (as `launches` says) and was not reached."""
    run = Run(names, path)
    run.attempt(lambda: frame(run, path, run.top, 0).block(tree.body))
    for function in _launching(tree, launches):
        if function not in run.reached:
            run.attempt(lambda function=function: frame(run, path, {}, 0).call_function(Callee(function, path), [], {}))
    return tuple(run.launches)


def _launching(tree: ast.Module, launches: Callable[[ast.FunctionDef], bool]) -> list[ast.FunctionDef]:
    """Functions of module level that launch, themselves or through others; callers before what they call."""
    functions = {node.name: node for node in statements(tree.body) if isinstance(node, ast.FunctionDef)}
    called = {name: _called(node) for name, node in functions.items()}
    launching = {name for name, node in functions.items() if launches(node)}
    while True:
        more = {name for name, names in called.items() if name not in launching and names & launching}
        if not more:
            break
        launching |= more
    inner = set().union(*(called[name] - {name} for name in launching))
    return [functions[name] for name in sorted(launching, key=lambda name: (name in inner, functions[name].lineno))]


def _called(function: ast.FunctionDef) -> set[str]:
    """Last names of what is called in a function."""
    names = (chain(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
    return {found[-1] for found in names if found is not None}


class _EndError(Exception):
    """Out of steps."""


class Run:
    """One abstract run of a file, and the launches that it came to."""

    def __init__(self, names: Names, path: str) -> None:
        self.names = names
        self.path = path
        self.launches: list[Launch] = []
        self.outer: dict[tuple[str, tuple[str, ...]], HostValue] = {}
        self.top: dict[str, HostValue] = {}
        """What the file's top level has bound."""
        self.reached: set[ast.AST] = set()
        self.active: list[ast.AST] = []
        self.steps = 0

    def attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except (_EndError, RecursionError):
            self.active.clear()


class Frame:
    """One block of names, run. Front ends that launch in another way override `subscript` and `call`."""

    def __init__(self, run: Run, path: str, env: dict[str, HostValue], depth: int) -> None:
        self.run = run
        self.path = path
        self.env = env
        self.depth = depth
        self.ended = False
        self.returned: list[HostValue] = []

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if self.ended:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        self.tick()
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value)
                for target in targets:
                    self.bind(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self.bind(target, _arithmetic(op, self.lookup(name), self.value(value)))
            case ast.Expr(value=value):
                self.value(value)
            case ast.Return(value=value):
                self.returned.append(self.value(value) if value is not None else Number(None))
                self.ended = True
            case ast.Raise() | ast.Continue() | ast.Break():
                self.ended = True
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(_truth(self.value(test), test), body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.bind(target, _first(self.value(iterable)))
                self.inner(body)
                self.block(orelse)
            case ast.While(body=body):
                self.inner(body)
            case ast.With(items=items, body=body):
                for item in items:
                    result = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, result)
                self.block(body)
            case ast.Try(body=body, orelse=orelse, finalbody=final):
                self.block([*body, *orelse, *final])
            case ast.FunctionDef(name=name):
                self.env[name] = Callee(node, self.path, dict(self.env) if self.depth else {})
            case _:
                pass

    def inner(self, body: Sequence[ast.stmt]) -> None:
        """The body of a loop, once; what ends it does not end the function."""
        self.block(body)
        if not self.returned:
            self.ended = False

    def branch(self, truth: bool | None, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        if truth is not None:
            self.block(body if truth else orelse)
            return
        before = dict(self.env)
        outcomes: list[dict[str, HostValue]] = []
        for part in (body, orelse):
            self.ended = False
            self.block(part)
            if not self.ended:
                outcomes.append(dict(self.env))
            self.rebind(before)
        self.ended = not outcomes
        if outcomes:
            names = dict.fromkeys(name for outcome in outcomes for name in outcome)
            self.rebind({name: _either([outcome.get(name, NOTHING) for outcome in outcomes]) for name in names})

    def rebind(self, env: Mapping[str, HostValue]) -> None:
        """In place: the top level's names are seen by the functions that it calls."""
        self.env.clear()
        self.env.update(env)

    def bind(self, target: ast.expr, value: HostValue) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = _items(value, len(target.elts))
            for element, item in zip(target.elts, items, strict=True):
                self.bind(element, item)

    def tick(self) -> None:
        self.run.steps += 1
        if self.run.steps > _MAX_STEPS:
            raise _EndError

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> HostValue:
        self.tick()
        match node:
            case ast.Constant(value=value):
                return Number(value) if isinstance(value, (int, float, str)) or value is None else NOTHING
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Attribute(value=owner, attr=attr):
                return self.attribute(node, owner, attr)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return self.sequence(elements, isinstance(node, ast.List))
            case ast.Call():
                return self.call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return _arithmetic(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return _unary(op, self.value(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _compare(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                return _boolean(op, [self.value(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = _truth(self.value(test), test)
                if truth is not None:
                    return self.value(body if truth else orelse)
                return _either([self.value(body), self.value(orelse)])
            case ast.Subscript(value=owner, slice=index):
                return self.subscript(self.value(owner), index)
            case (
                ast.ListComp(elt=element, generators=[generator])
                | ast.GeneratorExp(elt=element, generators=[generator])
            ):
                self.bind(generator.target, _first(self.value(generator.iter)))
                return Many(self.value(element))
            case ast.NamedExpr(target=target, value=value):
                result = self.value(value)
                self.bind(target, result)
                return result
            case _:
                return NOTHING

    def sequence(self, elements: Sequence[ast.expr], is_list: bool) -> HostValue:
        items: list[HostValue] = []
        for element in elements:
            if isinstance(element, ast.Starred):
                value = self.value(element.value)
                if not isinstance(value, Sequence_):
                    return NOTHING
                items.extend(value.items)
            else:
                items.append(self.value(element))
        return Sequence_(tuple(items), is_list)

    def lookup(self, name: str) -> HostValue:
        value = self.env.get(name)
        if value is not None:
            return value
        found = self.outer(ast.Name(name, ast.Load()))
        if isinstance(found, Nothing) and self.path == self.run.path:
            return self.run.top.get(name, NOTHING)
        return found

    def outer(self, node: ast.expr) -> HostValue:
        """What a name of module level, or of another module, stands for."""
        key = (self.path, chain(node) or ())
        known = self.run.outer.get(key)
        if known is None:
            known = self.run.outer[key] = self.find_outer(node)
        return known

    def find_outer(self, node: ast.expr) -> HostValue:
        names = self.run.names
        found = names.function(node, self.path)
        if found is not None:
            return Callee(found[0], found[1]) if isinstance(found[0], ast.FunctionDef) else NOTHING
        dotted = names.dotted(node, self.path)
        if dotted is not None:
            return _external(dotted)
        known = names.constant(node, self.path)
        return _known(known.value) if known is not None else NOTHING

    def attribute(self, node: ast.expr, owner: ast.expr, attr: str) -> HostValue:
        names = chain(node)
        if names is not None and names[0] not in self.env:
            found = self.outer(node)
            if not isinstance(found, Nothing):
                return found
        value = self.value(owner)
        if isinstance(value, External):
            return _external(f"{value.dotted}.{attr}")
        if isinstance(value, Array):
            return _array_attribute(value, attr)
        if isinstance(value, DtypeValue) and attr == "itemsize":
            return Number(_itemsize(value.dtype))
        return Bound(value, attr) if not isinstance(value, Nothing) else NOTHING

    def subscript(self, owner: HostValue, index: ast.expr) -> HostValue:
        if isinstance(owner, Sequence_) and isinstance(index, ast.Slice):
            bounds = [self.value(bound) if bound is not None else Number(None) for bound in (index.lower, index.upper)]
            if all(isinstance(bound, Number) for bound in bounds) and index.step is None:
                return Sequence_(owner.items[slice(*(bound.value for bound in bounds))])  # type: ignore[union-attr]
            return NOTHING
        position = self.value(index)
        if isinstance(owner, Sequence_) and isinstance(position, Number) and type(position.value) is int:
            at = position.value
            return owner.items[at] if -len(owner.items) <= at < len(owner.items) else NOTHING
        if isinstance(owner, Many):
            return owner.item
        if isinstance(owner, Array) and isinstance(position, Number) and type(position.value) is int:
            return Array(owner.dtype, owner.dims[1:] if owner.dims else None)
        return NOTHING

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> HostValue:
        callee = self.value(node.func)
        arguments: list[HostValue] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.value(argument.value)
                arguments.extend(value.items if isinstance(value, Sequence_) else [NOTHING])
            else:
                arguments.append(self.value(argument))
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        match callee:
            case External(dotted="cuda.tile.launch"):
                self.launch(arguments, keywords, node.lineno)
                return NOTHING
            case External(dotted="cuda.tile.kernel"):
                # `k = ct.kernel(f)` and `k = ct.kernel(occupancy=2)(f)`.
                return arguments[0] if arguments else callee
            case External(dotted=dotted):
                return _external_call(dotted, arguments, keywords)
            case Callee():
                return self.call_function(callee, arguments, keywords)
            case Choice(options=options):
                return _either([self.call_function(o, arguments, keywords) for o in options if isinstance(o, Callee)])
            case Bound(owner=Array() as owner, name=name):
                return _array_method(owner, name, arguments, keywords)
            case Bound(owner=(Callee() | Choice()) as owner):
                # `kernel.with_hints(…)` and the like give the same kernel.
                return owner
            case _:
                return NOTHING

    def launch(self, arguments: list[HostValue], keywords: Mapping[str, HostValue], line: int) -> None:
        kernel = arguments[2] if len(arguments) > 2 else keywords.get("kernel", NOTHING)
        passed = arguments[3] if len(arguments) > 3 else keywords.get("kernel_args", keywords.get("args", NOTHING))
        if not isinstance(passed, Sequence_):
            return
        for option in kernel.options if isinstance(kernel, Choice) else (kernel,):
            if isinstance(option, Callee):
                self.run.launches.append(Launch(option, passed.items, self.path, line))

    def call_function(
        self, callee: Callee, arguments: Sequence[HostValue], keywords: Mapping[str, HostValue]
    ) -> HostValue:
        run, node = self.run, callee.node
        if self.depth >= _MAX_DEPTH or node in run.active:
            return NOTHING
        run.reached.add(node)
        frame = type(self)(run, callee.path, dict(callee.captured), self.depth + 1)
        parameters = [*node.args.posonlyargs, *node.args.args]
        defaults: dict[str, ast.expr] = {}
        for parameter, default in zip(reversed(parameters), reversed(node.args.defaults), strict=False):
            defaults[parameter.arg] = default
        for parameter, keyword_default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if keyword_default is not None:
                defaults[parameter.arg] = keyword_default
        for position, parameter in enumerate([*parameters, *node.args.kwonlyargs]):
            name = parameter.arg
            if position < min(len(arguments), len(parameters)):
                frame.env[name] = arguments[position]
            elif name in keywords:
                frame.env[name] = keywords[name]
            elif name in defaults:
                frame.env[name] = frame.value(defaults[name])
            else:
                frame.env[name] = NOTHING
        run.active.append(node)
        try:
            frame.block(node.body)
        finally:
            if run.active and run.active[-1] is node:
                run.active.pop()
        return _either(frame.returned) if frame.returned else Number(None)


# -- values ------------------------------------------------------------------------------------------------------------


def _known(value: object) -> HostValue:
    if isinstance(value, tuple):
        return Sequence_(tuple(map(_known, value)))
    return Number(value) if isinstance(value, (int, float, str)) or value is None else NOTHING


def _either(values: Sequence[HostValue]) -> HostValue:
    """What is known when it is one of these."""
    distinct = list(dict.fromkeys(value for value in values if not isinstance(value, Callee)))
    functions = [value for value in values if isinstance(value, Callee)]
    if functions and not distinct:
        unique = {(f.path, f.node.lineno): f for f in functions}
        return functions[0] if len(unique) == 1 else Choice(tuple(unique.values()))
    if functions:
        return NOTHING
    if len(distinct) == 1:
        return distinct[0]
    arrays = [value for value in distinct if isinstance(value, Array)]
    if arrays and len(arrays) == len(distinct):
        first = arrays[0]
        dtype = first.dtype if all(a.dtype == first.dtype for a in arrays) else None
        same_rank = (
            all((a.dims is None) == (first.dims is None) for a in arrays)
            and len({len(a.dims or ()) for a in arrays}) == 1
        )
        if not same_rank or first.dims is None:
            return Array(dtype)
        columns = zip(*(a.dims or () for a in arrays), strict=True)
        return Array(dtype, tuple(c[0] if len(set(c)) == 1 else None for c in columns))
    return NOTHING


def _first(value: HostValue) -> HostValue:
    if isinstance(value, Sequence_) and value.items:
        return value.items[0]
    return value.item if isinstance(value, Many) else NOTHING


def _items(value: HostValue, count: int) -> list[HostValue]:
    if isinstance(value, Sequence_) and len(value.items) == count:
        return list(value.items)
    if isinstance(value, Array) and value.dims:
        return [Array(value.dtype, value.dims[1:])] * count
    return [value.item if isinstance(value, Many) else NOTHING] * count


def _external(dotted: str) -> HostValue:
    module, _, name = dotted.rpartition(".")
    if module in (*_LIBRARIES, "cuda.tile"):
        dtype = canonical(name)
        if dtype is not None and name not in ("bool", "short"):
            return DtypeValue(dtype)
        if name == "bool" and module == "torch":
            return DtypeValue("bool")
    if dotted in ("math.pi", "math.e", "math.inf", "math.tau"):
        return Number(getattr(math, name))
    return External(dotted)


def _truth(value: HostValue, test: ast.expr) -> bool | None:
    if isinstance(test, ast.Compare) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test)):
        # Launches stand in the main block more often than not.
        return True
    return bool(value.value) if isinstance(value, Number) else None


_BINARY: dict[type[ast.operator], Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE: dict[type[ast.cmpop], Callable[[object, object], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_LARGEST = 1 << 62


def _arithmetic(op: ast.operator, left: HostValue, right: HostValue) -> HostValue:
    if isinstance(left, Sequence_) and isinstance(right, Sequence_) and isinstance(op, ast.Add):
        return Sequence_((*left.items, *right.items))
    if isinstance(left, Array) or isinstance(right, Array):
        return _combined(left, right)
    if not (isinstance(left, Number) and isinstance(right, Number)):
        return NOTHING
    a, b = left.value, right.value
    if isinstance(op, ast.Pow):
        if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(b) <= 64 and abs(a) <= _LARGEST:
            return _checked(lambda: a**b)
        return NOTHING
    function = _BINARY.get(type(op))
    if function is None or not all(isinstance(v, (int, float)) and abs(v) <= _LARGEST for v in (a, b)):
        return NOTHING
    if isinstance(op, ast.LShift) and not (type(b) is int and 0 <= b <= 64):
        return NOTHING
    return _checked(lambda: function(a, b))


def _checked(compute: Callable[[], object]) -> HostValue:
    try:
        return _known(compute())
    except (ArithmeticError, ValueError, TypeError):
        return NOTHING


def _combined(left: HostValue, right: HostValue) -> HostValue:
    """Arithmetic of arrays: what a number does not change."""
    arrays = [value for value in (left, right) if isinstance(value, Array)]
    if len(arrays) == 1:
        other = right if arrays[0] is left else left
        return Array(arrays[0].dtype, arrays[0].dims) if isinstance(other, Number) else Array(None, arrays[0].dims)
    same = arrays[0].dims == arrays[1].dims
    dtype = arrays[0].dtype if arrays[0].dtype == arrays[1].dtype else None
    return Array(dtype, arrays[0].dims if same else None)


def _unary(op: ast.unaryop, operand: HostValue) -> HostValue:
    if isinstance(operand, Array):
        return Array(operand.dtype, operand.dims)
    if not isinstance(operand, Number):
        return NOTHING
    value = operand.value
    if isinstance(op, ast.Not):
        return Number(not value)
    return Number(-value) if isinstance(op, ast.USub) and isinstance(value, (int, float)) else operand


def _compare(op: ast.cmpop, left: HostValue, right: HostValue) -> HostValue:
    function = _COMPARE.get(type(op))
    if function is not None and isinstance(left, Number) and isinstance(right, Number):
        return _checked(lambda: bool(function(left.value, right.value)))
    if isinstance(left, DtypeValue) and isinstance(right, DtypeValue) and function is not None:
        equal = left.dtype == right.dtype
        return Number(equal if isinstance(op, (ast.Eq, ast.Is)) else not equal)
    if isinstance(op, (ast.Is, ast.IsNot)) and right == Number(None) and isinstance(left, (Array, Callee, Sequence_)):
        return Number(isinstance(op, ast.IsNot))
    return NOTHING


def _boolean(op: ast.boolop, values: list[HostValue]) -> HostValue:
    stop = isinstance(op, ast.Or)
    for value in values[:-1]:
        if not isinstance(value, Number):
            return NOTHING
        if bool(value.value) is stop:
            return value
    return values[-1]


# -- arrays ------------------------------------------------------------------------------------------------------------

#: Constructors by the position of the shape; None where each positional argument may be a length.
_SHAPED = {"empty": 0, "zeros": 0, "ones": 0, "rand": None, "randn": None, "full": 0}
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"})
_SAME = frozenset(
    {"contiguous", "cuda", "clone", "detach", "requires_grad_", "cpu", "copy", "abs", "sqrt", "exp", "relu", "clamp"}
    | {"normal_", "uniform_", "fill_", "zero_", "pin_memory", "to_device", "sigmoid", "copy_", "random_"}
)


def _external_call(dotted: str, arguments: list[HostValue], keywords: Mapping[str, HostValue]) -> HostValue:
    module, _, name = dotted.rpartition(".")
    if module == "math" or module == "builtins":
        return _number_call(name, arguments)
    if dotted == "cuda.tile.cdiv" and len(arguments) == 2:
        return _arithmetic(ast.FloorDiv(), _arithmetic(ast.Add(), arguments[0], _less_one(arguments[1])), arguments[1])
    root = next((library for library in _LIBRARIES if module == library or module.startswith(library + ".")), None)
    if root is None:
        return NOTHING
    dtype = _dtype(keywords.get("dtype"))
    default = "f64" if root in ("numpy", "cupy") else "f32"
    if name in _LIKE and arguments and isinstance(arguments[0], Array):
        return Array(dtype or arguments[0].dtype, arguments[0].dims)
    if name in _SHAPED:
        shape = keywords.get("size", keywords.get("shape", arguments[0] if arguments else NOTHING))
        if (isinstance(shape, Number) and _SHAPED[name] is None) or (
            len(arguments) > 1 and name in ("empty", "zeros", "ones")
        ):
            lengths = [a for a in arguments if isinstance(a, (Number, Nothing))]
            shape = Sequence_(tuple(lengths))
        given = "dtype" in keywords
        if not given and root in ("numpy", "cupy") and len(arguments) > 1 and isinstance(arguments[1], DtypeValue):
            dtype, given = arguments[1].dtype, True
        return Array(dtype if given else default, _shape(shape))
    if name == "randint":
        shape = keywords.get(
            "size", arguments[2] if len(arguments) > 2 else arguments[1] if len(arguments) > 1 else NOTHING
        )
        return Array(dtype or "i64", _shape(shape))
    if name == "arange":
        count = arguments[0] if len(arguments) == 1 else NOTHING
        return Array(dtype or "i64", _shape(count) or (None,))
    if name in ("tensor", "array", "asarray", "as_tensor"):
        return _from_values(arguments, dtype, default)
    if name in ("float", "half", "double"):
        return NOTHING
    if name in ("matmul", "mm", "bmm") and len(arguments) == 2:
        return _product(arguments[0], arguments[1])
    if name in _SAME and arguments and isinstance(arguments[0], Array):
        return Array(arguments[0].dtype, arguments[0].dims)
    return NOTHING


def _number_call(name: str, arguments: list[HostValue]) -> HostValue:
    if name == "len" and arguments:
        owner = arguments[0]
        if isinstance(owner, Sequence_):
            return Number(len(owner.items))
        if isinstance(owner, Array) and owner.dims:
            return _length(owner.dims[0])
        return NOTHING
    if name in ("tuple", "list") and arguments and isinstance(arguments[0], (Sequence_, Many)):
        return arguments[0]
    if name == "range":
        start = arguments[0] if len(arguments) > 1 else Number(0)
        return Many(start)
    values = [argument.value for argument in arguments if isinstance(argument, Number)]
    if len(values) != len(arguments) or not values:
        return NOTHING
    functions: dict[str, Callable[..., object]] = {
        "min": min,
        "max": max,
        "int": int,
        "float": float,
        "bool": bool,
        "abs": abs,
        "round": round,
        **{f: getattr(math, f) for f in ("ceil", "floor", "sqrt", "log2", "log", "exp", "prod", "gcd", "isqrt")},
    }
    function = functions.get(name)
    if function is None:
        return NOTHING
    return _checked(lambda: function(*values))


def _array_attribute(array: Array, attr: str) -> HostValue:
    match attr:
        case "shape":
            return Sequence_(tuple(map(_length, array.dims))) if array.dims is not None else NOTHING
        case "dtype":
            return DtypeValue(array.dtype) if array.dtype is not None else NOTHING
        case "ndim":
            return Number(len(array.dims)) if array.dims is not None else NOTHING
        case "is_cuda":
            return Number(True)
        case "T" | "mT":
            return _transposed(array, -1, -2)
        case "data" | "grad":
            return Array(array.dtype, array.dims)
        case "device":
            return External("device")
        case _:
            return Bound(array, attr)


def _array_method(array: Array, name: str, arguments: list[HostValue], keywords: Mapping[str, HostValue]) -> HostValue:
    if name in _SAME:
        return Array(array.dtype, array.dims)
    if name in ("dim", "ndimension"):
        return Number(len(array.dims)) if array.dims is not None else NOTHING
    if name == "is_contiguous":
        return Number(array.strides is None)
    if name in ("numel", "nelement"):
        known = array.dims is not None and None not in array.dims
        return Number(math.prod(d for d in array.dims or () if d is not None)) if known else NOTHING
    if name == "size":
        shape = _array_attribute(array, "shape")
        if not arguments:
            return shape
        at = arguments[0]
        if isinstance(shape, Sequence_) and isinstance(at, Number) and type(at.value) is int:
            return shape.items[at.value] if -len(shape.items) <= at.value < len(shape.items) else NOTHING
        return NOTHING
    casts = {
        "half": "f16",
        "float": "f32",
        "double": "f64",
        "bfloat16": "bf16",
        "int": "i32",
        "long": "i64",
        "bool": "bool",
    }
    if name in casts:
        return Array(casts[name], array.dims, array.strides)
    if name in ("to", "type", "astype"):
        dtype = next((d for d in map(_dtype, [*arguments, *keywords.values()]) if d is not None), None)
        return Array(dtype or array.dtype, array.dims, array.strides)
    if name in ("view", "reshape"):
        wanted = (
            arguments[0]
            if len(arguments) == 1 and not isinstance(arguments[0], Number)
            else Sequence_(tuple(arguments))
        )
        if isinstance(arguments[0] if arguments else None, DtypeValue):
            return Array(_dtype(arguments[0]), array.dims)
        return Array(array.dtype, _reshaped(array.dims, _shape(wanted)))
    if name in ("t", "transpose", "swapaxes"):
        axes = [a.value for a in arguments if isinstance(a, Number) and type(a.value) is int]
        if name == "t":
            axes = [0, 1]
        return _transposed(array, *axes) if len(axes) == 2 else Array(array.dtype)
    if name == "permute":
        return Array(array.dtype, (None,) * len(array.dims) if array.dims is not None else None)
    if name == "flatten":
        return Array(array.dtype, _reshaped(array.dims, (-1,)))
    if name == "unsqueeze" and array.dims is not None and arguments and isinstance(arguments[0], Number):
        return Array(array.dtype, (None,) * (len(array.dims) + 1))
    if name in ("sum", "mean", "max", "min", "chunk", "split", "item"):
        return NOTHING
    return NOTHING


def _from_values(arguments: list[HostValue], dtype: str | None, default: str) -> HostValue:
    if not arguments:
        return NOTHING
    if isinstance(arguments[0], Array):
        return Array(dtype or arguments[0].dtype, arguments[0].dims)
    dims: list[int | None] = []
    value = arguments[0]
    while isinstance(value, Sequence_):
        dims.append(len(value.items))
        value = value.items[0] if value.items else NOTHING
    if isinstance(value, Many):
        return Array(dtype)
    kind = type(value.value) if isinstance(value, Number) else None
    guess = {bool: "bool", int: "i64", float: default}.get(kind) if kind is not None else None
    return Array(dtype or guess, tuple(dims))


def _product(left: HostValue, right: HostValue) -> HostValue:
    if isinstance(left, Array) and isinstance(right, Array) and left.dims and right.dims:
        return Array(left.dtype, (*left.dims[:-1], right.dims[-1]))
    return NOTHING


def _transposed(array: Array, first: int, second: int) -> Array:
    dims = array.dims
    if dims is None or not all(-len(dims) <= axis < len(dims) for axis in (first, second)):
        return Array(array.dtype)
    swapped = list(dims)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    known = [d for d in dims if d is not None]
    if len(known) < len(dims):
        return Array(array.dtype, tuple(swapped))
    strides = list(array.strides or _row_major(known))
    strides[first], strides[second] = strides[second], strides[first]
    return Array(array.dtype, tuple(swapped), tuple(strides))


def _row_major(dims: Sequence[int]) -> list[int]:
    strides = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * dims[axis + 1]
    return strides


def _reshaped(
    before: tuple[int | None, ...] | None, wanted: tuple[int | None, ...] | None
) -> tuple[int | None, ...] | None:
    if wanted is None or -1 not in wanted:
        return wanted
    rest = [d for d in wanted if d != -1]
    if before is None or None in before or None in rest:
        return tuple(None if d == -1 else d for d in wanted)
    count = math.prod(d for d in before if d is not None)
    other = math.prod(d for d in rest if d is not None)
    missing = count // other if other else None
    return tuple(missing if d == -1 else d for d in wanted)


def _shape(value: HostValue) -> tuple[int | None, ...] | None:
    if isinstance(value, Sequence_):
        return tuple(v.value if isinstance(v, Number) and type(v.value) is int else None for v in value.items)
    if isinstance(value, Number) and type(value.value) is int:
        return (value.value,)
    return None


def _length(value: int | None) -> HostValue:
    return Number(value) if value is not None else NOTHING


def _less_one(value: HostValue) -> HostValue:
    return _arithmetic(ast.Sub(), value, Number(1))


def _dtype(value: HostValue | None) -> str | None:
    if isinstance(value, DtypeValue):
        return value.dtype
    if isinstance(value, Number) and isinstance(value.value, str):
        return canonical(value.value)
    return {"builtins.float": "f64", "builtins.int": "i64", "builtins.bool": "bool"}.get(
        value.dotted if isinstance(value, External) else ""
    )


def _itemsize(dtype: str) -> int:
    return max(1, DTYPES[dtype][1] // 8)
