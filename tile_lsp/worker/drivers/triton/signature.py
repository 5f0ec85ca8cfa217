"""Argument notation to what the code generator takes: types, constants and attributes, as a launch would find them.

    *fp32:16    fp16    i32:16    1024    1e-5    True    "relu"    None    tensordesc<fp16[64,64]>    (i32,*fp16)
    =tl.float16 (an expression of the kernel's module)    auto (the autotuner's or a heuristic's own value)

What a launch specialises is specialised: an integer that is 1 is a constant, one that 16 divides is known to be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triton import language as tl

from ... import faults
from ...standins import Tensor

AUTO = "auto"
_DTYPE = re.compile(r"(\*k?|\*)?([a-z]+\d*\w*?)(?::(\d+))?\Z")
_DIVISOR = 16
_NAMES = {
    "int1": "i1", "bool": "i1", "B": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "half": "fp16", "float16": "fp16",
    "f16": "fp16", "bfloat16": "bf16", "float32": "fp32", "f32": "fp32", "float": "fp32", "float64": "fp64",
    "f64": "fp64", "double": "fp64", "int": "i32", "long": "i64", "float8e5": "fp8e5", "float8e4nv": "fp8e4nv",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
_OBJECTS = {
    "i1": "int1", "u1": "int1", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15", "fp8e4b8": "float8e4b8",
    "fp8e5b16": "float8e5b16",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
Path = tuple[int, ...]


@dataclass
class Signature:
    """What `ASTSource` is made of, and what a hover says of the parameters."""

    types: dict[str, Any] = field(default_factory=dict)
    constants: dict[Path, Any] = field(default_factory=dict)
    attributes: dict[Path, Any] = field(default_factory=dict)
    facts: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


def read(
    kernel: Any,
    arguments: Sequence[Sequence[str]],
    evaluate: Callable[[str], Any],
    configs: Sequence[Any],
    heuristics: Sequence[Mapping[str, Callable[..., Any]]],
) -> Signature:
    """Raises `faults.Refused` where an argument can't be that."""
    given: dict[str, str] = dict(arguments)  # type: ignore[arg-type]
    reader = _Reader(kernel, evaluate)
    tuned = dict(configs[0].kwargs) if configs else {}
    # A heuristic is given the arguments by name, those of the configs among them.
    values = dict(tuned)
    for name, spec in given.items():
        if heuristics and spec != AUTO:
            with faults.of_argument(name):
                values[name] = _representative(spec, evaluate)
    computed: dict[str, Any] = {}
    for table in heuristics:
        for name, rule in table.items():
            if given.get(name, AUTO) != AUTO:
                continue
            try:
                computed[name] = values[name] = rule(values)
            except Exception as error:
                message = f"the heuristic for {name} can't be evaluated: {type(error).__name__}: {error}"
                raise faults.Refused(
                    faults.fault(faults.USER, message, code="heuristics", help=f"write a comment: # tile-lsp: {name}=…")
                ) from error
    for index, parameter in enumerate(kernel.params):
        name = parameter.name
        spec = given.get(name)
        if spec is None or spec == AUTO:
            if name in computed:
                reader.constant((index,), name, computed[name])
                reader.signature.facts[name] = (("value by", "heuristics"),)
            elif name in tuned:
                reader.constant((index,), name, tuned[name])
                reader.signature.facts[name] = (("value by", "autotune"),)
            elif parameter.has_default:
                reader.value((index,), parameter, parameter.default)
            else:
                raise faults.Refused(
                    faults.fault(
                        faults.USER,
                        f"nothing says what {name} is: it has no default and the autotuner gives it no value",
                        code="signature",
                        help=f"write a comment: # tile-lsp: {name}=…",
                    )
                )
        else:
            with faults.of_argument(name):
                reader.argument((index,), parameter, spec)
    return reader.signature


