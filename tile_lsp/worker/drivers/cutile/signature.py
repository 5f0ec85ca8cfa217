"""Argument types as cuda.tile's constraints: what a launch with such arguments would have it assume."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cuda.tile as ct
from cuda.tile import compilation

from ... import faults
from . import spec as specs
from .compiler import Compiler

#: From this version on a launch makes lengths of 1 constants.
_SPECIALISES_ONES = (1, 6)

Evaluate = Callable[[str], Any]


class Parameter(typing.NamedTuple):
    name: str
    constraint: Any
    facts: tuple[tuple[str, str], ...]
    """What a reader of the kernel may want to know of it, beside its type."""


def constraints(
    compiler: Compiler, kernel: Any, arguments: Sequence[Sequence[str]], evaluate: Evaluate
) -> list[Parameter]:
    """One for each parameter, in the kernel's order. Raises `faults.Refused` where arguments and parameters don't
    fit.
    """
    annotated = kernel._annotated_function
    names = list(annotated.pysig.parameters)
    given = dict(_pairs(arguments))
    _check_names(annotated.pyfunc.__name__, names, given, len(arguments))
    annotations = _array_annotations(annotated.pyfunc)
    found = []
    for name in names:
        with faults.of_argument(name):
            found.append(_parameter(compiler, name, given[name], annotations.get(name), evaluate))
    return found


def _pairs(arguments: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in arguments]


def _check_names(kernel: str, names: Sequence[str], given: Mapping[str, str], count: int) -> None:
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise _refused(f"{kernel} has no parameter {_listed(unknown)}; it has {_listed(names) or 'none'}")
    if missing:
        raise _refused(f"{kernel} takes {len(names)} arguments: no type was given for {_listed(missing)}")
    if count != len(given):
        raise _refused(f"an argument of {kernel} was given twice")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _refused(message: str) -> faults.Refused:
    return faults.Refused(faults.fault(faults.USER, message, code="signature"))


def _parameter(compiler: Compiler, name: str, text: str, annotation: Any, evaluate: Evaluate) -> Parameter:
    maker = _Maker(compiler, annotation, evaluate)
    try:
        constraint = maker.constraint(specs.parse(text))
    except ValueError as error:
        raise _refused(f"parameter {name}: {error}") from error
    except TypeError as error:
        raise _refused(f"parameter {name} can't be {text}: {error}") from error
    return Parameter(name, constraint, maker.facts)


class _Maker:
    def __init__(self, compiler: Compiler, annotation: Any, evaluate: Evaluate) -> None:
        self._compiler = compiler
        self._annotation = annotation
        self._evaluate = evaluate
        self.facts: tuple[tuple[str, str], ...] = ()

    def constraint(self, spec: specs.Spec) -> Any:
        if isinstance(spec, specs.Array):
            return self._array(spec)
        if isinstance(spec, specs.List):
            return compilation.ListConstraint(self._array(spec.element), alias_groups=(), elements_may_alias=True)
        if isinstance(spec, specs.Tuple):
            if not hasattr(compilation, "TupleConstraint"):
                raise ValueError(f"tuples need cuda-tile 1.5 or later, and {self._compiler.version} is installed")
            return compilation.TupleConstraint([self.constraint(item) for item in spec.items])
        if isinstance(spec, specs.Scalar):
            return compilation.ScalarConstraint(self._dtype(spec.dtype))
        if isinstance(spec, specs.DtypeConstant):
            return _constant(self._dtype(spec.name))
        if isinstance(spec, specs.Expression):
            return _constant(self._evaluate(spec.text))
        return _constant(spec.value)

    def _dtype(self, name: str) -> Any:
        try:
            return self._compiler.dtype(name)
        except LookupError:
            known = ", ".join(self._compiler.dtypes())
            raise ValueError(f"cuda-tile {self._compiler.version} has no dtype {name!r}; it has {known}") from None

    def _array(self, spec: specs.Array) -> Any:
        dtype = self._dtype(spec.dtype)
        rank = len(spec.shape)
        chunk = max(1, 128 // dtype.bitwidth)
        index = self._dtype(spec.index) if spec.index else getattr(self._annotation, "index_dtype", ct.int32)
        listed_strides = _axes(self._annotation, "static_stride_dims", rank)
        listed_shape = _axes(self._annotation, "static_shape_dims", rank)
        strides = [_stride(dim, axis, listed_strides) for axis, dim in enumerate(spec.strides)]
        shape_divisors = [_shape_divisor(dim) for dim in spec.shape]
        stride_divisors = [_stride_divisor(dim, chunk) for dim in spec.strides]
        options: dict[str, Any] = {}
        if hasattr(compilation, "TupleConstraint"):
            # Known lengths came to constraints together with tuples, in 1.5.
            ones = self._compiler.release >= _SPECIALISES_ONES
            constant = [_length(dim, axis, listed_shape, ones) for axis, dim in enumerate(spec.shape)]
            options["shape_constant"] = constant
            shape_divisors = _unless_constant(constant, shape_divisors)
        made = compilation.ArrayConstraint(
            dtype,
            rank,
            index_dtype=index,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=_overlaps(spec),
            stride_constant=strides,
            stride_divisible_by=_unless_constant(strides, stride_divisors),
            shape_divisible_by=shape_divisors,
            base_addr_divisible_by=spec.align,
            **options,
        )
        self.facts = _facts(spec, made)
        return made


def _facts(spec: specs.Array, made: Any) -> tuple[tuple[str, str], ...]:
    shape = [
        _assumed(getattr(made, "shape_constant", (None,) * made.ndim)[i], made.shape_divisible_by[i])
        for i in range(made.ndim)
    ]
    strides = [_assumed(made.stride_constant[i], made.stride_divisible_by[i]) for i in range(made.ndim)]
    lengths = [str(dim.value) if dim.value is not None else "?" for dim in spec.shape]
    facts = [("shape", f"({', '.join(lengths)})"), ("shape divisible by", f"({', '.join(shape)})")]
    facts += [("strides", f"({', '.join(strides)})"), ("address divisible by", f"{made.base_addr_divisible_by} bytes")]
    facts.append(("index type", made.index_dtype.name))
    return tuple(facts)


def _assumed(constant: int | None, divisor: int) -> str:
    if constant is not None:
        return f"={constant}"
    return str(divisor)


def _overlaps(spec: specs.Array) -> bool:
    """True unless each step is at least as long as all that the shorter steps span; what is open is taken to be."""
    if any(stride.value is not None and stride.value <= 0 for stride in spec.strides):
        return True
    known = sorted(
        (stride.value, length.value)
        for stride, length in zip(spec.strides, spec.shape, strict=True)
        if stride.value is not None and length.value is not None
    )
    return any(longer < step * length for (step, length), (longer, _) in itertools.pairwise(known))


def _unless_constant(constants: Sequence[int | None], divisors: Sequence[int]) -> list[int]:
    """A constant says all that a divisor could, and one that it isn't divisible by would be refused."""
    return [1 if known is not None else divisor for known, divisor in zip(constants, divisors, strict=True)]


