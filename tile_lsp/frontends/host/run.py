"""An abstract run of a file: its top level with the `__main__` block, then each function that launches and was not
reached. Bounded in steps and depth; it never raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from tile_lsp.frontends.calls import by_parameter
from tile_lsp.frontends.names import Names, chain, statements

from . import arithmetic, arrays
from .values import (
    NOTHING,
    Array,
    Bound,
    Callee,
    Choice,
    DtypeValue,
    External,
    HostValue,
    Many,
    Nothing,
    Number,
    Sequence_,
    either,
    first_of,
    from_python,
    items_of,
)

_MAX_STEPS = 10_000
_MAX_DEPTH = 6


class Launch(msgspec.Struct, frozen=True):
    """A kernel's launch as it was reached."""

    kernel: Callee
    arguments: tuple[HostValue, ...]
    path: str
    line: int


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
    called = {name: called_in(node) for name, node in functions.items()}
    launching = {name for name, node in functions.items() if launches(node)}
    while True:
        more = {name for name, names in called.items() if name not in launching and names & launching}
        if not more:
            break
        launching |= more
    inner = set().union(*(called[name] - {name} for name in launching))
    return [functions[name] for name in sorted(launching, key=lambda name: (name in inner, functions[name].lineno))]


def called_in(function: ast.FunctionDef) -> set[str]:
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
    """One block of names, run. A front end overrides what its launches look like: a `call`, or a `library_call`."""

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
                self.bind(target, arithmetic.binary(op, self.lookup(name), self.value(value)))
            case ast.Expr(value=value):
                self.value(value)
            case ast.Return(value=value):
                self.returned.append(self.value(value) if value is not None else Number(None))
                self.ended = True
            case ast.Raise() | ast.Continue() | ast.Break():
                self.ended = True
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(arithmetic.truth(self.value(test), test), body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.bind(target, first_of(self.value(iterable)))
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
            self.rebind({name: either([outcome.get(name, NOTHING) for outcome in outcomes]) for name in names})

    def rebind(self, env: Mapping[str, HostValue]) -> None:
        """In place: the top level's names are seen by the functions that it calls."""
        self.env.clear()
        self.env.update(env)

    def bind(self, target: ast.expr, value: HostValue) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = items_of(value, len(target.elts))
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
                return arithmetic.binary(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return arithmetic.unary(op, self.value(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return arithmetic.compare(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                return arithmetic.boolean(op, [self.value(value) for value in values])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = arithmetic.truth(self.value(test), test)
                if truth is not None:
                    return self.value(body if truth else orelse)
                return either([self.value(body), self.value(orelse)])
            case ast.Subscript(value=owner, slice=index):
                return self.subscript(self.value(owner), index)
            case (
                ast.ListComp(elt=element, generators=[generator])
                | ast.GeneratorExp(elt=element, generators=[generator])
            ):
                self.bind(generator.target, first_of(self.value(generator.iter)))
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
            return arrays.named(dotted)
        known = names.constant(node, self.path)
        return from_python(known.value) if known is not None else NOTHING

    def attribute(self, node: ast.expr, owner: ast.expr, attr: str) -> HostValue:
        names = chain(node)
        if names is not None and names[0] not in self.env:
            found = self.outer(node)
            if not isinstance(found, Nothing):
                return found
        value = self.value(owner)
        if isinstance(value, External):
            return arrays.named(f"{value.dotted}.{attr}")
        if isinstance(value, Array):
            return arrays.attribute(value, attr)
        if isinstance(value, DtypeValue) and attr == "itemsize":
            return Number(arrays.itemsize(value.dtype))
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
            case External(dotted=dotted):
                return self.library_call(dotted, arguments, keywords, node.lineno)
            case Callee():
                return self.call_function(callee, arguments, keywords)
            case Choice(options=options):
                return either([self.call_function(o, arguments, keywords) for o in options if isinstance(o, Callee)])
            case Bound(owner=Array() as owner, name=name):
                return arrays.method(owner, name, arguments, keywords)
            case Bound(owner=(Callee() | Choice()) as owner):
                # `kernel.with_hints(…)` and the like give the same kernel.
                return owner
            case _:
                return NOTHING

    def library_call(
        self, dotted: str, arguments: list[HostValue], keywords: Mapping[str, HostValue], line: int
    ) -> HostValue:
        return arrays.called(dotted, arguments, keywords)

    def launched(self, kernel: HostValue, arguments: Iterable[HostValue], line: int) -> None:
        """Each of the kernels that this may be."""
        for option in kernel.options if isinstance(kernel, Choice) else (kernel,):
            if isinstance(option, Callee):
                self.run.launches.append(Launch(option, tuple(arguments), self.path, line))

    def call_function(
        self, callee: Callee, arguments: Sequence[HostValue], keywords: Mapping[str, HostValue]
    ) -> HostValue:
        run, node = self.run, callee.node
        if self.depth >= _MAX_DEPTH or node in run.active:
            return NOTHING
        run.reached.add(node)
        frame = type(self)(run, callee.path, dict(callee.captured), self.depth + 1)
        frame.env |= by_parameter(node.args, arguments, keywords, frame.value, NOTHING)
        run.active.append(node)
        try:
            frame.block(node.body)
        finally:
            if run.active and run.active[-1] is node:
                run.active.pop()
        return either(frame.returned) if frame.returned else Number(None)
