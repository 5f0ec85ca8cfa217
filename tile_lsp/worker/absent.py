"""What stands for a library that is not installed, for closures whose compiler needs nothing of it.

Kernels' files ask array libraries about the machine (`torch.cuda.get_device_capability()`), or wrap their host code in
them. A driver that can do without gives answers for what it knows; anything else is a value that says no: false,
empty, zero, and whatever is taken of it is such a value again. A decorator that is absent leaves a function as it is.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

#: Libraries that are taken to be there, whatever is installed: files that import them are not written for less.
_EXPECTED = frozenset({"torch", "numpy", "packaging", "einops"})
_VERSIONS = "packaging.version"
#: Names of functions that say whether a library is there: `is_triton_available()`, `package_available("triton")`.
_ASKS = re.compile(r"(^|_)(available|installed|has|have|exists|importable)(_|$)", re.IGNORECASE)

Make = Callable[[str], ModuleType]
Placeholder = Callable[[str], Any]


class Absent:
    """The absent libraries of one load, and what was asked of them."""

    def __init__(self, answers: Mapping[str, Any], compilers: Iterable[str] = ()) -> None:
        """`compilers`: libraries that the driver has, as they are imported."""
        self.answers = answers
        self._compilers = frozenset(compilers)
        self._nodes = {path.rpartition(".")[0] for path in answers}
        self._nodes |= {path.rpartition(".")[0] for path in self._nodes}
        self._modules: dict[str, ModuleType] = {}
        self._placeholders: dict[str, Placeholder] = {}
        self._guards: dict[str, list[tuple[int, int]]] = {}
        self._whys: dict[str, str] = {}

    def is_missing(self, top: str) -> bool:
        if top in sys.stdlib_module_names or top in sys.modules:
            return False
        try:
            return importlib.util.find_spec(top) is None
        except (ImportError, ValueError):
            return True

    def has(self, *names: object) -> bool:
        """True if one of them is a library that is there, or is taken to be."""
        libraries = (name for name in names if isinstance(name, str))
        return any(name in _EXPECTED or name in self._compilers for name in libraries)

    def imported(
        self, name: str, fromlist: Any, standin: Make | None = None, placeholder: Placeholder | None = None
    ) -> ModuleType:
        """What `import name` gives, in the form that `__import__` has it. `standin`: other stand-ins, whose own
        attributes win. `placeholder`: for what there is no answer to, where the library is there after all.

        Raises `ModuleNotFoundError` where the code is prepared for the library to be missing.
        """
        top = name.partition(".")[0]
        if top not in _EXPECTED and self._is_guarded(sys._getframe(2)):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        if placeholder is not None:
            self._placeholders[top] = placeholder
        module = self._module(name, standin)
        return module if fromlist else self._module(top, standin)

    def _module(self, name: str, standin: Make | None) -> ModuleType:
        known = self._modules.get(name)
        if known is None:
            known = _packaging(name) or _absent_module(name, self, standin(name) if standin is not None else None)
            self._modules[name] = known
            parent, _, leaf = name.rpartition(".")
            if parent:
                self._module(parent, standin).__dict__[leaf] = known
        return known

    def lost(self, module: ModuleType, names: Iterable[str], why: str) -> None:
        """Bind what code that failed would have bound."""
        for name in names:
            path = f"{module.__name__}.{name}"
            self._whys[path] = why
            module.__dict__.setdefault(name, Nothing(path, self))

    def unbound(self, module: str, name: str) -> Any:
        """`__getattr__` of a module of the closure: for what it would have, had it been executed as a whole."""
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{module}.{name}"
        self._whys.setdefault(path, "nothing binds it where its module is not executed as a whole")
        return Nothing(path, self)

    def why(self, path: str) -> str:
        """Why that is not there, for people."""
        for known, why in self._whys.items():
            if path == known or path.startswith((f"{known}.", f"{known}(", f"{known}[")):
                return f"{known} could not be had: {why}"
        return f"{path.partition('.')[0]} is not installed in {sys.executable}"

    def attribute(self, path: str) -> Any:
        if path == _VERSIONS:
            # `from packaging import version`, of a package that nobody imported as a module.
            return self._module(path, None)
        if path.endswith((".Version", ".parse_version")):
            # Whoever's it is: a comparison that always said no would choose the branch for old versions.
            return Version
        if path in self.answers:
            value = self.answers[path]
            if value is NotImplemented:
                raise AttributeError(f"{path.partition('.')[0]} has no {path.partition('.')[2]}")
            plain = path.endswith(("__version__", "version.cuda", "version.hip", "version.xpu"))
            return value if plain or isinstance(value, ModuleType) else _Answer(path, self, value)
        if path in self._nodes:
            return self._module(path, None)
        placeholder = self._placeholders.get(path.partition(".")[0])
        found = placeholder(path) if placeholder is not None else None
        return Nothing(path, self) if found is None else found

    def _is_guarded(self, frame: Any) -> bool:
        """True if the import stands in a `try`."""
        name = frame.f_code.co_filename
        if name not in self._guards:
            try:
                tree = ast.parse("".join(linecache.getlines(name)))
            except SyntaxError:
                tree = ast.Module([], [])
            self._guards[name] = [
                (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
                for node in ast.walk(tree)
                if isinstance(node, ast.Try) and node.handlers
            ]
        return any(first <= frame.f_lineno <= last for first, last in self._guards[name])


def _absent_module(name: str, absent: Absent, base: ModuleType | None) -> ModuleType:
    """Compilers tell modules from other values by their very type, so it is one of that and of no class of ours."""

    def attribute(leaf: str) -> Any:
        path = f"{name}.{leaf}"
        if base is not None and leaf in base.__dict__ and not isinstance(base.__dict__[leaf], ModuleType):
            return base.__dict__[leaf]
        if leaf.startswith("__") and path not in absent.answers:
            raise AttributeError(leaf)
        value = absent.attribute(path)
        setattr(module, leaf, value)
        return value

    module = ModuleType(name)
    module.__path__ = []
    module.__getattr__ = attribute  # type: ignore[method-assign]
    return module


def reason(value: object) -> str | None:
    """Why a value is nothing; None for one that is something."""
    return value._absent.why(value._path) if isinstance(value, Nothing) else None


class Nothing:
    """A value of an absent library."""

    def __init__(self, path: str, absent: Absent) -> None:
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_absent", absent)
        object.__setattr__(self, "__name__", path.rpartition(".")[2])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._absent.attribute(f"{self._path}.{name}")
        object.__setattr__(self, name, value)
        return value

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if _ASKS.search(self.__name__) and self._absent.has(*re.split("_+", self.__name__), *arguments):
            return True
        if len(arguments) == 1 and not keywords and callable(arguments[0]) and not isinstance(arguments[0], Nothing):
            return arguments[0]
        return Nothing(f"{self._path}()", self._absent)

    def __repr__(self) -> str:
        return f"<absent {self._path}>"

    def __hash__(self) -> int:
        return hash(self._path)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(())

    def __contains__(self, item: object) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    __index__ = __int__

    def __float__(self) -> float:
        return 0.0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> bool:
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __getitem__(self, item: object) -> Any:
        return Nothing(f"{self._path}[]", self._absent)

    def __setitem__(self, item: object, value: object) -> None:
        pass

    def _compared(self, other: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def _combined(self, other: object = None) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _combined
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __or__ = __ror__ = __and__ = __rand__ = __pow__ = _combined


class _Answer(Nothing):
    """An attribute with a known answer, whether it is called or read."""

    def __init__(self, path: str, absent: Absent, value: Any) -> None:
        super().__init__(path, absent)
        object.__setattr__(self, "_value", value)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._value

    def __bool__(self) -> bool:
        return True


def _packaging(name: str) -> ModuleType | None:
    """`packaging.version`, which files compare versions with: a stand-in that always said no would choose wrong."""
    if name != _VERSIONS:
        return None
    module = ModuleType(name)
    module.Version = module.LegacyVersion = module.parse = Version  # type: ignore[attr-defined]
    return module


class Version:
    """Release numbers in their order; what follows them is left out."""

    def __init__(self, text: object) -> None:
        numbers = re.match(r"v?(\d+(?:\.\d+)*)", str(text))
        self.release = tuple(int(part) for part in numbers[1].split(".")) if numbers else (0,)
        self.base_version = self.public = ".".join(map(str, self.release))
        self.major, self.minor, self.micro = (*self.release, 0, 0, 0)[:3]

    def __str__(self) -> str:
        return self.public

    def _key(self) -> tuple[int, ...]:
        release = list(self.release)
        while release and release[-1] == 0:
            release.pop()
        return tuple(release)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __le__(self, other: Version) -> bool:
        return self._key() <= other._key()

    def __gt__(self, other: Version) -> bool:
        return self._key() > other._key()

    def __ge__(self, other: Version) -> bool:
        return self._key() >= other._key()
