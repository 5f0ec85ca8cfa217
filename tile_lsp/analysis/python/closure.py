"""The slice of the workspace that one kernel needs.

A fixpoint: the kernel's statement reads names; the statements that bind or change these, cut down to them, read
further names; an import leads into another module of the workspace, where only what is used of it is needed. What no
statement binds widens the version to its whole module.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NoReturn

from tile_lsp.analysis.language import Blocked, ClosureResult
from tile_lsp.analysis.positions import Part, Positions
from tile_lsp.model.closure import Closure, Entry, Loading, Member, Module, Note
from tile_lsp.model.job import digest
from tile_lsp.model.location import SourceRange, Span

from .imports import ModuleRef
from .index import Index, bindings_of, index_of
from .kernels import KernelSite, walk_path
from .nested import Lifted, Unbound, lift
from .parse import Broken, Placed, PythonFile, Statement, source_of
from .prune import Need, cut
from .scope import Bindings, Chain, Reads, Target, bindings, parse_expression, reads, reads_of
from .text import shifted, span_of
from .unparse import UnfaithfulError, is_string, normalised, without_docstrings
from .unseen import unseen_changes
from .workspace import Workspace

#: The rest of a chain for an import that is only executed: nothing is taken of what it binds.
_TOUCHED: Chain = ("",)
_BUILTINS = frozenset(dir(builtins))
_IMPLICIT = frozenset(
    {"__name__", "__spec__", "__package__", "__loader__", "__builtins__", "__annotations__", "__dict__", "__class__"}
)
_PATHS = frozenset({"__file__", "__path__", "__cached__"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Decorators that leave a function what it was, and call nothing.
_STATELESS = frozenset(
    {
        "cuda.tile.function",
        "functools.cache",
        "functools.lru_cache",
        "staticmethod",
        "triton.experimental.gluon.jit",
        "triton.jit",
        "triton.runtime.jit",
        "typing.final",
        "typing.no_type_check",
        "typing.overload",
        "typing_extensions.final",
        "typing_extensions.override",
    }
)


Registers = Callable[[Workspace, PythonFile, frozenset[str]], Iterable[int]]
"""Of a module and the names that are needed of it: the indices of statements that tell a compiler something."""


def build_closure(
    kernel: KernelSite,
    workspace: Workspace,
    bindings: Mapping[str, str] = MappingProxyType({}),
    expressions: Sequence[str] = (),
    registers: Registers | None = None,
) -> ClosureResult:
    """The closure of a kernel. `bindings` give parameters of the function that makes it, as Python expressions:
    `{"tile": "64"}`. `expressions` are evaluated in its module, for its arguments. `registers` says which statements
    are executed though no name of theirs is read.

    `kernel` must be from this workspace's revision of its file.
    """
    builder = _Builder(kernel, workspace, bindings, expressions, registers)
    try:
        closure, members = builder.build()
    except _BlockedError as error:
        return ClosureResult(None, Positions(), builder.files, builder.missing, error.blocked)
    return ClosureResult(closure, Positions(members), builder.files, builder.missing, None, builder.instances)


class _BlockedError(Exception):
    def __init__(self, blocked: Blocked) -> None:
        super().__init__(blocked.message)
        self.blocked = blocked


class _InjectedError(Exception):
    """A needed name is bound by code that can't be read: the module must be imported."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(name)
        self.module = module
        self.name = name


class Form:
    """A statement cut down to what is needed of it."""

    def __init__(self, node: ast.stmt, statement: Statement) -> None:
        self.nodes: tuple[ast.stmt, ...] = (node,)
        self.statement = statement

    @property
    def node(self) -> ast.stmt:
        return self.nodes[0]

    @functools.cached_property
    def reads(self) -> Reads:
        return reads(self.nodes)

    @functools.cached_property
    def bound(self) -> Bindings:
        return bindings(self.nodes)

    @functools.cached_property
    def text(self) -> str:
        try:
            return normalised(self.nodes, source_of(self.statement.chunk.text))
        except UnfaithfulError:
            # The whole statement as it is written: more than is needed, but not wrong.
            segment = _segment(self.statement)
            self.nodes = (self.statement.node,)
            return segment

    def first_name(self, wanted: Iterable[str]) -> str:
        """What the member is named by."""
        names = set(wanted)
        for name in (*self.bound.names, *sorted(self.bound.stores | self.bound.calls), *sorted(self.bound.called)):
            if name in names:
                return name
        return next(iter((*self.bound.names, *sorted(self.bound.stores | self.bound.calls))), "*")


