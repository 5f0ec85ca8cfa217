"""Stand-ins for array libraries whose dtypes and annotations kernels name.

`import torch` takes seconds, and nearly every file that holds a kernel does it, for the sake of its host code. A
closure's modules get a light stand-in: dtypes that the compiler knows, classes for annotations, and a *placeholder*
for anything else. Using a placeholder (calling it, subclassing it, testing it) imports the real library, or says that
it is missing. Modules outside the closure always get the real one.

The stand-ins are not in `sys.modules`: a closure's modules reach them through an `__import__` of their own.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from . import distributions
from .absent import Absent
from .dtypes import NUMPY_NAMES, TORCH_NAMES, finfo, iinfo

Register = Callable[[object, str], None]
"""Tells a compiler that an object means the dtype of that cuTile name."""

_DISTRIBUTIONS = {"torch": "torch", "numpy": "numpy", "cupy": "cupy-cuda13x", "jax": "jax", "ml_dtypes": "ml_dtypes"}
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e, "newaxis": None}


class Missing(ImportError):
    """A library is needed for more than its dtypes, and is not installed."""

    def __init__(self, path: str, top: str) -> None:
        super().__init__(f"{path} is used when the kernel is loaded, and {top} is not installed in {sys.executable}")
        self.help = distributions.pip(_DISTRIBUTIONS.get(top, top))


class StandIns:
    def __init__(self) -> None:
        self._registers: list[Register] = []
        self._modules: dict[str, StandIn] = {}
        for name in ("torch", "numpy", "cupy", "jax", "jax.numpy", "ml_dtypes"):
            self._make(name)
        self.dtypes = [(value, name) for module in self._modules.values() for value, name in module.__dtypes__]

    @property
    def torch(self) -> ModuleType:
        return self._modules["torch"]

    def add_register(self, register: Register) -> None:
        """Register every stand-in dtype, and remember how, for the real ones."""
        self._registers.append(register)
        for value, name in self.dtypes:
            register(value, name)

    def importer(self, whole_module: bool, absent: Absent | None = None) -> Callable[..., ModuleType]:
        """An `__import__` for the modules of a closure. `whole_module`: their top level runs too, so a library that
        is there is used. `absent`: answers for libraries that are not, for a driver that can do without them.
        """
        slow = {"torch"} if not whole_module and "torch" not in sys.modules else frozenset()
        stood_for: dict[str, bool] = {}
        real_import = builtins.__import__

        def stands_for(top: str) -> bool:
            if top not in stood_for:
                stood_for[top] = top in _DISTRIBUTIONS and (top in slow or not _is_installed(top))
            return stood_for[top]

        def import_(
            name: str,
            globals: Mapping[str, Any] | None = None,  # noqa: A002
            locals: Mapping[str, Any] | None = None,  # noqa: A002
            fromlist: Any = (),
            level: int = 0,
        ) -> ModuleType:
            top = name.partition(".")[0]
            if level or not stands_for(top):
                if absent is not None and not level and absent.is_missing(top):
                    return absent.imported(name, fromlist)
                return real_import(name, globals, locals, fromlist, level)
            if absent is not None:
                return absent.imported(name, fromlist, self._make, self._placeholder)
            module = self._make(name)
            return module if fromlist else self._modules[top]

        return import_

    def real(self, path: str) -> Any:
        """What a placeholder stands for, in the library itself. Raises `Missing`."""
        top, *rest = path.split(".")
        if not _is_installed(top):
            raise Missing(path, top)
        value: Any = importlib.import_module(top)
        self.adopt_real()
        for index, name in enumerate(rest):
            try:
                value = getattr(value, name)
            except AttributeError:
                value = importlib.import_module(".".join([top, *rest[: index + 1]]))
        return value

    def _placeholder(self, path: str) -> Any:
        """Of a library that is there; None of one that is not."""
        return Placeholder(path, self) if _is_installed(path.partition(".")[0]) else None

    def adopt_real(self) -> None:
        """Let the compilers know the dtypes of a real torch that was imported meanwhile."""
        torch = sys.modules.get("torch")
        if torch is None or isinstance(torch, StandIn):
            return
        for alias, name in TORCH_NAMES.items():
            value = getattr(torch, alias, None)
            if value is not None:
                for register in self._registers:
                    register(value, name)

    def _make(self, name: str) -> StandIn:
        """The stand-in module of that dotted name, each of its parents holding the next."""
        module = self._modules.get(name)
        if module is None:
            module = self._modules[name] = StandIn(name, self)
            parent, _, leaf = name.rpartition(".")
            if parent:
                setattr(self._make(parent), leaf, module)
        return module


def _is_installed(top: str) -> bool:
    if top in sys.modules:
        return True
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False


class StandIn(ModuleType):
    """A stand-in for one module of a library."""

    def __init__(self, name: str, standins: StandIns) -> None:
        super().__init__(name)
        self.__standins__ = standins
        self.__path__: list[str] = []
        self.__dtypes__: list[tuple[object, str]] = []
        top = name.partition(".")[0]
        if name == "torch":
            self.__dict__.update(Tensor=Tensor, dtype=_TorchDtype, finfo=finfo, iinfo=iinfo)
            made: dict[str, object] = {}
            for alias, native in TORCH_NAMES.items():
                made.setdefault(native, _TorchDtype(alias, native))
                self.__dict__[alias] = made[native]
            self.__dtypes__ = [(value, native) for native, value in made.items()]
        elif name in ("numpy", "cupy", "jax.numpy", "ml_dtypes"):
            classes = {alias: _scalar_class(top, alias, native) for alias, native in NUMPY_NAMES.items()}
            self.__dict__.update(classes, ndarray=Tensor, finfo=finfo, iinfo=iinfo)
            self.__dtypes__ = [(classes[alias], native) for alias, native in NUMPY_NAMES.items()]
        if name in ("torch", "numpy", "cupy", "jax.numpy"):
            self.__dict__.update(_CONSTANTS)

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__}.{name}"
        if name == "__version__":
            top = self.__name__.partition(".")[0]
            version = distributions.version_of(_DISTRIBUTIONS.get(top, top))
            if version is None:
                raise Missing(path, top)
            return version
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(path, self.__standins__)


class Tensor:
    """For annotations and `isinstance`."""


class _TorchDtype:
    def __init__(self, name: str, native: str) -> None:
        self._name = name
        info = finfo if native.startswith(("float", "bfloat")) else iinfo
        self.is_floating_point = info is finfo
        self.itemsize = 1 if native == "bool_" else info(self).bits // 8

    def __repr__(self) -> str:
        return f"torch.{self._name}"


def _scalar_class(library: str, alias: str, native: str) -> type:
    number = bool if native == "bool_" else float if "float" in native else int
    return type(alias, (), {"__new__": lambda cls, value=0: number(value), "__module__": library})


class Placeholder:
    """An attribute of a library that has not been imported. Naming it costs nothing; using it asks for the real
    thing.
    """

    def __init__(self, path: str, standins: StandIns) -> None:
        self._path = path
        self._standins = standins

    def _real(self) -> Any:
        return self._standins.real(self._path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._path}.{name}", self._standins)

    def __repr__(self) -> str:
        return self._path

    # In annotations.
    def __or__(self, other: object) -> Any:
        return self

    __ror__ = __or__

    def __getitem__(self, item: object) -> Any:
        return self

    # Uses.
    def __mro_entries__(self, bases: tuple[type, ...]) -> tuple[type, ...]:
        return (self._real(),) if _is_installed(self._path.partition(".")[0]) else (object,)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._real()(*arguments, **keywords)

    def __bool__(self) -> bool:
        return bool(self._real())

    def __len__(self) -> int:
        return len(self._real())

    def __iter__(self) -> Any:
        return iter(self._real())

    def __int__(self) -> int:
        return int(self._real())

    def __float__(self) -> float:
        return float(self._real())

    def __index__(self) -> int:
        return self._real().__index__()

    def __str__(self) -> str:
        return str(self._real())

    def __lt__(self, other: Any) -> Any:
        return self._real() < other

    def __le__(self, other: Any) -> Any:
        return self._real() <= other

    def __gt__(self, other: Any) -> Any:
        return self._real() > other

    def __ge__(self, other: Any) -> Any:
        return self._real() >= other