def _axes(annotation: Any, name: str, rank: int) -> frozenset[int] | None:
    """The axes that an annotation lists, or None if it lists none."""
    listed = getattr(annotation, name, ())
    return frozenset(axis % rank for axis in listed if -rank <= axis < rank) if listed else None


def _stride(dim: specs.Dim, axis: int, listed: frozenset[int] | None) -> int | None:
    # An annotation that lists strides is the sole source of constant ones.
    if listed is not None:
        return dim.value if axis in listed else None
    return 1 if dim.value == 1 else None


def _length(dim: specs.Dim, axis: int, listed: frozenset[int] | None, ones: bool) -> int | None:
    if (ones and dim.value == 1) or (listed is not None and axis in listed):
        return dim.value
    return None


def _shape_divisor(dim: specs.Dim) -> int:
    if dim.value is None:
        return dim.divisor
    return 16 if dim.value % 16 == 0 else 1


def _stride_divisor(dim: specs.Dim, chunk: int) -> int:
    """`chunk`: elements in 16 bytes, which is all that a launch looks for."""
    if dim.value is None and dim.given:
        return dim.divisor
    known = dim.divisor if dim.value is None else dim.value
    return chunk if known % chunk == 0 else 1


def _constant(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(compilation, "TupleConstraint"):
        return compilation.TupleConstraint([_constant(item) for item in value])
    return compilation.ConstantConstraint(value)


def _array_annotations(function: Any) -> dict[str, Any]:
    """Each parameter's `ArrayAnnotation`, directly or as the element of a list."""
    wanted = getattr(ct, "ArrayAnnotation", None)
    if wanted is None:
        return {}
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception:
        return {}
    found = {}
    for name, hint in hints.items():
        for item in getattr(hint, "__metadata__", ()):
            element = getattr(item, "element", None)
            for candidate in (item, element, *getattr(element, "__metadata__", ())):
                if isinstance(candidate, wanted):
                    found[name] = candidate
    return found
