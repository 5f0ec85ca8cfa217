"""What one kernel needs of the workspace: a fixpoint.

The kernel's statement reads names; the statements that bind or change these, cut down to them, read further names; an
import leads into another module of the workspace, where only what is used of it is needed.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn

from tile_lsp.analysis.language import Blocked
from tile_lsp.model.location import SourceRange

from .forms import Form, form_of, whole_form
from .imports import ModuleRef
from .index import Index, bindings_of, index_of
from .injects import injects
from .kernels import KernelSite, walk_path
from .nested import Lifted, Unbound, lift
from .parse import Broken, Placed, PythonFile, Statement
from .prune import Need
from .scope import Chain, Reads, Target, chain_of, parse_expression, reads
from .text import shifted, span_of
from .workspace import Workspace

#: The rest of a chain for an import that is only executed: nothing is taken of what it binds.
_TOUCHED: Chain = ("",)
_BUILTINS = frozenset(dir(builtins))
_IMPLICIT = frozenset(
    {"__name__", "__spec__", "__package__", "__loader__", "__builtins__", "__annotations__", "__dict__", "__class__"}
)
_PATHS = frozenset({"__file__", "__path__", "__cached__"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


Registers = Callable[[Workspace, PythonFile, frozenset[str]], Iterable[int]]
"""Of a module and the names that are needed of it: the indices of statements that tell a compiler something."""


class BlockedError(Exception):
    def __init__(self, blocked: Blocked) -> None:
        super().__init__(blocked.message)
        self.blocked = blocked


class InjectedError(Exception):
    """A needed name is bound by code that can't be read: the module must be imported."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(name)
        self.module = module
        self.name = name


@dataclasses.dataclass
class ModuleState:
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


