"""The slice of the workspace that one kernel needs: its members, put together from what `needs` found.

What no statement binds widens the version to its whole module; a module that binds names in ways that can't be read is
imported as a whole.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from tile_lsp.analysis.language import Blocked, ClosureResult
from tile_lsp.analysis.positions import Part, Positions
from tile_lsp.model.closure import Closure, Entry, Loading, Member, Module, Note
from tile_lsp.model.job import digest
from tile_lsp.model.location import SourceRange, Span

from .forms import Form, module_docstring, whole_text
from .index import bindings_of
from .kernels import KernelSite
from .needs import BlockedError, InjectedError, ModuleState, Needs, Registers
from .parse import PythonFile
from .scope import Chain, Target, reads, reads_of
from .text import span_of
from .unseen import unseen_changes
from .workspace import Workspace

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
    needs = Needs(kernel, workspace, bindings, expressions, registers)
    try:
        closure, members = _Assembly(needs).build()
    except BlockedError as error:
        return ClosureResult(None, Positions(), needs.files, workspace.missing, error.blocked)
    return ClosureResult(closure, Positions(members), needs.files, workspace.missing, None, needs.instances)


class _Assembly:
    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self.kernel = needs.kernel
        self.workspace = needs.workspace

    def build(self) -> tuple[Closure, dict[str, list[Part]]]:
        try:
            self.needs.find()
        except InjectedError as error:
            return self._imported(error)
        return self._imported(None) if self.workspace.whole else self._sliced()

    def _sliced(self) -> tuple[Closure, dict[str, list[Part]]]:
        own = self.needs.own
        others = [state for state in self.needs.states.values() if state is not own]
        states = [own, *sorted(others, key=lambda state: state.ref.name)]
        host = self._run_by_python(states)
        parts: dict[str, list[Part]] = {}
        modules = tuple(self._module(state, host, parts) for state in states)
        covers = [digest(state.ref.name, whole_text(state.file)[0]) for state in states if state.unresolved] + [
            state.file.path for state in states if state.paths_read
        ]
        return self._closure(modules, tuple(covers), Loading.SLICE, self._notes()), parts

    def _closure(
        self, modules: tuple[Module, ...], covers: tuple[str, ...], loading: Loading, notes: Sequence[Note]
    ) -> Closure:
        own = self.needs.own
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
            externals=tuple(sorted(self.needs.externals)),
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

    def _notes(self) -> list[Note]:
        own, notes = self.needs.own, []
        if self.needs.instances and len(self.needs.instances) > 1:
            notes.append(
                Note(f"as made by `{self.needs.instances[0]}`; also made by " + _listed(self.needs.instances[1:]))
            )
        elif own.lifted is not None and "(" in own.lifted.expression:
            notes.append(Note(f"as made by `{own.lifted.expression}`"))
        for state in self.needs.states.values():
            if state.unresolved:
                names = _listed(sorted(state.unresolved))
                where = "" if state is own else f" in {state.ref.name}"
                notes.append(Note(f"{names}{where}: bound nowhere, so every edit of the module counts"))
            for name, code in unseen_changes(state.file, state.needs, frozenset(state.forms)):
                mends = 'if so, set tile-lsp.loading to "import"'
                notes.append(Note(f"`{name}` may be changed by `{code}`, which is not run: {mends}"))
        return notes

    def _run_by_python(self, states: Sequence[ModuleState]) -> set[tuple[str, str]]:
        """Functions (module, name) that Python may call while the closure is loaded: part of the meaning even where
        no compiler enters them."""
        found: set[tuple[str, str]] = set()
        queue: list[tuple[ModuleState, Chain]] = []
        for state in states:
            for form in self._all_forms(state):
                if form is self.needs.lifted_form:
                    continue
                plain = isinstance(form.node, _FUNCTIONS) and self._is_stateless(state, form.node)
                queue.extend((state, chain) for chain in (form.reads.immediate if plain else form.reads.chains))
            if state.lifted is not None:
                around = state.lifted.around.chains
                queue.extend((state, chain) for chain in around if chain[0] != state.lifted.name)
                queue.extend((state, chain) for chain in self.needs.evaluated.chains)
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

    def _all_forms(self, state: ModuleState) -> Iterator[Form]:
        yield from state.forms.values()
        if state.lifted is not None and self.needs.uses_lifted(state) and self.needs.lifted_form is not None:
            yield self.needs.lifted_form

    def _is_stateless(self, state: ModuleState, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self.workspace.resolve_name(state.file, function) or ast.unparse(function)
            if name not in _STATELESS:
                return False
        return True

    def _module(self, state: ModuleState, host: set[tuple[str, str]], parts: dict[str, list[Part]]) -> Module:
        ordered: list[tuple[int, Form, bool]] = [(index, form, False) for index, form in state.forms.items()]
        if state.lifted is not None and self.needs.uses_lifted(state) and self.needs.lifted_form is not None:
            ordered.append((state.anchor, self.needs.lifted_form, True))
        ordered.sort(key=lambda item: (item[0], item[2]))
        counts: dict[str, int] = {}
        members: list[Member] = []
        wanted = set(state.needs) | {name for _, _, name in state.stars}
        if state.lifted is not None:
            wanted.add(state.lifted.name)
        if self.needs.documents and (text := module_docstring(state.file)) is not None:
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

    def _imported(self, error: InjectedError | None) -> tuple[Closure, dict[str, list[Part]]]:
        """Every workspace module that the kernel's imports, whole."""
        for state in self.needs.states.values():
            state.needs.clear()
        own = self.needs.own
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
                raise BlockedError(Blocked(message, SourceRange(state.file.path, region.problem.span), syntax=True))
            for target in _all_imports(state.file):
                refs = list(self.workspace.modules(target, state.ref))
                if not refs and not target.level:
                    self.needs.external(target.loads or target.module)
                if target.loads:
                    refs += self.workspace.finder.absolute(target.loads, state.ref.path)
                if refs and target.member and (below := self.workspace.finder.submodule(refs[-1], target.member)):
                    refs.append(below)
                self.needs.add_modules(refs)
                queue.extend(self.needs.states[ref.name] for ref in refs if ref.name in self.needs.states)
        others = sorted(name for name in seen if name != own.ref.name)
        parts: dict[str, list[Part]] = {}
        modules = []
        for name in (own.ref.name, *others):
            state = self.needs.states[name]
            text, pieces = whole_text(state.file)
            identity = f"{name}/__module__"
            members = (Member(identity, name, text, False, state.file.futures),) if text else ()
            parts[identity] = pieces
            modules.append(Module(name, state.ref.path, state.ref.package, members))
        if error is None:
            note = Note(f"{own.ref.name} is imported as a whole, as the settings have it")
        else:
            span = self._use_span(error.name) if error.module == own.ref.name else None
            note = Note(
                f"`{error.name}` is bound by code that can't be read, so {error.module} is imported as a whole", span
            )
        return self._closure(tuple(modules), (), Loading.IMPORT, [note]), parts

    def _use_span(self, name: str) -> Span | None:
        """Where the kernel reads a name."""
        if self.kernel.node is None:
            return None
        for node in ast.walk(self.kernel.node):
            if isinstance(node, ast.Name) and node.id == name:
                return span_of(node)
        return None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


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