class _Reader:
    def __init__(self, kernel: Any, evaluate: Callable[[str], Any]) -> None:
        self.kernel = kernel
        self.evaluate = evaluate
        self.signature = Signature()

    def argument(self, path: Path, parameter: Any, spec: str) -> None:
        if parameter.is_constexpr:
            self.constant(path, parameter.name, constant_of(spec, self.evaluate))
            return
        self.signature.types[parameter.name] = self._typed(path, parameter, spec)

    def value(self, path: Path, parameter: Any, value: Any) -> None:
        """A default: a constant where it has to be one, else what a launch makes of it."""
        if parameter.is_constexpr:
            self.constant(path, parameter.name, value)
        else:
            self.signature.types[parameter.name] = self._of_value(path, parameter, value)

    def constant(self, path: Path, name: str, value: Any) -> None:
        if isinstance(value, tl.constexpr):
            value = value.value
        self.signature.types[name] = "constexpr"
        self.signature.constants[path] = value

    def _typed(self, path: Path, parameter: Any, spec: str) -> Any:
        if spec.startswith("="):
            return self._of_value(path, parameter, self.evaluate(spec[1:]))
        if spec.startswith("("):
            items = split(spec)
            return tuple(self._typed((*path, index), parameter, item) for index, item in enumerate(items))
        if spec.startswith("tensordesc<"):
            return spec
        try:
            return self._of_value(path, parameter, literal(spec))
        except ValueError:
            pass
        match = _DTYPE.match(spec)
        name = canonical(match[2]) if match else None
        if match is None or name is None:
            raise faults.Refused(
                faults.fault(faults.USER, f"{parameter.name}={spec}: there is no such type", code="signature")
            )
        pointer, divisor = match[1] or "", int(match[3] or 1)
        if divisor % _DIVISOR == 0 and (pointer or name[0] in "iu"):
            self._divisible(path, parameter)
        return f"{pointer}{name}"

    def _of_value(self, path: Path, parameter: Any, value: Any) -> Any:
        specialised = not parameter.do_not_specialize
        if isinstance(value, tl.constexpr):
            # As a launch has it: what is given as a constant is one, whatever the parameter's annotation.
            self.signature.constants[path] = value.value
            return "constexpr"
        if isinstance(value, bool):
            return "u1"
        if isinstance(value, int):
            if value == 1 and specialised:
                self.signature.constants[path] = 1
                self.signature.facts[parameter.name] = (("specialised", "equal to 1"),)
                return "constexpr"
            if value % _DIVISOR == 0:
                self._divisible(path, parameter)
            if -(1 << 31) <= value < 1 << 31:
                return "i32"
            return "u64" if value >= 1 << 63 else "i64"
        if isinstance(value, float):
            return "fp32"
        if isinstance(value, (tuple, list)):
            return tuple(self._of_value((*path, index), parameter, item) for index, item in enumerate(value))
        self.signature.constants[path] = value
        return "constexpr"

    def _divisible(self, path: Path, parameter: Any) -> None:
        if parameter.do_not_specialize or getattr(parameter, "do_not_specialize_on_alignment", False):
            return
        self.signature.attributes[path] = [["tt.divisibility", _DIVISOR]]
        if len(path) == 1:
            self.signature.facts[parameter.name] = (("divisible by", str(_DIVISOR)),)


def constant_of(spec: str, evaluate: Callable[[str], Any]) -> Any:
    if spec.startswith("="):
        return evaluate(spec[1:])
    try:
        return literal(spec)
    except ValueError:
        found = dtype_object(spec)
        return found if found is not None else evaluate(spec)


def canonical(word: str) -> str | None:
    """Triton's short name of a dtype, or None."""
    word = _NAMES.get(word, word)
    return word if word in _OBJECTS else None


def dtype_object(word: str) -> Any:
    """`tl.float16` for `fp16`; None for what is no dtype."""
    name = canonical(word.removeprefix("tl.").removeprefix("dtype:"))
    return getattr(tl, _OBJECTS[name], None) if name is not None else None


def literal(spec: str) -> Any:
    """Raises `ValueError`."""
    if spec.lstrip("+-") in ("inf", "nan"):
        return float(spec)
    try:
        return ast.literal_eval(spec)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(spec) from error


def split(spec: str) -> list[str]:
    """The items of `(a,(b,c),d[1,2])`."""
    items: list[str] = []
    depth, start = 0, 1
    for position, character in enumerate(spec):
        if character in "([<":
            depth += 1
        elif character in ")]>":
            depth -= 1
        if (character == "," and depth == 1) or (depth == 0 and position == len(spec) - 1):
            item = spec[start:position].strip()
            if item:
                items.append(item)
            start = position + 1
    return items


def _representative(spec: str, evaluate: Callable[[str], Any]) -> Any:
    """A value of that type for rules that compute with it: a launch has numbers where a job has types."""
    if spec == AUTO:
        return None
    if spec.startswith("="):
        return evaluate(spec[1:])
    try:
        return literal(spec)
    except ValueError:
        pass
    if spec.startswith("*"):
        return _Tensor(spec)
    match = _DTYPE.match(spec)
    if match is not None and match[2][0] in "iuI":
        return 128 if match[3] else 100
    if match is not None and canonical(match[2]) is not None:
        return 1.0
    return _Tensor(spec)


class _Tensor(Tensor):
    """What a heuristic may ask of an array."""

    def __init__(self, spec: str) -> None:
        match = _DTYPE.match(spec)
        self.dtype = dtype_object(match[2]) if match else None
        self.shape = (1024, 1024, 64)
        self.ndim = 3

    def stride(self, axis: int | None = None) -> Any:
        strides = (65536, 64, 1)
        return strides if axis is None else strides[axis]

    def size(self, axis: int | None = None) -> Any:
        return self.shape if axis is None else self.shape[axis]

    def numel(self) -> int:
        return 1024 * 1024 * 64

    def element_size(self) -> int:
        return max(1, (self.dtype.primitive_bitwidth if self.dtype is not None else 32) // 8)

    def data_ptr(self) -> int:
        return 1 << 32

    def is_contiguous(self) -> bool:
        return True
