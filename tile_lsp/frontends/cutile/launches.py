"""Arguments from launch sites that can be read without running them: `ct.launch(stream, grid, kernel, (a, b, 128))`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import msgspec

from tile_lsp.analysis.python import KernelSite
from tile_lsp.frontends.base import Origin
from tile_lsp.frontends.host import arithmetic
from tile_lsp.frontends.host.run import Frame, Launch, called_in, run_file
from tile_lsp.frontends.host.values import NOTHING, Array, DtypeValue, External, HostValue, Many, Number, Sequence_
from tile_lsp.frontends.names import Names

from .annotations import Annotation
from .assume import Parameter, as_launched
from .signature import Expected, check_argument
from .spec import ArraySpec, Dim, DtypeSpec, ListSpec, Spec, TupleSpec, constant

_LAUNCH = ("stream", "grid", "kernel", "kernel_args")
"""The parameters of `ct.launch`, in order."""


class Launched(msgspec.Struct, frozen=True):
    """What a launch tells of one argument: all of it, or of an array the dtype or the rank."""

    where: str
    spec: Spec | None = None
    dtype: str | None = None
    rank: int | None = None

    def parameter(self, name: str, annotation: Annotation, default: Spec | None) -> Parameter:
        return Parameter(name, annotation, self.spec, Origin("launch", self.where), self.dtype, self.rank, default)


def read_launches(kernel: KernelSite, expected: Mapping[str, Expected], names: Names) -> dict[str, Launched]:
    """By parameter, what the launch that tells most of the kernel tells; all from one launch, so that they fit."""
    if kernel.node is None:
        return {}
    best: dict[str, Launched] = {}
    for launch in launches_of(kernel.path, names):
        if launch.kernel.path != kernel.path or launch.kernel.node.name != kernel.node.name:
            continue
        if launch.kernel.node.lineno != kernel.node.lineno or len(launch.arguments) != len(kernel.parameters):
            continue
        found: dict[str, Launched] = {}
        for parameter, value in zip(kernel.parameters, launch.arguments, strict=True):
            told = _told(value, expected[parameter.name], names.place(launch.path, launch.line))
            if told is not None:
                found[parameter.name] = told
        if _weight(found) > _weight(best):
            best = found
    return best


def launches_of(path: str, names: Names) -> tuple[Launch, ...]:
    """The launches in a file, those reached from its top level first; read once for all its kernels."""
    return names.cached(("launches", path), lambda: _launches(path, names))


def _launches(path: str, names: Names) -> tuple[Launch, ...]:
    tree = names.tree(path)
    if tree is None or "launch" not in names.text(path):
        return ()
    return run_file(path, tree, names, _Frame, lambda function: any("launch" in other for other in called_in(function)))


class _Frame(Frame):
    """Knows cuTile's launches."""

    def library_call(
        self, dotted: str, arguments: list[HostValue], keywords: Mapping[str, HostValue], line: int
    ) -> HostValue:
        match dotted:
            case "cuda.tile.launch":
                self._launch(dict(zip(_LAUNCH, arguments, strict=False)) | dict(keywords), line)
                return NOTHING
            case "cuda.tile.kernel":
                # `k = ct.kernel(f)` and `k = ct.kernel(occupancy=2)(f)`.
                return arguments[0] if arguments else External(dotted)
            case "cuda.tile.cdiv" if len(arguments) == 2:
                less = arithmetic.binary(ast.Sub(), arguments[1], Number(1))
                return arithmetic.binary(ast.FloorDiv(), arithmetic.binary(ast.Add(), arguments[0], less), arguments[1])
            case _:
                return super().library_call(dotted, arguments, keywords, line)

    def _launch(self, given: Mapping[str, HostValue], line: int) -> None:
        passed = given.get("kernel_args", given.get("args", NOTHING))
        if isinstance(passed, Sequence_):
            self.launched(given.get("kernel", NOTHING), passed.items, line)


def _weight(found: Mapping[str, Launched]) -> int:
    return sum(2 if told.spec is not None else 1 for told in found.values())


def _told(value: HostValue, expected: Expected, where: str) -> Launched | None:
    spec = _spec(value)
    if spec is not None:
        spec = as_launched(spec, expected.annotation)
    if spec is not None and check_argument(expected, spec) is None:
        return Launched(where, spec)
    if isinstance(value, Array) and not expected.annotation.kind.startswith(("constant", "scalar", "list", "tuple")):
        rank = len(value.dims) if value.dims is not None else None
        if value.dtype is not None or rank is not None:
            return Launched(where, None, value.dtype, rank)
    return None


def _spec(value: HostValue) -> Spec | None:
    match value:
        case Array(dtype=str() as dtype, dims=tuple() as dims) if None not in dims:
            strides = tuple(map(Dim, value.strides)) if value.strides is not None else None
            return ArraySpec(dtype, tuple(Dim(length) for length in dims), strides)
        case Number(value=number):
            return constant(number)
        case DtypeValue(dtype=dtype):
            return DtypeSpec(dtype)
        case Many(item=item) | Sequence_(items=(item, *_), is_list=True):
            element = _spec(item)
            return ListSpec(element) if isinstance(element, ArraySpec) else None
        case Sequence_(items=items):
            specs = [_spec(item) for item in items]
            return TupleSpec(tuple(spec for spec in specs if spec is not None)) if None not in specs else None
        case _:
            return None
