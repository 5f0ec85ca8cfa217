"""From a closure to a kernel object: only the closure's statements are executed, each under its member's id as its
file name.

So every location that a compiler writes is (member, line, column), and `inspect` finds the text through `linecache`.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import linecache
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from . import faults, inputs
from .absent import Absent
from .standins import StandIns

_MAX_VISITED = 4000
_ENTRY = "<entry>"
"""The file name of the entry's expression."""


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one closure. Use as a context: its modules stand in `sys.modules` for as long as the context lasts."""

    def __init__(self, closure: Mapping[str, Any], standins: StandIns, absent: Absent | None = None) -> None:
        """`absent`: what stands for libraries that are not installed; None: that they are not is a fault."""
        self.entry: Mapping[str, Any] = closure["entry"]
        self.whole_module = closure.get("loading") == "import"
        self._roots: Sequence[str] = closure.get("roots", ())
        self._modules = {module["name"]: module for module in closure["modules"]}
        self.sources = {member["id"]: member["text"] for module in closure["modules"] for member in module["members"]}
        self.executed = Executed(
            frozenset(m["id"] for module in closure["modules"] for m in module["members"] if m.get("function"))
        )
        self._standins = standins
        self._absent = absent
        self._builtins = {**builtins.__dict__, "__import__": standins.importer(self.whole_module, absent)}
        self._import = builtins.__import__
        # Modules outside the closure that it imports by name at run time: they find what is there, and what is not.
        self._import_outside = standins.importer(True, absent) if absent is not None else self._import
        self._hidden: dict[str, ModuleType | None] = {}
        self._begun: dict[str, int] = {}
        """Of modules that are being executed, at which member."""
        self._parents = {} if self.whole_module else dict(_parent_packages(closure["modules"]))

    def __enter__(self) -> Loader:
        # Modules that the worker has loaded for itself must not take the place of the workspace's.
        for name in (*self._modules, *self._parents):
            self._hidden[name] = sys.modules.pop(name, None)
        builtins.__import__ = self._import_outside
        sys.meta_path.insert(0, self)
        sys.path[0:0] = [root for root in self._roots if root not in sys.path]
        if self._roots and os.path.isdir(self._roots[0]):
            os.chdir(self._roots[0])
        for member, text in self.sources.items():
            linecache.cache[member] = (len(text), None, _lines(text), member)
        inputs.start(self.sources.keys())
        return self

    def __exit__(self, *error: object) -> None:
        inputs.stop()
        builtins.__import__ = self._import
        sys.meta_path.remove(self)
        for name, module in self._hidden.items():
            if module is not None:
                sys.modules[name] = module
        self._standins.adopt_real()

    def load(self) -> tuple[Any, ModuleType]:
        """What the entry's expression evaluates to, and its module. Raises `faults.Refused`."""
        with self.executed.tracing():
            try:
                module = self._imported()
                expression = compile(self.entry["expression"], _ENTRY, "eval", dont_inherit=True)
                return eval(expression, module.__dict__), module
            except BaseException as error:
                fault = self.fault_of(error)
                name = _argument_at(self.entry["expression"], faults.chain_of(error.__traceback__, (_ENTRY,)))
                raise faults.Refused({**fault, "argument": name} if name else fault) from error

    def _imported(self) -> ModuleType:
        """The entry's module. Two that import each other may only bear to be imported the other way round."""
        try:
            return importlib.import_module(self.entry["module"])
        except ImportError as error:
            importer = next((place[0].partition("/")[0] for place in self.fault_of(error).get("chain", ())), "")
            if error.name not in self._modules or importer in ("", error.name, self.entry["module"]):
                raise
            try:
                for name in self._modules:
                    sys.modules.pop(name, None)
                importlib.import_module(importer)
                return importlib.import_module(self.entry["module"])
            except ImportError:
                raise error from None

    def evaluate(self, expression: str, module: ModuleType) -> Any:
        """A value that an argument names, in the kernel's module. Raises `faults.Refused`."""
        with self.executed.tracing():
            try:
                return eval(compile(expression, "<argument>", "eval", dont_inherit=True), module.__dict__)
            except BaseException as error:
                fault = self.fault_of(error)
                if not fault.get("chain"):
                    fault["message"] += f" (in `{expression}`, of an argument)"
                raise faults.Refused(fault) from error

    def fault_of(self, error: BaseException) -> faults.Fault:
        return faults.from_exception(error, self.sources.keys(), self.sources)

    # -- the finder and loader protocols -----------------------------------------------------------------------------

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        module = self._modules.get(name)
        if module is None and name not in self._parents:
            return None
        origin = module["path"] if module else os.path.join(self._parents[name], "__init__.py")
        package = module is None or module["package"]
        spec = importlib.machinery.ModuleSpec(name, self, origin=origin, is_package=package)
        if package:
            spec.submodule_search_locations = [os.path.dirname(origin)]
        spec.has_location = True
        spec.cached = None
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._builtins
        described = self._modules.get(module.__name__)
        if self._absent is not None:
            module.__dict__["__getattr__"] = functools.partial(self._unbound, module.__name__)
        members = described["members"] if described else ()
        for index, member in enumerate(members):
            self._begun[module.__name__] = index
            if self._absent is not None and self.whole_module:
                self._execute_by_statement(module, member, _flags(member.get("future", ())))
                continue
            code = code_of(member)
            if member.get("function"):
                self.executed.watch(code)
            try:
                with self.executed.tracing(not _calls_nothing(member)):
                    exec(code, module.__dict__)
            except Exception as error:
                self._miss(module, ast.parse(member["text"]), error)
        self._begun.pop(module.__name__, None)

    def _unbound(self, module: str, name: str) -> Any:
        """`from package import module` asks the package first, and takes any answer."""
        inner = f"{module}.{name}"
        if inner in self._modules or inner in self._parents:
            return importlib.import_module(inner)
        to_come = self._modules[module]["members"][self._begun[module] + 1 :] if module in self._begun else ()
        if any(name in _bound(ast.parse(member["text"])) for member in to_come):
            raise AttributeError(f"partially initialized module {module!r} has no attribute {name!r} ({_CIRCULAR})")
        assert self._absent is not None
        return self._absent.unbound(module, name)

    def _execute_by_statement(self, module: ModuleType, member: Mapping[str, Any], flags: int) -> None:
        """What can't run here takes nothing but itself with it."""
        for statement in ast.parse(member["text"]).body:
            tree = ast.Module([statement], [])
            try:
                exec(compile(tree, member["id"], "exec", flags, dont_inherit=True), module.__dict__)
            except Exception as error:
                self._miss(module, tree, error)

    def _miss(self, module: ModuleType, tree: ast.AST, error: Exception) -> None:
        """Host code failed: it is absent, as a library would be, and says why where it is missed.

        Raises the error where the kernel itself is what failed, or where nothing may be absent.
        """
        names = _bound(tree)
        circular = isinstance(error, (ImportError, AttributeError)) and _CIRCULAR in str(error)
        if self._absent is None or circular or self._binds_entry(module.__name__, names):
            raise error
        self._absent.lost(module, names, faults.describe(error))

    def _binds_entry(self, module: str, names: set[str]) -> bool:
        root = ast.parse(self.entry["expression"], mode="eval")
        return module == self.entry["module"] and any(
            isinstance(node, ast.Name) and node.id in names for node in ast.walk(root)
        )


