"""What a piece of Python binds, changes and reads, by Python's own scoping rules.

Both views treat the statements they are given as one flat scope: a module's top level, a function's body or a
class's. `bindings` is shallow (it enters no nested scope) and cheap; `reads` enters everything.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence

from tile_lsp.analysis.tree import children, walk

Chain = tuple[str, ...]
"""A name and the attributes taken of it: `helpers.math.gelu` is `("helpers", "math", "gelu")`."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)

#: Methods that are called for their effect on the world, not on the object: dropped like any other bare call.
_EFFECTS = frozenset(
    """
    info debug warning warn error exception critical log print write writelines flush close save dump
    launch run start join synchronize show plot send sendall connect request get post execute commit
    submit main mainloop serve_forever parse_args add_argument backward step to_csv savefig barrier wait
    acquire release kill terminate replace_hints
    """.split()  # noqa: SIM905 - a list of words reads better than a column of quotes
)
_SETTERS = frozenset({"setattr", "delattr"})
#: Methods that change a list, set, dict or deque even where their result is used: `last = QUEUE.pop()`.
_CHANGERS = frozenset(
    """
    append appendleft add clear discard extend extendleft insert pop popitem popleft remove reverse rotate
    setdefault sort update __setitem__ __delitem__
    """.split()  # noqa: SIM905
)


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """What an import binds a name to: a module, or a member of one."""

    module: str
    """As written, without the dots in front."""
    level: int
    """Dots in front; 0 for an absolute import."""
    member: str | None = None
    loads: str | None = None
    """`"a.b.c"` for `import a.b.c`, which binds `a`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bindings:
    """What statements do to the names of their own scope. Order is that of the text."""

    names: tuple[str, ...] = ()
    """Bound or deleted."""
    stores: frozenset[str] = frozenset()
    """Names of which an attribute or item is set or deleted."""
    calls: frozenset[str] = frozenset()
    """Names of which a method is called that may change them."""
    called: frozenset[str] = frozenset()
    """Names that a bare expression calls: `setup()`."""
    imports: tuple[tuple[str, Target], ...] = ()
    stars: tuple[Target, ...] = ()
    globals: frozenset[str] = frozenset()
    """Declared `global`."""
    nonlocals: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    """Names that are bound by something else than an import or a `def`."""
    defines: bool = False
    """The statement is a `def`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reads:
    """What statements read from outside their nested scopes."""

    chains: frozenset[Chain] = frozenset()
    """All of them."""
    immediate: frozenset[Chain] = frozenset()
    """Those that are read when the statements are executed, not later by a function they define."""
    hard: frozenset[str] = frozenset()
    """Names that are read outside annotations: those that must exist."""
    imports: frozenset[tuple[Target, Chain]] = frozenset()
    """Imports inside functions, with the attributes taken of what they bind."""
    global_stores: frozenset[str] = frozenset()
    """Names that functions bind at module level."""
    documents: bool = False
    """Docstrings are looked at."""


def import_targets(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[ast.alias, str, Target]]:
    """Each alias with the name it binds (`"*"` for a star) and what it binds it to."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias, alias.asname, Target(alias.name, 0)
            else:
                top = alias.name.split(".", 1)[0]
                yield alias, top, Target(top, 0, None, alias.name if top != alias.name else None)
    else:
        for alias in node.names:
            yield alias, alias.asname or alias.name, Target(node.module or "", node.level or 0, alias.name)


def bindings(nodes: Iterable[ast.AST]) -> Bindings:
    """Bindings of statements, nested compound statements included, nested scopes not."""
    nodes = tuple(nodes)
    collector = _Collector()
    for node in nodes:
        collector.visit(node)
    return collector.result(len(nodes) == 1 and isinstance(nodes[0], _FUNCTIONS))


def bindings_within(node: Function | ast.ClassDef) -> Bindings:
    """Of a definition's body. Kept with the node, which several ask."""
    found = node.__dict__.get("_bindings")
    if found is None:
        found = node._bindings = bindings(node.body)  # type: ignore[union-attr]
    return found