class Needs:
    """Of one kernel. `find` it first."""

    own: ModuleState
    """The kernel's module."""

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
        self.states: dict[str, ModuleState] = {}
        self.externals: set[str] = set()
        self.documents = False
        """Something looks at docstrings."""
        self.instances: tuple[str, ...] = ()
        self.lifted_form: Form | None = None

    @property
    def files(self) -> frozenset[str]:
        return frozenset(state.file.path for state in self.states.values()) | {self.kernel.path}

    def find(self) -> None:
        """Raises `BlockedError`, and `InjectedError`."""
        file = self.workspace.file(self.kernel.path)
        if file is None:
            raise BlockedError(Blocked(f"there is no file {self.kernel.path}"))
        if self.kernel.broken or self.kernel.anchor is None:
            self._block_broken_kernel(file)
        assert self.kernel.anchor is not None
        ref = self.workspace.own_module(self.kernel.path)
        self.own = ModuleState(ref, file, index_of(file))
        self.states[ref.name] = self.own
        placed = file.statements[self.kernel.anchor.index]
        self.own.main = placed.statement.main
        self.own.anchor = placed.index
        self._work_out(self.own, placed)

    def _work_out(self, own: ModuleState, placed: Placed) -> None:
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
                raise BlockedError(self._unbound(lifted, placed))
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
        chain = chain_of(node.func if isinstance(node, ast.Call) else node)
        language = self.kernel.decorator_name.rpartition(".")[0]
        names = [meaning.dotted for meaning in self.workspace.meanings(file, chain, scopes)] if chain else []
        # Its own, or of a package around it: `triton.autotune` above `triton.experimental.gluon.jit`. What a fallback
        # makes of the name where there is no such package counts for nothing.
        return any(n.startswith(f"{language}.") or language.startswith(f"{n.rpartition('.')[0]}.") for n in names)

    # -- what is needed

    def _round(self, state: ModuleState) -> None:
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
        if state.lifted is not None and self.uses_lifted(state) and self.lifted_form is not None:
            form = self.lifted_form
            if id(form) not in state.done:
                state.done.add(id(form))
                self._read(state, form.reads)

    def uses_lifted(self, state: ModuleState) -> bool:
        """False where the class around the kernel is needed as a whole: then the kernel is in there."""
        lifted = state.lifted
        return lifted is not None and not (isinstance(lifted.statement, ast.ClassDef) and lifted.name in state.needs)

    def _rebinds(self, state: ModuleState) -> bool:
        """True for `k = ct.kernel(k)`: what it reads is what the name was before."""
        lifted = state.lifted
        return (
            lifted is not None
            and isinstance(lifted.statement, ast.Assign)
            and any(isinstance(node, ast.Name) and node.id == lifted.name for node in ast.walk(lifted.statement.value))
        )

    def _forms(self, state: ModuleState) -> dict[int, Form]:
        """The statements that are needed so far, cut down to what is needed of them."""
        names = set(state.needs)
        hidden = state.lifted.name if state.lifted is not None and self.uses_lifted(state) else None
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
                form = whole_form(state.file.statements[i].statement) if i != state.anchor else None
                if form is not None:
                    forms[i] = form
        return forms

    def _is_mutable(self, state: ModuleState, name: str) -> bool:
        """False for a module or a function: calling its methods, as in `ct.launch(…)`, doesn't change what it is."""
        if name not in state.mutable:
            state.mutable[name] = name in state.index.calls and self._has_changing_methods(state, name)
        return state.mutable[name]

    def _has_changing_methods(self, state: ModuleState, name: str) -> bool:
        for placed in state.index.binders_of(state.file, name, state.main):
            bound = bindings_of(placed.statement)
            if name in bound.plain:
                return True
            if any(bound_name == name for bound_name, _ in bound.imports):
                for meaning in self.workspace.meanings(state.file, (name,)):
                    if isinstance(meaning.node, (ast.ClassDef, ast.expr)) and not isinstance(meaning.node, ast.Lambda):
                        return True
        return False

    def _sets_globals(self, state: ModuleState, name: str) -> bool:
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

    def _loads(self, state: ModuleState) -> frozenset[str]:
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

    def _plain_imports(self, state: ModuleState, name: str) -> list[str]:
        """`["a.b", "a.c"]` for what `import a.b` and `import a.c` load."""
        return [
            target.loads or target.module
            for placed in state.index.binders_of(state.file, name, state.main)
            for bound, target in bindings_of(placed.statement).imports
            if bound == name and target.member is None
        ]

    def _read(self, state: ModuleState, found: Reads, skip: str | None = None) -> None:
        self.documents = self.documents or found.documents
        for chain in found.chains:
            if chain[0] != skip:
                self._need(state, chain, hard=chain[0] in found.hard)
        for target, rest in found.imports:
            self._follow(state, target, rest)

    def _need(self, state: ModuleState, chain: Chain, *, hard: bool) -> None:
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
        elif injects(state.file):
            raise InjectedError(state.ref.name, name)
        else:
            state.unresolved.add(name)

    def _need_from_star(self, state: ModuleState, name: str, rest: Chain, *, external: bool) -> bool:
        """True if a star import gives the name; with `external`, if one of a third-party module may."""
        outside = False
        for _, target in state.index.stars:
            refs = self.workspace.modules(target, state.ref)
            self.add_modules(refs)
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
                self.external(target.module)
        state.dirty = True
        return True

    def _follow(self, state: ModuleState, target: Target, rest: Chain) -> None:
        """An import in `state`'s module, of which `rest` is taken."""
        refs = self.workspace.modules(target, state.ref)
        if not refs:
            self._block_refused(target)
            if not target.level:
                self.external(target.loads or target.module)
            return
        self.add_modules(refs)
        if target.loads:
            self.add_modules(self.workspace.finder.absolute(target.loads, state.ref.path))
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
            self.add_modules((below,))
            self._use(below, rest)
        else:
            self._block_refused(Target(module.name, 0, name))
            if state is not None:
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
                self.external(target.module)
            elif inner := self.workspace.file(refs[-1].path):
                self.add_modules(refs)
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

    def add_modules(self, refs: Iterable[ModuleRef]) -> None:
        for ref in refs:
            if ref.path and ref.name not in self.states and (file := self.workspace.file(ref.path)) is not None:
                self.states[ref.name] = ModuleState(ref, file, index_of(file))

    def external(self, dotted: str) -> None:
        top = dotted.partition(".")[0]
        if top and not self.workspace.finder.is_stdlib(top):
            self.externals.add(top)

    # -- faults

    def _block_broken_kernel(self, file: PythonFile) -> NoReturn:
        for region in file.broken:
            if region.span.line <= self.kernel.span.line <= region.span.end_line:
                at = SourceRange(file.path, region.problem.span)
                raise BlockedError(Blocked(region.problem.message, at, syntax=True))
        for region in file.broken:
            message = f"line {region.problem.span.line}: {region.problem.message}"
            raise BlockedError(Blocked(message, SourceRange(file.path, region.problem.span), syntax=True))
        raise BlockedError(
            Blocked("the kernel's text is broken", SourceRange(file.path, self.kernel.span), syntax=True)
        )

    def _block_refused(self, target: Target) -> None:
        """What we don't read the worker must not: it might never end."""
        if why := self.workspace.refused(target):
            raise BlockedError(Blocked(f"`{self.kernel.qualname}` imports what can't be read: {why}"))

    def _block_broken(self, state: ModuleState, name: str) -> None:
        self._block(state, name, next(region for region in state.file.broken if name in region.names))

    def _block(self, state: ModuleState, name: str, region: Broken) -> NoReturn:
        where = "" if state.file.path == self.kernel.path else f" of {state.file.path.rpartition('/')[2]}"
        raise BlockedError(
            Blocked(
                f"`{name}`, which `{self.kernel.qualname}` needs, is in broken text{where}: {region.problem.message}",
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


def _names_of(placed: Placed) -> Sequence[str]:
    return bindings_of(placed.statement).names


def _is_prefix(names: Sequence[str], chain: Sequence[str]) -> bool:
    return tuple(chain[: len(names)]) == tuple(names)


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