def form_of(statement: Statement, need: Need) -> Form | None:
    """The statement cut down; kept with the statement, since most edits change neither."""
    bound = bindings_of(statement)
    touched = frozenset(bound.names) | bound.stores | bound.calls
    stars = need.stars if bound.stars else frozenset()
    loads = need.loads if bound.imports else None
    if loads is not None:
        loads = frozenset(t.loads or t.module for _, t in bound.imports) & loads
    need = Need(
        need.names & touched, need.mutable & bound.calls, need.setters & bound.called, loads, stars, need.documents
    )
    key = ("form", need)
    if key not in statement.facts:
        kept = cut(statement.node, need)
        statement.facts[key] = Form(kept, statement) if kept is not None else None
    return statement.facts[key]  # type: ignore[return-value]


def _segment(statement: Statement) -> str:
    node = statement.node
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    lines = [line.encode() for line in statement.chunk.text.split("\n")[first - 1 : node.end_lineno]]
    lines[-1] = lines[-1][: node.end_col_offset]
    indent = node.col_offset
    if not lines[0][:indent].strip():
        lines = [line[indent:] if not line[:indent].strip() else line for line in lines]
    elif first == node.lineno:
        lines[0] = lines[0][indent:]
    return b"\n".join(lines).decode("utf-8", "replace")


@dataclasses.dataclass
class _State:
    """One module of the closure while it is worked out."""

    ref: ModuleRef
    file: PythonFile
    index: Index
    main: bool = False
    """The kernel is under `if __name__ == "__main__"`, and so its neighbours there count."""
    needs: dict[str, set[Chain]] = dataclasses.field(default_factory=dict)
    stars: set[tuple[int, str, str]] = dataclasses.field(default_factory=set)
    whole: bool = False
    paths_read: bool = False
    unresolved: set[str] = dataclasses.field(default_factory=set)
    lifted: Lifted | None = None
    anchor: int = -1
    forms: dict[int, Form] = dataclasses.field(default_factory=dict)
    done: set[int] = dataclasses.field(default_factory=set)
    """Identities of the forms whose reads have been followed."""
    followed: set[tuple[Target, Chain]] = dataclasses.field(default_factory=set)
    """Imports, with what is taken of them, that have been followed."""
    dirty: bool = True
    """What is needed of the module has grown since its statements were last cut."""
    mutable: dict[str, bool] = dataclasses.field(default_factory=dict)