#: As Python says it of an import, too.
_CIRCULAR = "most likely due to a circular import"


def _bound(tree: ast.AST) -> set[str]:
    """Names that statements bind in their module."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
    return names - {"*"}


def _calls_nothing(member: Mapping[str, Any]) -> bool:
    """True of what runs no function of the closure: its decorators leave it what it is, or it is an import."""
    text: str = member["text"]
    return bool(member.get("function")) or (text.startswith(("import ", "from ")) and "\n" not in text)


def _flags(future: Sequence[str]) -> int:
    return functools.reduce(lambda flags, name: flags | getattr(__future__, name).compiler_flag, future, 0)


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


def _parent_packages(modules: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Packages that hold a module of the closure and are not in it: their `__init__` must not run. Name → folder."""
    names = {module["name"] for module in modules}
    for module in modules:
        folder = os.path.dirname(module["path"])
        if module["package"]:
            folder = os.path.dirname(folder)
        name = module["name"].rpartition(".")[0]
        while name:
            if name not in names:
                yield name, folder
            name, folder = name.rpartition(".")[0], os.path.dirname(folder)


def code_of(member: Mapping[str, Any]) -> CodeType:
    """Of a member. Each is compiled once."""
    return _compiled(member["text"], member["id"], tuple(member.get("future", ())))