class _Collector:
    """One walk over the statements of one scope."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.stores: set[str] = set()
        self.calls: set[str] = set()
        self.called: set[str] = set()
        self.imports: list[tuple[str, Target]] = []
        self.stars: list[Target] = []
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.plain: set[str] = set()

    def result(self, defines: bool) -> Bindings:
        return Bindings(
            tuple(self.names),
            frozenset(self.stores),
            frozenset(self.calls),
            frozenset(self.called),
            tuple(self.imports),
            tuple(self.stars),
            frozenset(self.globals),
            frozenset(self.nonlocals),
            frozenset(self.plain),
            defines,
        )

    def visit(self, root: ast.AST) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                if not isinstance(node.ctx, ast.Load):
                    self._bind(node.id)
                continue
            if kind is ast.Constant:
                continue
            if kind is ast.Lambda:
                self._outside(node)
                continue
            if kind in _SCOPES:
                self.names[node.name] = None
                if kind is ast.ClassDef:
                    self.plain.add(node.name)
                self._outside(node)
                continue
            if kind is ast.Import or kind is ast.ImportFrom:
                self._import(node)
                continue
            if kind is ast.Attribute or kind is ast.Subscript:
                if not isinstance(node.ctx, ast.Load) and (name := root_name(node)):
                    self.stores.add(name)
            elif kind is ast.Expr:
                self._expression(node.value)
            elif kind is ast.Call:
                self._call(node)
            elif kind is ast.Global:
                self.globals.update(node.names)
            elif kind is ast.Nonlocal:
                self.nonlocals.update(node.names)
            elif kind is ast.ExceptHandler or kind is ast.MatchAs or kind is ast.MatchStar:
                if node.name:
                    self._bind(node.name)
            elif kind is ast.MatchMapping:
                if node.rest:
                    self._bind(node.rest)
            elif kind is ast.AnnAssign and node.value is None:
                continue  # a declaration binds nothing
            elif kind in _COMPREHENSIONS:
                # Its own scope, but a walrus in it binds here.
                self._inside(node)
                continue
            below = children(node)
            below.reverse()
            stack += below

    def _outside(self, node: ast.AST) -> None:
        """What of a `def`, `class` or `lambda` is evaluated where it stands."""
        parts: list[ast.AST | None] = list(getattr(node, "decorator_list", ()))
        if isinstance(node, ast.ClassDef):
            parts += [*node.bases, *node.keywords]
        elif isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            parts += [*node.args.defaults, *node.args.kw_defaults]
        for part in parts:
            if part is not None and not isinstance(part, (ast.Constant, ast.Name)):
                self._inside(part)

    def _inside(self, root: ast.AST) -> None:
        """An expression of which only what reaches out of it counts."""
        for node in walk(root):
            if isinstance(node, ast.NamedExpr):
                self._bind(node.target.id)
            elif isinstance(node, ast.Call):
                self._call(node)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _CHANGERS and (name := root_name(function)):
            self.calls.add(name)

    def _bind(self, name: str) -> None:
        self.names[name] = None
        self.plain.add(name)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for _, name, target in import_targets(node):
            if name == "*":
                self.stars.append(target)
            else:
                self.names[name] = None
                self.imports.append((name, target))

    def _expression(self, value: ast.expr) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        if not isinstance(value, ast.Call):
            return
        function = value.func
        if isinstance(function, ast.Name):
            self.called.add(function.id)
            if function.id in _SETTERS and value.args and (name := root_name(value.args[0])):
                self.stores.add(name)
        elif isinstance(function, ast.Attribute) and function.attr not in _EFFECTS and (name := root_name(function)):
            self.calls.add(name)


_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


def root_name(node: ast.AST) -> str | None:
    """`X` of `X`, `X.a`, `X[0].b`; None where it starts with something else than a name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def chain_of(node: ast.AST) -> Chain | None:
    """`("a", "b", "c")` of `a.b.c`, None for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(names))


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    """All parameters in the order of the text."""
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg:
        yield arguments.kwarg


def local_names(function: Function | ast.Lambda) -> frozenset[str]:
    """Names that are local to a function: parameters and what its body binds."""
    names = {argument.arg for argument in parameters(function.args)}
    if isinstance(function, ast.Lambda):
        bound = bindings([ast.Expr(function.body)])
    else:
        bound = bindings_within(function)
    return frozenset((names | set(bound.names)) - bound.globals - bound.nonlocals)


def reads(nodes: Sequence[ast.AST]) -> Reads:
    """What the statements read. For text nested too deeply to be walked: every name in it."""
    reader = _Reader()
    try:
        reader.visit_all(nodes)
    except RecursionError:
        names = {node.id for root in nodes for node in ast.walk(root) if isinstance(node, ast.Name)}
        chains = frozenset((name,) for name in names)
        return Reads(chains, chains, frozenset(names), frozenset(reader.imports), frozenset(reader.global_stores), True)
    return reader.result()


def reads_of(node: Function) -> Reads:
    """Of one definition. Kept with the node, which several ask."""
    found = node.__dict__.get("_reads")
    if found is None:
        found = node._reads = reads([node])  # type: ignore[union-attr]
    return found


class _Scope:
    """One nested scope while it is walked."""

    __slots__ = ("globals", "imports", "kind", "names", "nonlocals")

    def __init__(
        self, kind: str, names: Iterable[str], global_: Iterable[str] = (), nonlocal_: Iterable[str] = ()
    ) -> None:
        self.kind = kind
        self.names = set(names)
        self.globals = frozenset(global_)
        self.nonlocals = frozenset(nonlocal_)
        self.imports: dict[str, list[Target]] = {}


class _Reader:
    def __init__(self) -> None:
        self.scopes: list[_Scope] = []
        self.deferred = 0
        self.annotation = 0
        self.chains: set[Chain] = set()
        self.immediate: set[Chain] = set()
        self.hard: set[str] = set()
        self.imports: set[tuple[Target, Chain]] = set()
        self.global_stores: set[str] = set()
        self.documents = False

    def result(self) -> Reads:
        return Reads(
            frozenset(self.chains),
            frozenset(self.immediate),
            frozenset(self.hard),
            frozenset(self.imports),
            frozenset(self.global_stores),
            self.documents,
        )

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        method = _METHODS.get(type(node))
        if method is not None:
            method(self, node)
        else:
            self.visit_all(children(node))

    # -- names

    def _read(self, chain: Chain) -> None:
        name = chain[0]
        innermost = True
        for scope in reversed(self.scopes):
            if scope.kind == "class" and not innermost:
                continue
            if name in scope.globals:
                break
            if name in scope.names and name not in scope.nonlocals:
                for target in scope.imports.get(name, ()):
                    self.imports.add((target, chain[1:]))
                return
            innermost = False
        self.chains.add(chain)
        if not self.deferred:
            self.immediate.add(chain)
        if not self.annotation:
            self.hard.add(name)

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read((node.id,))
            if node.id == "__doc__":
                self.documents = True
        else:
            for scope in reversed(self.scopes):
                if node.id in scope.globals:
                    self.global_stores.add(node.id)
                if scope.kind != "comprehension":
                    break

    def attribute(self, node: ast.Attribute) -> None:
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.append(inner.attr)
            inner = inner.value
        if "__doc__" in names or "getdoc" in names:
            self.documents = True
        if isinstance(inner, ast.Name):
            self._read((inner.id, *reversed(names)))
        else:
            self.visit(inner)

    def constant(self, node: ast.Constant) -> None:
        if node.value == "__doc__":
            self.documents = True

    # -- scopes

    def function(self, node: Function) -> None:
        self.visit_all(node.decorator_list)
        with_parameters = self._type_parameters(node)
        self._signature(node.args)
        if node.returns:
            self._annotation(node.returns)
        self._body(node, bindings_within(node), node.body)
        if with_parameters:
            self.scopes.pop()
        for scope in reversed(self.scopes):
            if node.name in scope.globals:
                self.global_stores.add(node.name)
            break

    def lambda_(self, node: ast.Lambda) -> None:
        self._signature(node.args)
        self._body(node, bindings([ast.Expr(node.body)]), [node.body])

    def _body(self, node: Function | ast.Lambda, bound: Bindings, body: Sequence[ast.AST]) -> None:
        names = {argument.arg for argument in parameters(node.args)} | set(bound.names)
        scope = _Scope("function", names - bound.globals, bound.globals, bound.nonlocals)
        for name, target in bound.imports:
            scope.imports.setdefault(name, []).append(target)
            self.imports.add((target, ("",)))
        self.scopes.append(scope)
        self.deferred += 1
        self.visit_all(body)
        self.deferred -= 1
        self.scopes.pop()

    def _signature(self, arguments: ast.arguments) -> None:
        self.visit_all(arguments.defaults)
        self.visit_all(default for default in arguments.kw_defaults if default is not None)
        for argument in parameters(arguments):
            if argument.annotation is not None:
                self._annotation(argument.annotation)

    def _annotation(self, node: ast.expr) -> None:
        self.annotation += 1
        self._annotated(node)
        self.annotation -= 1

    def _annotated(self, node: ast.expr) -> None:
        """An annotation's names, those in strings included, except the strings of a `Literal`."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            inner = parse_expression(node.value)
            if inner is not None:
                self.visit(inner)
            return
        if isinstance(node, ast.Subscript):
            chain = chain_of(node.value)
            self.visit(node.value)
            if not (chain and chain[-1] == "Literal"):
                self._annotated(node.slice)
            return
        if isinstance(node, (ast.Tuple, ast.List, ast.BinOp, ast.Starred)):
            for child in children(node):
                if isinstance(child, ast.expr):
                    self._annotated(child)
            return
        self.visit(node)

    def _type_parameters(self, node: ast.AST) -> bool:
        """Enters the scope of PEP 695 type parameters, if there are any."""
        parameters = getattr(node, "type_params", None)
        if not parameters:
            return False
        self.scopes.append(_Scope("function", [parameter.name for parameter in parameters]))
        self.visit_all(parameters)
        return True

    def class_(self, node: ast.ClassDef) -> None:
        self.visit_all(node.decorator_list)
        with_parameters = self._type_parameters(node)
        self.visit_all(node.bases)
        self.visit_all(node.keywords)
        bound = bindings_within(node)
        # A name counts as the class's own only below a statement that surely bound it: before, it is the module's.
        scope = _Scope("class", (), bound.globals, bound.nonlocals)
        self.scopes.append(scope)
        for statement in node.body:
            self.visit(statement)
            if not isinstance(statement, _BRANCHES):
                scope.names.update(bindings([statement]).names)
        self.scopes.pop()
        if with_parameters:
            self.scopes.pop()

    def comprehension(self, node: ast.AST) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)
        targets = bindings([generator.target for generator in generators]).names
        self.scopes.append(_Scope("comprehension", targets))
        for index, generator in enumerate(generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator.target)
            self.visit_all(generator.ifs)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)  # type: ignore[attr-defined]
        self.scopes.pop()

    # -- statements that need care

    def assignment(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self.visit_all(node.targets)

    def augmented(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self._read((node.target.id,))
        self.visit(node.target)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        local = bool(self.scopes) and self.scopes[-1].kind == "function"
        if not local:
            self._annotation(node.annotation)
        else:
            # Never evaluated, but a compiler may look at it.
            self.deferred += 1
            self._annotation(node.annotation)
            self.deferred -= 1
        self.visit(node.target)

    def imports_(self, node: ast.Import | ast.ImportFrom) -> None:
        if self.scopes:
            for _, name, target in import_targets(node):
                if name != "*":
                    self.imports.add((target, ("",)))
                if name in self.scopes[-1].globals:
                    self.global_stores.add(name)

    def alias_statement(self, node: ast.AST) -> None:
        """`type X[T] = …` (3.12)."""
        with_parameters = self._type_parameters(node)
        self.deferred += 1
        self.visit(node.value)  # type: ignore[attr-defined]
        self.deferred -= 1
        if with_parameters:
            self.scopes.pop()


_BRANCHES = tuple(
    getattr(ast, name)
    for name in ("If", "For", "AsyncFor", "While", "Try", "TryStar", "With", "AsyncWith", "Match")
    if hasattr(ast, name)
)

_METHODS = {
    ast.Name: _Reader.name,
    ast.Attribute: _Reader.attribute,
    ast.Constant: _Reader.constant,
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.Lambda: _Reader.lambda_,
    ast.ClassDef: _Reader.class_,
    ast.ListComp: _Reader.comprehension,
    ast.SetComp: _Reader.comprehension,
    ast.GeneratorExp: _Reader.comprehension,
    ast.DictComp: _Reader.comprehension,
    ast.Assign: _Reader.assignment,
    ast.AugAssign: _Reader.augmented,
    ast.AnnAssign: _Reader.annotated,
    ast.Import: _Reader.imports_,
    ast.ImportFrom: _Reader.imports_,
}
if hasattr(ast, "TypeAlias"):
    _METHODS[ast.TypeAlias] = _Reader.alias_statement


@functools.lru_cache(maxsize=4096)
def parse_expression(text: str) -> ast.expr | None:
    """The expression in a string, such as an annotation, or None if it holds none. Positions mean nothing."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
