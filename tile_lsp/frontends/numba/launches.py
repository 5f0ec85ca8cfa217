"""Arguments from launches that can be read without running them: `kernel[blocks, threads](a, b, 128)`."""

from __future__ import annotations

import ast

import msgspec

from tile_lsp.analysis.python import KernelSite
from tile_lsp.frontends.dtypes import DTYPES
from tile_lsp.frontends.host.run import Frame, Launch, run_file
from tile_lsp.frontends.host.values import (
    NOTHING,
    Array,
    Bound,
    Callee,
    Choice,
    DtypeValue,
    External,
    HostValue,
    Number,
    Sequence_,
)
from tile_lsp.frontends.names import Names

from . import spec

_SAME = frozenset({"to_device", "as_cuda_array", "asarray", "from_cuda_array_interface"})
_SHAPED = frozenset({"device_array", "pinned_array", "mapped_array", "managed_array"})
_LIKE = frozenset({"device_array_like", "pinned_array_like", "mapped_array_like"})
_FILLED = frozenset({"random", "uniform", "normal", "standard_normal", "random_sample", "linspace", "logspace"})


class Launched(msgspec.Struct, frozen=True):
    """What a launch tells of one argument: all of it, or of an array the element type or the rank."""

    where: str
    spec: str | None = None
    dtype: str | None = None
    rank: int | None = None


def read_launch(kernel: KernelSite, names: Names) -> dict[str, Launched]:
    """By parameter, what the launch that tells most of the kernel tells; all from one launch, so that they fit."""
    if kernel.node is None:
        return {}
    best: dict[str, Launched] = {}
    for launch in names.cached(("numba launches", kernel.path), lambda: _launches(kernel.path, names)):
        node = launch.kernel.node
        if launch.kernel.path != kernel.path or (node.name, node.lineno) != (kernel.node.name, kernel.node.lineno):
            continue
        if len(launch.arguments) != len(kernel.parameters):
            continue
        where = names.place(launch.path, launch.line)
        told = {p.name: _told(v, where) for p, v in zip(kernel.parameters, launch.arguments, strict=True)}
        found = {name: one for name, one in told.items() if one is not None}
        if _weight(found) > _weight(best):
            best = found
    return best


def _launches(path: str, names: Names) -> tuple[Launch, ...]:
    tree = names.tree(path)
    return run_file(path, tree, names, _Frame, _launches_something) if tree is not None else ()


def _launches_something(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Call) and _is_launch(node.func) for node in ast.walk(function))


def _is_launch(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in ("forall", "configure")
    return isinstance(node, ast.Subscript)


class _Frame(Frame):
    """Knows Numba's launches, and what it makes on a device."""

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef) and self.depth and node.decorator_list:
            # A kernel of a factory: launched by the name that it has here.
            self.tick()
            self.env[node.name] = Callee(node, self.path, {})
            return
        super().statement(node)

    def call(self, node: ast.Call) -> HostValue:
        if _is_launch(node.func):
            inner = node.func.value if isinstance(node.func, ast.Subscript) else node.func.func.value  # type: ignore[attr-defined]
            kernel = self.value(inner)
            if isinstance(kernel, (Callee, Choice)):
                self._launch(kernel, node)
                return NOTHING
        name = self._library_call(node.func)
        if name is not None:
            return self._made(name, node)
        return super().call(node)

    def _launch(self, kernel: Callee | Choice, node: ast.Call) -> None:
        arguments: list[HostValue] = []
        for argument in node.args:
            value = self.value(argument.value if isinstance(argument, ast.Starred) else argument)
            if isinstance(argument, ast.Starred):
                if not isinstance(value, Sequence_):
                    return
                arguments.extend(value.items)
            else:
                arguments.append(value)
        self.launched(kernel, arguments, node.lineno)

    def _library_call(self, function: ast.expr) -> str | None:
        dotted = self.run.names.dotted(function, self.path) if isinstance(function, (ast.Name, ast.Attribute)) else None
        if dotted is None:
            return None
        module, _, name = dotted.rpartition(".")
        if module in ("numba.cuda", "numba.cuda.api") and name in (_SAME | _SHAPED | _LIKE):
            return name
        if module in ("numpy", "cupy", "numba", "numba.cuda", "numba.types") and spec.scalar(name) is not None:
            return f"scalar {spec.scalar(name)}"
        if module in ("numpy.random", "cupy.random", "numpy", "cupy") and name in _FILLED:
            return name
        return None

    def _made(self, name: str, node: ast.Call) -> HostValue:
        arguments = [self.value(argument) for argument in node.args if not isinstance(argument, ast.Starred)]
        keywords = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg}
        first = arguments[0] if arguments else NOTHING
        if name.startswith("scalar "):
            given = first if isinstance(first, Array) else Array(None, ())
            return Array(_SHORT.get(name.removeprefix("scalar ")), given.dims)
        if name in _SAME or name in _LIKE:
            return first if isinstance(first, Array) else Array()
        wanted = keywords.get("dtype", arguments[1] if len(arguments) > 1 and name in _SHAPED else NOTHING)
        dtype = _dtype(wanted) if wanted is not NOTHING else "f64"
        if name in _FILLED:
            shape = keywords.get(
                "size", arguments[-1] if arguments and name not in ("linspace", "logspace") else NOTHING
            )
            return Array(dtype, _dims(shape) if name not in ("linspace", "logspace") else (None,))
        return Array(dtype, _dims(keywords.get("shape", first)))


_SHORT = {long.removesuffix("_") if long != "bool_" else "boolean": short for short, (long, _) in DTYPES.items()}
_SHORT |= {"complex64": "c64", "complex128": "c128"}
_LONG = {short: long for long, short in _SHORT.items()}


def _dtype(value: HostValue) -> str | None:
    if isinstance(value, DtypeValue):
        return value.dtype
    if isinstance(value, External):
        name = spec.scalar(value.dotted.rpartition(".")[2])
        return _SHORT.get(name) if name is not None else None
    return None


def _dims(value: HostValue) -> tuple[int | None, ...] | None:
    if isinstance(value, Sequence_):
        return tuple(v.value if isinstance(v, Number) and type(v.value) is int else None for v in value.items)
    if isinstance(value, Number) and type(value.value) is int:
        return (value.value,)
    return None if isinstance(value, (Bound, Sequence_)) else (None,)


def _weight(found: dict[str, Launched]) -> int:
    return sum(2 if told.spec is not None else 1 for told in found.values())


def _told(value: HostValue, where: str) -> Launched | None:
    match value:
        case Number(value=bool()):
            return Launched(where, "boolean")
        case Number(value=int()):
            return Launched(where, "int64")
        case Number(value=float()):
            return Launched(where, "float64")
        case Sequence_(items=items, is_list=False) if items:
            read = [_told(item, where) for item in items]
            specs = [one.spec for one in read if one is not None and one.spec is not None]
            text = spec.canonical(f"({','.join(specs)},)") if len(specs) == len(items) else None
            return Launched(where, text) if isinstance(text, str) else None
        case Array(dtype=dtype, dims=dims):
            name = _LONG.get(dtype) if dtype is not None else None
            if name is not None and spec.scalar(name) is None:
                name = None
            if dims == () and name is not None:
                return Launched(where, name)
            if name is not None and dims:
                return Launched(where, spec.array(name, len(dims), _layout(value)))
            if name is not None or dims:
                return Launched(where, None, name, len(dims) if dims else None)
    return None


def _layout(array: Array) -> str:
    if array.strides is None:
        return "C"
    if array.strides[-1] == 1:
        return "C"
    return "F" if array.strides[0] == 1 else "A"