@functools.lru_cache(maxsize=4096)
def _compiled(text: str, name: str, future: Sequence[str]) -> CodeType:
    return compile(text, name, "exec", _flags(future), dont_inherit=True)


class Executed:
    """Which function members ran as plain Python: whatever ran is something that the result depends on.

    From Python 3.12 on the interpreter reports the start of just these functions, at no cost to others. Before, calls
    are traced while the closure is loaded, and code that the compiler evaluates later counts as having called them all.
    """

    def __init__(self, functions: frozenset[str]) -> None:
        self._functions = functions
        self._seen: set[str] = set()
        self._monitoring = _monitoring(self._seen)

    @property
    def members(self) -> set[str]:
        return set(self._seen)

    def watch(self, code: CodeType) -> None:
        """`code`: of the statement that defines a function member."""
        if self._monitoring is not None:
            for constant in code.co_consts:
                if isinstance(constant, CodeType):
                    self._monitoring.set_local_events(_TOOL, constant, self._monitoring.events.PY_START)
                    self.watch(constant)

    def assume_all(self, but: Collection[str] = ()) -> None:
        """Code ran that may have called any of them, unseen, `but` those that only a compiler enters."""
        if self._monitoring is None:
            self._seen |= self._functions.difference(but)

    @contextlib.contextmanager
    def tracing(self, on: bool = True) -> Iterator[None]:
        """`on` False: while nothing runs that could call any of them. Tracing slows everything down by a half."""
        if self._monitoring is not None or not self._functions:
            yield
            return
        before = sys.gettrace()
        sys.settrace(self._trace if on else None)
        try:
            yield
        finally:
            sys.settrace(before)

    def _trace(self, frame: Any, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if name in self._functions and frame.f_code.co_name != "<module>":
            self._seen.add(name)


_TOOL = 4


def _monitoring(seen: set[str]) -> Any:
    """`sys.monitoring`, set to add the file name of a watched function to `seen` when it starts; None where it isn't
    to be had.
    """
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or monitoring.get_tool(_TOOL) not in (None, "tile-lsp"):
        return None
    if monitoring.get_tool(_TOOL) is None:
        monitoring.use_tool_id(_TOOL, "tile-lsp")

    def started(code: CodeType, offset: int) -> Any:
        seen.add(code.co_filename)
        return monitoring.DISABLE

    monitoring.register_callback(_TOOL, monitoring.events.PY_START, started)
    return monitoring


def find_kernel(
    found: Any, qualname: str, is_kernel: Callable[[Any], bool], qualname_of: Callable[[Any], str]
) -> Any | None:
    """The kernel in what an entry evaluates to: itself, or what other decorators and factories wrapped it in.

    Looks through `__wrapped__`, attributes, closures, containers, partials and bound methods, nearest first. One of
    the right qualified name wins; else the only one there is.
    """
    kernels: list[Any] = []
    queue: deque[Any] = deque([found])
    visited: set[int] = set()
    while queue and len(visited) < _MAX_VISITED:
        value = queue.popleft()
        if id(value) in visited or value is None or isinstance(value, (str, bytes, int, float, ModuleType)):
            continue
        visited.add(id(value))
        if is_kernel(value):
            if qualname_of(value) == qualname:
                return value
            kernels.append(value)
        else:
            queue.extend(_within(value))
    return kernels[0] if len(kernels) == 1 else None


def _argument_at(expression: str, places: Sequence[faults.Place]) -> str | None:
    """The name of the argument that one of these places of an expression is in."""
    found = None
    for _, line, column, end_line, end_column in places:
        for node in ast.walk(ast.parse(expression, mode="eval")):
            if isinstance(node, ast.keyword) and node.arg is not None:
                start = (node.value.lineno, node.value.col_offset)
                end = (node.value.end_lineno or 0, node.value.end_col_offset or 0)
                if start <= (line, column) and (end_line, end_column) <= end:
                    found = node.arg
    return found


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    elif isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    else:
        wrapped = _attribute(value, "__wrapped__")
        if wrapped is not None:
            yield wrapped
        attributes = _attribute(value, "__dict__")
        if isinstance(attributes, Mapping):
            yield from attributes.values()
        for name in _slots(type(value)):
            yield _attribute(value, name)
        if isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                try:
                    yield cell.cell_contents
                except ValueError:
                    continue


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:
        return None
