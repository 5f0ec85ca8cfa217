"""The notation of argument types, read into plain values.

spec     := array | list | tuple | scalar | constant
array    := DTYPE "[" [dim ("," dim)*] "]" ("/" option)*
dim      := INT | "?" | "?:" INT
option   := "strides=(" dim ("," dim)* [","] ")" | "align=" INT | "index=" ("i32" | "i64")
list     := "list[" array "]"
tuple    := "(" [spec ("," spec)* [","]] ")"
scalar   := DTYPE
constant := Python literal | "dtype:" DTYPE | "=" EXPRESSION
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

_SHORT = {
    "bool": "bool_",
    "bf16": "bfloat16",
    "tf32": "tfloat32",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0fnu": "float8_e8m0fnu",
    "f8e5m3fnu": "float8_e5m3fnu",
    "f4e2m1fn": "float4_e2m1fn",
    **{
        f"{letter}{bits}": f"{name}{bits}" for letter, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
    },
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int32",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LITERAL_WORDS = {"True": True, "False": False, "None": None, "inf": float("inf"), "nan": float("nan")}


@dataclass(frozen=True)
class Dim:
    """A length or a stride. `value`: known; else it is open, and known to be divisible by `divisor`."""

    value: int | None = None
    divisor: int = 1
    given: bool = True
    """False for a stride that follows from the shape."""


@dataclass(frozen=True)
class Array:
    dtype: str
    """cuTile's name: `float16`."""
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    align: int = 16
    """Bytes that the base address is divisible by."""
    index: str | None = None
    """`int32` or `int64`; None: what the parameter's annotation says."""


@dataclass(frozen=True)
class List:
    element: Array


@dataclass(frozen=True)
class Tuple:
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Scalar:
    dtype: str


@dataclass(frozen=True)
class Constant:
    value: Any


@dataclass(frozen=True)
class DtypeConstant:
    name: str


@dataclass(frozen=True)
class Expression:
    text: str


Spec = Array | List | Tuple | Scalar | Constant | DtypeConstant | Expression


def dtype_name(word: str) -> str:
    """cuTile's name of a dtype, short names and aliases resolved; an unknown word stays as it is."""
    return _SHORT.get(word, word)


def parse(text: str) -> Spec:
    """Raises `ValueError` with a message for people."""
    parser = _Parser(text.strip())
    spec = parser.spec()
    parser.end()
    return spec


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def spec(self) -> Spec:
        rest = self._text[self._at :]
        if rest.startswith("="):
            return Expression(self._expression())
        if rest.startswith("("):
            return self._tuple()
        if rest[:1] in ("'", '"') or re.match(r"[-+.\d]|[rRbBuU]?['\"]", rest):
            return Constant(self._literal())
        word = self._word()
        if word in _LITERAL_WORDS:
            return Constant(_LITERAL_WORDS[word])
        if word == "dtype" and self._take(":"):
            return DtypeConstant(dtype_name(self._word()))
        if word == "list" and self._take("["):
            element = self.spec()
            self._expect("]")
            if not isinstance(element, Array):
                raise self._error("a list holds arrays, as in list[f16[?,?]]")
            return List(element)
        return self._array(dtype_name(word)) if self._take("[") else Scalar(dtype_name(word))

    def end(self) -> None:
        if self._at < len(self._text):
            raise self._error(f"{self._text[self._at :]!r} is one too many")

    def _array(self, dtype: str) -> Array:
        shape = self._dims("]")
        strides: tuple[Dim, ...] | None = None
        align, index = 16, None
        while self._take("/"):
            option = self._word()
            self._expect("=")
            if option == "strides":
                self._expect("(")
                strides = self._dims(")")
            elif option == "align":
                align = self._integer()
            elif option == "index":
                index = dtype_name(self._word())
            else:
                raise self._error(f"there is no array option {option!r}: strides, align or index")
        if strides is not None and len(strides) != len(shape):
            raise self._error(f"{len(strides)} strides for {len(shape)} dimensions")
        return Array(dtype, shape, _contiguous(shape) if strides is None else strides, align, index)

    def _dims(self, close: str) -> tuple[Dim, ...]:
        dims: list[Dim] = []
        while not self._take(close):
            if dims:
                self._expect(",")
                if self._take(close):
                    break
            if self._take("?"):
                dims.append(Dim(None, self._integer() if self._take(":") else 1))
            else:
                dims.append(Dim(self._integer()))
        return tuple(dims)

    def _tuple(self) -> Tuple:
        self._expect("(")
        items: list[Spec] = []
        while not self._take(")"):
            if items:
                self._expect(",")
                if self._take(")"):
                    break
            items.append(self.spec())
        return Tuple(tuple(items))

    def _expression(self) -> str:
        self._expect("=")
        start = self._at
        depth, quote = 0, ""
        # To the end, or to the comma or bracket that belongs to the tuple around it.
        while self._at < len(self._text):
            character = self._text[self._at]
            if quote:
                if character == "\\":
                    self._at += 1
                elif character == quote:
                    quote = ""
            elif character in "'\"":
                quote = character
            elif character in "([{":
                depth += 1
            elif character in ")]}":
                if depth == 0:
                    break
                depth -= 1
            elif character == "," and depth == 0:
                break
            self._at += 1
        return self._text[start : self._at].strip()

    def _literal(self) -> Any:
        match = re.compile(
            r"[rRbBuU]?('(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\")|[-+]?(inf|nan|\d[\d_.]*[eE][-+]\d+|[\w.]+)"
        ).match(self._text, self._at)
        if match is None:
            raise self._error("a literal was expected")
        self._at = match.end()
        text = match[0]
        if text.lstrip("+-") in ("inf", "nan"):
            return float(text)
        # `1e-5` is one word, and so is `0x10`.
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError) as error:
            raise self._error(f"{text!r} is no literal") from error

    def _word(self) -> str:
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._error("a type or a value was expected")
        self._at = match.end()
        return match[0]

    def _integer(self) -> int:
        match = re.compile(r"-?\d+").match(self._text, self._at)
        if match is None:
            raise self._error("a number was expected")
        self._at = match.end()
        return int(match[0])

    def _take(self, mark: str) -> bool:
        while self._text[self._at : self._at + 1] == " ":
            self._at += 1
        if self._text.startswith(mark, self._at):
            self._at += len(mark)
            while self._text[self._at : self._at + 1] == " ":
                self._at += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise self._error(f"{mark!r} was expected")

    def _error(self, message: str) -> ValueError:
        return ValueError(f"{self._text!r} is no argument type: {message} at position {self._at + 1}")


def _contiguous(shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Row-major strides; where a length is open, what the known factors divide."""
    strides: list[Dim] = []
    value: int | None = 1
    divisor = 1
    for dim in reversed(shape):
        strides.append(Dim(value, divisor, given=False))
        value = None if value is None or dim.value is None else value * dim.value
        divisor *= dim.divisor if dim.value is None else (dim.value or 1)
    return tuple(reversed(strides))