class _Builder:
    def __init__(
        self,
        kernel: KernelSite,
        workspace: Workspace,
        given: Mapping[str, str],
        expressions: Sequence[str],
        registers: Registers | None,
    ) -> None:
        self.registers = registers
        self.kernel = kernel
        self.workspace = workspace
        self.given = given
        self.evaluated = reads([node for text in expressions if (node := parse_expression(text)) is not None])
        self.states: dict[str, _State] = {}
        self.externals: set[str] = set()
        self.documents = False
        self.instances: tuple[str, ...] = ()
        self.files: frozenset[str] = frozenset({kernel.path})
        self.lifted_form: Form | None = None

    @property
    def missing(self) -> frozenset[str]:
        return self.workspace.missing

    # -- the whole way

    def build(self) -> tuple[Closure, dict[str, list[Part]]]:
        file = self.workspace.file(self.kernel.path)
        if file is None:
            raise _BlockedError(Blocked(f"there is no file {self.kernel.path}"))
        if self.kernel.broken or self.kernel.anchor is None:
            self._block_broken_kernel(file)
        assert self.kernel.anchor is not None
        ref = self.workspace.own_module(self.kernel.path)
        own = _State(ref, file, index_of(file))
        self.states[ref.name] = own
        placed = file.statements[self.kernel.anchor.index]
        own.main = placed.statement.main
        own.anchor = placed.index
        try:
            self._work_out(own, placed)
            if self.workspace.whole:
                return self._imported(own, None)
        except _InjectedError as error:
            return self._imported(own, error)
        finally:
            self.files = frozenset(state.file.path for state in self.states.values()) | {self.kernel.path}
        return self._assemble(own)

    def _work_out(self, own: _State, placed: Placed) -> None:
        while True:
            documents = self.documents
            own.lifted = self._lift(own.file, placed)
            self.lifted_form = self._lifted_form(own.lifted, placed.statement)
            self._read(own, own.lifted.access, skip=own.lifted.name)
            self._read(own, self.evaluated)
            own.dirty = True
            while dirty := [state for state in self.states.values() if state.dirty]:
                for state in dirty:
                    state.dirty = False
                    self._round(state)
            if documents == self.documents:
                return
            # Something looks at docstrings: once more, with them.
            for state in self.states.values():
                state.done.clear()
                state.dirty = True

    def _lift(self, file: PythonFile, placed: Placed) -> Lifted:
        assert self.kernel.anchor is not None
        nodes = walk_path(placed.statement.node, self.kernel.anchor.path)
        decorators = getattr(nodes[-1], "decorator_list", ())
        kept = tuple(index for index in range(len(decorators)) if self._keeps_decorator(nodes, index))
        # Calls of a function around it stand anywhere in the file; else all depends on the statement alone.
        nested = any(isinstance(node, _FUNCTIONS) for node in nodes[:-1])
        key = ("lifted", self.kernel.anchor.path, kept, self.documents)
        lifted = placed.statement.facts.get(key)
        if nested or not isinstance(lifted, Lifted):
            lifted = lift(file, nodes, kept, self.given, self.documents)
            if isinstance(lifted, Unbound):
                raise _BlockedError(self._unbound(lifted, placed))
            if nested:
                lifted = self._same_as_before(placed.statement, (*key, lifted.expression), lifted)
            placed.statement.facts[key] = lifted
        self.instances = lifted.calls
        return lifted

    @staticmethod
    def _same_as_before(statement: Statement, key: object, lifted: Lifted) -> Lifted:
        """What was lifted before, if it is made of the same pieces: so positions are worked out once."""
        kept = statement.facts.get(key)
        if isinstance(kept, Lifted) and _same_nodes(kept.statement, lifted.statement):
            return dataclasses.replace(kept, calls=lifted.calls)
        statement.facts[key] = lifted
        return lifted

    @staticmethod
    def _lifted_form(lifted: Lifted, statement: Statement) -> Form:
        """The form of the kernel's statement: one object for one lifted statement."""
        key = ("form of lifted", id(lifted.statement))
        kept = statement.facts.get(key)
        if not isinstance(kept, Form) or kept.node is not lifted.statement:
            kept = statement.facts[key] = Form(lifted.statement, statement)
        return kept

    def _keeps_decorator(self, nodes: Sequence[ast.AST], index: int) -> bool:
        """What stands above the kernel's decorator is given the kernel and changes nothing in it, unless it is the
        language's own."""
        decorators: list[ast.expr] = nodes[-1].decorator_list  # type: ignore[attr-defined]
        anchor = self.kernel.anchor
        if anchor is None or index >= anchor.maker:
            return True
        scopes = [node.body for node in nodes[:-1] if isinstance(node, (*_FUNCTIONS, ast.ClassDef))][::-1]
        file = self.workspace.file(self.kernel.path)
        assert file is not None
        node = decorators[index]
        name = self.workspace.resolve_in(file, scopes, node.func if isinstance(node, ast.Call) else node)
        language = self.kernel.decorator_name.rpartition(".")[0]
        if name is None:
            return False
        # Its own, or of a package around it: `triton.autotune` above `triton.experimental.gluon.jit`.
        return name.startswith(f"{language}.") or language.startswith(f"{name.rpartition('.')[0]}.")

    # -- what is needed

    def _round(self, state: _State) -> None:
        """Follows what the module's needed statements read."""
        state.forms = self._forms(state)
        for form in list(state.forms.values()):
            if id(form) not in state.done:
                state.done.add(id(form))
                self._read(state, form.reads)
            for name, target in form.bound.imports:
                for rest in tuple(state.needs.get(name, (_TOUCHED,))):
                    if (target, rest) not in state.followed:
                        state.followed.add((target, rest))
                        self._follow(state, target, rest)
        if state.lifted is not None and self._uses_lifted(state) and self.lifted_form is not None:
            form = self.lifted_form
            if id(form) not in state.done:
                state.done.add(id(form))
                self._read(state, form.reads)

    def _uses_lifted(self, state: _State) -> bool:
        """False where the class around the kernel is needed as a whole: then the kernel is in there."""
        lifted = state.lifted
        return lifted is not None and not (isinstance(lifted.statement, ast.ClassDef) and lifted.name in state.needs)

    def _rebinds(self, state: _State) -> bool:
        """True for `k = ct.kernel(k)`: what it reads is what the name was before."""
        lifted = state.lifted
        return (
            lifted is not None
            and isinstance(lifted.statement, ast.Assign)
            and any(isinstance(node, ast.Name) and node.id == lifted.name for node in ast.walk(lifted.statement.value))
        )

    def _forms(self, state: _State) -> dict[int, Form]:
        """The statements that are needed so far, cut down to what is needed of them."""
        names = set(state.needs)
        hidden = state.lifted.name if state.lifted is not None and self._uses_lifted(state) else None
        rebinds = self._rebinds(state)
        if not rebinds:
            names.discard(hidden or "")
        index = state.index
        mutable = frozenset(n for n in names if self._is_mutable(state, n) or self._sets_globals(state, n))
        setters = frozenset(f for name in names for f in index.setter_names.get(name, ()))
        need = Need(frozenset(names), mutable, setters, self._loads(state), frozenset(state.stars), self.documents)
        selected: set[int] = set()
        for name in names:
            selected.update(placed.index for placed in index.binders_of(state.file, name, state.main))
            changing = [*index.stores.get(name, ()), *index.setters.get(name, ())]
            if name in mutable:
                changing += index.calls.get(name, ())
            selected.update(i for i in changing if state.main or not state.file.statements[i].statement.main)
        if state.stars:
            selected.update(i for i, _ in index.stars)
        if rebinds:
            # What is bound again later is another kernel.
            selected = {i for i in selected if i < state.anchor or hidden not in _names_of(state.file.statements[i])}
        forms: dict[int, Form] = {}
        for i in sorted(selected):
            form = form_of(state.file.statements[i].statement, need)
            if form is not None and not (isinstance(form.node, ast.ImportFrom) and form.node.module == "__future__"):
                forms[i] = form
        if self.registers is not None:
            for i in self.registers(self.workspace, state.file, frozenset(state.needs)):
                form = _whole_form(state.file.statements[i].statement) if i != state.anchor else None
                if form is not None:
                    forms[i] = form
        return forms

    def _is_mutable(self, state: _State, name: str) -> bool:
        """False for a module or a function: calling its methods, as in `ct.launch(…)`, doesn't change what it is."""
        if name not in state.mutable:
            state.mutable[name] = name in state.index.calls and self._has_changing_methods(state, name)
        return state.mutable[name]

    def _has_changing_methods(self, state: _State, name: str) -> bool:
        for placed in state.index.binders_of(state.file, name, state.main):
            bound = bindings_of(placed.statement)
            if name in bound.plain:
                return True
            if any(bound_name == name for bound_name, _ in bound.imports):
                for meaning in self.workspace.meanings(state.file, (name,)):
                    if isinstance(meaning.node, (ast.ClassDef, ast.expr)) and not isinstance(meaning.node, ast.Lambda):
                        return True
        return False

    def _sets_globals(self, state: _State, name: str) -> bool:
        """True for a module of the workspace with functions that bind its names, of which something is called here:
        `backend.choose("cuda")`.
        """
        if name not in state.index.calls:
            return False
        for meaning in self.workspace.meanings(state.file, (name,)):
            if meaning.node is not None or meaning.rest:
                continue
            refs = self.workspace.finder.absolute(meaning.dotted, state.ref.path)
            file = self.workspace.file(refs[-1].path) if refs and refs[-1].path else None
            if file is not None and index_of(file).setter_names:
                return True
        return False

    def _loads(self, state: _State) -> frozenset[str]:
        """Which of `import a.b`, `import a.c` are needed: those that a used chain of names goes through, or all if
        none is."""
        kept: set[str] = set()
        for name, rests in state.needs.items():
            targets = self._plain_imports(state, name)
            if not targets:
                continue
            for rest in rests:
                chain = (name, *rest)
                through = [t for t in targets if _is_prefix(t.split("."), chain)]
                kept.update(through or targets)
        return frozenset(kept)

    def _plain_imports(self, state: _State, name: str) -> list[str]:
        """`["a.b", "a.c"]` for what `import a.b` and `import a.c` load."""
        return [
            target.loads or target.module
            for placed in state.index.binders_of(state.file, name, state.main)
            for bound, target in bindings_of(placed.statement).imports
            if bound == name and target.member is None
        ]

    def _read(self, state: _State, found: Reads, skip: str | None = None) -> None:
        self.documents = self.documents or found.documents
        for chain in found.chains:
            if chain[0] != skip:
                self._need(state, chain, hard=chain[0] in found.hard)
        for target, rest in found.imports:
            self._follow(state, target, rest)

    def _need(self, state: _State, chain: Chain, *, hard: bool) -> None:
        """Records that a module's name is needed, and follows it where it leads into other modules."""
        name, rest = chain[0], chain[1:]
        if rest in state.needs.get(name, ()):
            return
        if (
            state.lifted is not None
            and name == state.lifted.name
            and not isinstance(state.lifted.statement, ast.ClassDef)
            and not self._rebinds(state)
        ):
            return  # the kernel's own statement
        binders = state.index.binders_of(state.file, name, state.main)
        if name in state.index.broken:
            self._block_broken(state, name)
        only_main = not state.main and all(placed.statement.main for placed in binders)
        if only_main and self._need_from_star(state, name, rest, external=not binders):
            return
        if binders:
            state.needs.setdefault(name, set()).add(rest)
            state.dirty = True
            return
        if name in _PATHS:
            state.paths_read = True
        elif name == "__doc__":
            self.documents = True
        elif name in state.index.setter_names:
            state.needs.setdefault(name, set()).add(rest)
            state.dirty = True
            for function in state.index.setter_names[name]:
                if state.index.setters.get(name):
                    self._need(state, (function,), hard=hard)
        elif name in _BUILTINS or name in _IMPLICIT or not hard:
            return
        elif state.file.broken:
            self._block(state, name, state.file.broken[0])
        elif _injects(state.file):
            raise _InjectedError(state.ref.name, name)
        else:
            state.unresolved.add(name)

    def _need_from_star(self, state: _State, name: str, rest: Chain, *, external: bool) -> bool:
        """True if a star import gives the name; with `external`, if one of a third-party module may."""
        outside = False
        for _, target in state.index.stars:
            refs = self.workspace.modules(target, state.ref)
            self._add_modules(refs)
            outside = outside or not (refs or target.level)
        star = self.workspace.star_source(state.file, name)
        if star is not None:
            target, _ = star
            state.stars.add((target.level, target.module, name))
            state.dirty = True
            self._member(self.workspace.modules(target, state.ref)[-1], name, rest)
            return True
        if not (outside and external) or name in _IMPLICIT or name in _PATHS or name == "__doc__":
            return False
        for _, target in state.index.stars:
            if not self.workspace.modules(target, state.ref):
                state.stars.add((target.level, target.module, "*"))
                self._external(target.module)
        state.dirty = True
        return True

    def _follow(self, state: _State, target: Target, rest: Chain) -> None:
        """An import in `state`'s module, of which `rest` is taken."""
        refs = self.workspace.modules(target, state.ref)
        if not refs:
            if not target.level:
                self._external(target.loads or target.module)
            return
        self._add_modules(refs)
        if target.loads:
            self._add_modules(self.workspace.finder.absolute(target.loads, state.ref.path))
        if target.member:
            self._member(refs[-1], target.member, rest)
        else:
            self._use(refs[-1], rest)
            if not rest and target.loads:
                below = self.workspace.finder.absolute(target.loads, state.ref.path)
                if below:
                    self._use(below[-1], ())

    def _member(self, module: ModuleRef, name: str, rest: Chain) -> None:
        """`name` of a module, of which `rest` is taken: something that it binds, or a submodule."""
        state = self.states.get(module.name)
        if state is not None and (self.workspace.binds(state.file, name) or name in state.index.setter_names):
            self._need(state, (name, *rest), hard=True)
            # A star that leads back here gives the submodule itself: `from .ops import *`, and there `from . import x`.
            bound = name in state.index.binders or not state.index.stars
            if bound and not self.workspace.binds_submodule(state.file, name):
                return
            below = self.workspace.finder.submodule(module, name)
            if below is None:
                return
        else:
            below = self.workspace.finder.submodule(module, name)
        if below is not None:
            self._add_modules((below,))
            self._use(below, rest)
        elif state is not None:
            self._need(state, (name, *rest), hard=True)

    def _use(self, module: ModuleRef, rest: Chain) -> None:
        """A module object, of which `rest` is taken; all of it where it is used as a value."""
        if rest == _TOUCHED:
            return
        if rest:
            self._member(module, rest[0], rest[1:])
            return
        state = self.states.get(module.name)
        if state is None or state.whole:
            return
        state.whole = True
        state.dirty = True
        for name, indices in state.index.binders.items():
            if not all(state.file.statements[i].statement.main for i in indices):
                self._need(state, (name,), hard=True)
        for _, target in state.index.stars:
            refs = self.workspace.modules(target, state.ref)
            if not refs:
                state.stars.add((target.level, target.module, "*"))
                self._external(target.module)
            elif inner := self.workspace.file(refs[-1].path):
                self._add_modules(refs)
                for name in self._exported(inner, set()):
                    state.stars.add((target.level, target.module, name))
                    self._member(refs[-1], name, ())

    def _exported(self, file: PythonFile, seen: set[str]) -> set[str]:
        """All names that a star import of a module gives."""
        if file.path in seen:
            return set()
        seen.add(file.path)
        exported = self.workspace.exported(file)
        if exported is not None:
            return set(exported)
        index = index_of(file)
        names = {name for name in index.binders if not name.startswith("_")}
        for _, target in index.stars:
            refs = self.workspace.modules(target, self.workspace.own_module(file.path))
            if refs and refs[-1].path and (inner := self.workspace.file(refs[-1].path)):
                names |= self._exported(inner, seen)
        return names

    def _add_modules(self, refs: Iterable[ModuleRef]) -> None:
        for ref in refs:
            if ref.path and ref.name not in self.states and (file := self.workspace.file(ref.path)) is not None:
                self.states[ref.name] = _State(ref, file, index_of(file))

    def _external(self, dotted: str) -> None:
        top = dotted.partition(".")[0]
        if top and not self.workspace.finder.is_stdlib(top):
            self.externals.add(top)

    # -- faults

    def _block_broken_kernel(self, file: PythonFile) -> NoReturn:
        for region in file.broken:
            if region.span.line <= self.kernel.span.line <= region.span.end_line:
                at = SourceRange(file.path, region.problem.span)
                raise _BlockedError(Blocked(region.problem.message, at, syntax=True))
        for region in file.broken:
            message = f"line {region.problem.span.line}: {region.problem.message}"
            raise _BlockedError(Blocked(message, SourceRange(file.path, region.problem.span), syntax=True))
        raise _BlockedError(
            Blocked("the kernel's text is broken", SourceRange(file.path, self.kernel.span), syntax=True)
        )

    def _block_broken(self, state: _State, name: str) -> None:
        self._block(state, name, next(region for region in state.file.broken if name in region.names))

    def _block(self, state: _State, name: str, region: Broken) -> NoReturn:
        raise _BlockedError(
            Blocked(
                f"`{name}`, which `{self.kernel.qualname}` needs, is in broken text: {region.problem.message}",
                SourceRange(state.file.path, region.problem.span),
                syntax=True,
            )
        )

    def _unbound(self, unbound: Unbound, placed: Placed) -> Blocked:
        name = unbound.function.name
        lacking = ", ".join(f"`{parameter}`" for parameter in unbound.parameters)
        comment = " ".join(f"{parameter}=…" for parameter in unbound.parameters)
        span = span_of(unbound.function)
        at = SourceRange(self.kernel.path, shifted(span, placed.offset)) if span else None
        return Blocked(
            f"`{self.kernel.qualname}` is made by `{name}`, and no call in this file says what {lacking} should be",
            at,
            f"write a comment above the kernel: # tile-lsp: {comment}",
        )

    # -- putting it together

    def _assemble(self, own: _State) -> tuple[Closure, dict[str, list[Part]]]:
        others = sorted((state for state in self.states.values() if state is not own), key=lambda state: state.ref.name)
        states = [own, *others]
        host = self._run_by_python(states)
        parts: dict[str, list[Part]] = {}
        modules = tuple(self._module(state, host, parts) for state in states)
        covers = [digest(state.ref.name, _whole_text(state.file)[0]) for state in states if state.unresolved] + [
            state.file.path for state in states if state.paths_read
        ]
        return self._closure(own, modules, tuple(covers), Loading.SLICE, self._notes(own)), parts

    def _closure(
        self, own: _State, modules: tuple[Module, ...], covers: tuple[str, ...], loading: Loading, notes: Sequence[Note]
    ) -> Closure:
        assert own.lifted is not None
        expression = own.lifted.expression
        entry = Entry(own.ref.name, expression, self.kernel.function, self._parameter_names())
        top = own.ref.path
        for _ in range(own.ref.name.count(".") + (2 if own.ref.package else 1)):
            top = top.rpartition("/")[0] or top
        draft = Closure(
            version="",
            entry=entry,
            modules=modules,
            externals=tuple(sorted(self.externals)),
            roots=tuple(dict.fromkeys((top, *self.workspace.roots))),
            loading=loading,
            notes=tuple(notes),
            covers=covers,
        )
        functions = frozenset(member.id for module in modules for member in module.members if member.function)
        return Closure(
            version=draft.digest_of(functions),
            entry=draft.entry,
            modules=draft.modules,
            externals=draft.externals,
            roots=draft.roots,
            loading=draft.loading,
            notes=draft.notes,
            covers=draft.covers,
        )

    def _parameter_names(self) -> tuple[str, ...]:
        if self.kernel.parameters or self.kernel.node is not None:
            return tuple(parameter.name for parameter in self.kernel.parameters)
        file = self.workspace.file(self.kernel.path)
        assert file is not None
        for meaning in self.workspace.meanings(file, (self.kernel.function,)):
            if isinstance(meaning.node, _FUNCTIONS):
                arguments = meaning.node.args
                return tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
        return ()

    def _notes(self, own: _State) -> list[Note]:
        notes = []
        if self.instances and len(self.instances) > 1:
            notes.append(Note(f"as made by `{self.instances[0]}`; also made by " + _listed(self.instances[1:])))
        elif own.lifted is not None and "(" in own.lifted.expression:
            notes.append(Note(f"as made by `{own.lifted.expression}`"))
        for state in self.states.values():
            if state.unresolved:
                names = _listed(sorted(state.unresolved))
                where = "" if state is own else f" in {state.ref.name}"
                notes.append(Note(f"{names}{where}: bound nowhere, so every edit of the module counts"))
            for name, code in unseen_changes(state.file, state.needs, frozenset(state.forms)):
                mends = 'if so, set tile-lsp.loading to "import"'
                notes.append(Note(f"`{name}` may be changed by `{code}`, which is not run: {mends}"))
        return notes

    def _run_by_python(self, states: Sequence[_State]) -> set[tuple[str, str]]:
        """Functions (module, name) that Python may call while the closure is loaded: part of the meaning even where
        no compiler enters them."""
        found: set[tuple[str, str]] = set()
        queue: list[tuple[_State, Chain]] = []
        for state in states:
            for form in self._all_forms(state):
                if form is self.lifted_form:
                    continue
                plain = isinstance(form.node, _FUNCTIONS) and self._is_stateless(state, form.node)
                queue.extend((state, chain) for chain in (form.reads.immediate if plain else form.reads.chains))
            if state.lifted is not None:
                around = state.lifted.around.chains
                queue.extend((state, chain) for chain in around if chain[0] != state.lifted.name)
                queue.extend((state, chain) for chain in self.evaluated.chains)
                # The kernel's own function is handed to the compiler, not called.
                for meaning in self.workspace.meanings(state.file, (self.kernel.function,)):
                    if isinstance(meaning.node, _FUNCTIONS) and meaning.file is not None:
                        found.add((meaning.file.path, meaning.node.name))
        while queue:
            state, chain = queue.pop()
            for meaning in self.workspace.meanings(state.file, chain):
                if not isinstance(meaning.node, _FUNCTIONS) or meaning.file is None:
                    continue
                key = (meaning.file.path, meaning.node.name)
                if key in found:
                    continue
                found.add(key)
                for other in states:
                    if other.file.path == meaning.file.path:
                        queue.extend((other, inner) for inner in reads_of(meaning.node).chains)
                        break
        return found

    def _all_forms(self, state: _State) -> Iterator[Form]:
        yield from state.forms.values()
        if state.lifted is not None and self._uses_lifted(state) and self.lifted_form is not None:
            yield self.lifted_form

    def _is_stateless(self, state: _State, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self.workspace.resolve_name(state.file, function) or ast.unparse(function)
            if name not in _STATELESS:
                return False
        return True

    def _module(self, state: _State, host: set[tuple[str, str]], parts: dict[str, list[Part]]) -> Module:
        ordered: list[tuple[int, Form, bool]] = [(index, form, False) for index, form in state.forms.items()]
        if state.lifted is not None and self._uses_lifted(state) and self.lifted_form is not None:
            ordered.append((state.anchor, self.lifted_form, True))
        ordered.sort(key=lambda item: (item[0], item[2]))
        counts: dict[str, int] = {}
        members: list[Member] = []
        wanted = set(state.needs) | {name for _, _, name in state.stars}
        if state.lifted is not None:
            wanted.add(state.lifted.name)
        if self.documents and (text := _module_docstring(state.file)) is not None:
            members.append(Member(f"{state.ref.name}/__doc__", state.ref.name, f"__doc__ = {text!r}"))
        for index, form, is_kernel in ordered:
            text = form.text
            name = form.first_name(wanted)
            counts[name] = counts.get(name, 0) + 1
            identity = f"{state.ref.name}/{name}" + (f"#{counts[name]}" if counts[name] > 1 else "")
            function = (
                not is_kernel
                and isinstance(form.node, ast.FunctionDef)
                and (state.file.path, form.node.name) not in host
                and self._is_stateless(state, form.node)
                and len(state.index.binders.get(form.node.name, ())) == 1
            )
            members.append(Member(identity, state.ref.name, text, function, state.file.futures))
            placed = state.file.statements[index]
            parts[identity] = [Part(text, form.nodes, state.file.path, placed.statement.chunk.text, placed.offset)]
        return Module(state.ref.name, state.ref.path, state.ref.package, tuple(members))

    # -- modules that can't be sliced

    def _imported(self, own: _State, error: _InjectedError | None) -> tuple[Closure, dict[str, list[Part]]]:
        """Every workspace module that the kernel's imports, whole."""
        for state in self.states.values():
            state.needs.clear()
        queue = [own]
        seen: set[str] = set()
        while queue:
            state = queue.pop()
            if state.ref.name in seen:
                continue
            seen.add(state.ref.name)
            if state.file.broken:
                region = state.file.broken[0]
                message = f"{state.ref.name} must be imported as a whole, and is broken: {region.problem.message}"
                raise _BlockedError(Blocked(message, SourceRange(state.file.path, region.problem.span), syntax=True))
            for target in _all_imports(state.file):
                refs = list(self.workspace.modules(target, state.ref))
                if not refs and not target.level:
                    self._external(target.loads or target.module)
                if target.loads:
                    refs += self.workspace.finder.absolute(target.loads, state.ref.path)
                if refs and target.member and (below := self.workspace.finder.submodule(refs[-1], target.member)):
                    refs.append(below)
                self._add_modules(refs)
                queue.extend(self.states[ref.name] for ref in refs if ref.name in self.states)
        self.files = frozenset(self.states[name].file.path for name in seen)
        others = sorted(name for name in seen if name != own.ref.name)
        parts: dict[str, list[Part]] = {}
        modules = []
        for name in (own.ref.name, *others):
            state = self.states[name]
            text, pieces = _whole_text(state.file)
            identity = f"{name}/__module__"
            members = (Member(identity, name, text, False, state.file.futures),) if text else ()
            parts[identity] = pieces
            modules.append(Module(name, state.ref.path, state.ref.package, members))
        if error is None:
            note = Note(f"{own.ref.name} is imported as a whole, as the settings have it")
        else:
            span = self._use_span(own, error.name) if error.module == own.ref.name else None
            note = Note(
                f"`{error.name}` is bound by code that can't be read, so {error.module} is imported as a whole", span
            )
        return self._closure(own, tuple(modules), (), Loading.IMPORT, [note]), parts

    def _use_span(self, own: _State, name: str) -> Span | None:
        """Where the kernel reads a name."""
        if self.kernel.node is None:
            return None
        for node in ast.walk(self.kernel.node):
            if isinstance(node, ast.Name) and node.id == name:
                return span_of(node)
        return None


def _names_of(placed: Placed) -> Sequence[str]:
    return bindings_of(placed.statement).names


def _is_prefix(names: Sequence[str], chain: Sequence[str]) -> bool:
    return tuple(chain[: len(names)]) == tuple(names)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _same_nodes(left: ast.AST, right: ast.AST) -> bool:
    """True if two lifted statements are made of the very same pieces of the same tree."""
    if type(left) is not type(right):
        return False
    if left is right:
        return True
    mine, theirs = list(ast.iter_child_nodes(left)), list(ast.iter_child_nodes(right))
    if len(mine) != len(theirs):
        return False
    if not mine:
        return ast.dump(left) == ast.dump(right)
    return all(_same_nodes(a, b) for a, b in zip(mine, theirs, strict=True))


def _injects(file: PythonFile) -> bool:
    """True if the module binds names in ways that can't be read from its text."""
    found = file.facts.get("injects")
    if found is None:
        found = file.facts["injects"] = _looks_injecting(file)
    return bool(found)


_INJECTORS = ("globals", "exec", "vars", "locals", "__getattr__", "sys.modules", "__dict__")
_UPDATES = frozenset({"update", "setdefault", "__setitem__"})


def _looks_injecting(file: PythonFile) -> bool:
    if not any(word in file.clean for word in _INJECTORS):
        return False
    for placed in file.statements:
        if not any(word in placed.statement.chunk.text for word in _INJECTORS):
            continue
        root = placed.statement.node
        if isinstance(root, ast.FunctionDef) and root.name == "__getattr__":
            return True
        for node in ast.walk(root):
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_namespace(node.value):
                return True
            if isinstance(node, ast.Call):
                function = node.func
                if isinstance(function, ast.Name):
                    if function.id == "exec" or (function.id == "setattr" and node.args and _is_module(node.args[0])):
                        return True
                elif isinstance(function, ast.Attribute) and _is_update(function):
                    return True
    return False


def _is_update(function: ast.Attribute) -> bool:
    """`globals().update`."""
    return function.attr in _UPDATES and _is_namespace(function.value)


def _is_namespace(node: ast.expr) -> bool:
    """`globals()`, `vars()`, `sys.modules[…].__dict__`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("globals", "vars", "locals")
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return _is_module(node.value)
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules"


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) == "sys.modules"


def _module_docstring(file: PythonFile) -> str | None:
    if not file.statements:
        return None
    node = file.statements[0].statement.node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def _all_imports(file: PythonFile) -> Iterator[Target]:
    """Every import of a file, in functions too."""
    for placed in file.statements:
        bound = bindings_of(placed.statement)
        for _, target in bound.imports:
            yield target
        yield from bound.stars
        if "import" in placed.statement.chunk.text:
            for target, _ in reads([placed.statement.node]).imports:
                yield target


_EVERYTHING = "whole"


def _whole_text(file: PythonFile) -> tuple[str, list[Part]]:
    """The whole module normalised, and the parts it consists of."""
    found = file.facts.get(_EVERYTHING)
    if found is None:
        parts: list[Part] = []
        for placed in file.statements:
            form = _whole_form(placed.statement)
            if form is not None:
                parts.append(Part(form.text, form.nodes, file.path, placed.statement.chunk.text, placed.offset))
        found = file.facts[_EVERYTHING] = ("\n".join(part.text for part in parts), parts)
    return found  # type: ignore[return-value]


def _whole_form(statement: Statement) -> Form | None:
    """A statement as it is, without docstrings; None for what says nothing, and for what only a script runs."""
    if _EVERYTHING not in statement.facts:
        node = statement.node
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        skipped = statement.main or future or is_string(node)
        statement.facts[_EVERYTHING] = None if skipped else Form(without_docstrings(node), statement)
    return statement.facts[_EVERYTHING]  # type: ignore[return-value]
