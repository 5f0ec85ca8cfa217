"""The notation of one argument.

    f16[4096,?:16]/strides=(4096,1)    list[f16[?,?]]    (f32,i32)    i32    128    dtype:f16    =TILE * 2

`parse` reads what people write, `str()` of the result is the canonical text: one word, short dtype names, defaults left
out. Canonical texts are what jobs hold and what the worker reads, so two spellings of one argument give one job.
"""

from __future__ import annotations

import ast
import functools
import re

import msgspec

from tile_lsp.frontends import dtypes
from tile_lsp.frontends.given import SpecFault

#: Bytes that an array's base address is taken to be divisible by: what allocators of array libraries give, and more.
DEFAULT_ALIGNMENT = 16

_MAX_RANK = 16
_MAX_DEPTH = 8


class Dim(msgspec.Struct, frozen=True):
    """A length or a stride in elements: known, or open with a divisor."""

    value: int | None = None
    divisor: int = 1

    def __str__(self) -> str:
        if self.value is not None:
            return str(self.value)
        return "?" if self.divisor == 1 else f"?:{self.divisor}"


class ArraySpec(msgspec.Struct, frozen=True):
    """An array. `strides` None: row-major contiguous. `index` None: as the parameter's annotation says."""

    dtype: str
    dims: tuple[Dim, ...]
    strides: tuple[Dim, ...] | None = None
    align: int = DEFAULT_ALIGNMENT
    index: str | None = None

    def __str__(self) -> str:
        text = f"{self.dtype}[{','.join(map(str, self.dims))}]"
        if self.strides is not None:
            text += f"/strides={_tuple(self.strides)}"
        if self.align != DEFAULT_ALIGNMENT:
            text += f"/align={self.align}"
        if self.index is not None:
            text += f"/index={self.index}"
        return text


class ListSpec(msgspec.Struct, frozen=True):
    """A list of arrays of one type."""

    element: ArraySpec

    def __str__(self) -> str:
        return f"list[{self.element}]"


class TupleSpec(msgspec.Struct, frozen=True):
    items: tuple[Spec, ...]

    def __str__(self) -> str:
        return _tuple(self.items)


class ScalarSpec(msgspec.Struct, frozen=True):
    """A number known at launch only."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


class ConstantSpec(msgspec.Struct, frozen=True):
    """A value known to the compiler, as the canonical text of a Python literal, `inf` or `nan`."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def value(self) -> int | float | bool | str | None:
        if self.text in _NOT_LITERALS:
            return float(self.text)
        return ast.literal_eval(self.text)


class DtypeSpec(msgspec.Struct, frozen=True):
    """A dtype as a constant."""

    dtype: str

    def __str__(self) -> str:
        return f"dtype:{self.dtype}"


class ExpressionSpec(msgspec.Struct, frozen=True):
    """A constant that the worker evaluates in the kernel's module."""

    source: str

    def __str__(self) -> str:
        # In brackets where there are blanks, so that every spec is one word of a comment.
        return f"=({self.source})" if " " in self.source else f"={self.source}"


Spec = ArraySpec | ListSpec | TupleSpec | ScalarSpec | ConstantSpec | DtypeSpec | ExpressionSpec


def expressions(spec: Spec) -> tuple[str, ...]:
    """The Python that a spec holds."""
    if isinstance(spec, TupleSpec):
        return tuple(source for item in spec.items for source in expressions(item))
    return (spec.source,) if isinstance(spec, ExpressionSpec) else ()


#: What counts as a constant.
CONSTANTS = (ConstantSpec, DtypeSpec, ExpressionSpec)


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Spec | SpecFault:
    """Reads one argument. Never raises: what can't be read is a fault at the exact characters."""
    reader = _Reader(text)
    try:
        spec = reader.spec()
        reader.end()
    except _FaultError as error:
        return error.fault
    return spec


def constant(value: object) -> ConstantSpec | None:
    """The spec of a Python constant; None for what the compiler takes no constants of."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return ConstantSpec(repr(value))
    return None


def is_constant(spec: Spec) -> bool:
    """True for constants and for tuples of nothing else."""
    if isinstance(spec, TupleSpec):
        return all(map(is_constant, spec.items))
    return isinstance(spec, CONSTANTS)


def _tuple(items: tuple[object, ...]) -> str:
    return f"({','.join(map(str, items))}{',' if len(items) == 1 else ''})"


_NOT_LITERALS = frozenset({"inf", "-inf", "nan"})
_BLANK = re.compile(r"\s*")
_WORD = re.compile(r"[^\W\d]\w*")
_INTEGER = re.compile(r"\d[\d_]*")
_NUMBER = re.compile(
    r"[+-]?\s*(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?|inf\b|nan\b)"
)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


class _FaultError(Exception):
    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.fault = SpecFault(message, start, max(end, start))


class _Reader:
    """A recursive descent over the text; raises `_FaultError`, which `parse` turns into a value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def fail(self, message: str, start: int | None = None, end: int | None = None) -> _FaultError:
        """A fault from `start` to `end`, by default over the word at the current position."""
        if start is None:
            start = self.position
            if start >= len(self.text):
                # Nothing is left to point at: point at the last character, whose successor is missing.
                start, end = max(0, len(self.text) - 1), len(self.text)
        if end is None:
            word = re.compile(r"\w+|.", re.DOTALL).match(self.text, start)
            end = word.end() if word else start
        return _FaultError(message, start, end)

    def skip(self) -> None:
        self.position = _BLANK.match(self.text, self.position).end()

    def peek(self, token: str) -> bool:
        self.skip()
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        if self.peek(token):
            self.position += len(token)
            return True
        return False

    def expect(self, token: str, context: str) -> None:
        if not self.take(token):
            raise self.fail(f"expected `{token}` {context}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = pattern.match(self.text, self.position)
        if found is not None and found.end() > self.position:
            self.position = found.end()
            return found
        return None

    def end(self) -> None:
        self.skip()
        if self.position < len(self.text):
            raise self.fail(f"`{self.text[self.position :]}` is left over", self.position, len(self.text))

    def spec(self, nested: bool = False) -> Spec:
        self.skip()
        if self.position >= len(self.text):
            raise self.fail("an argument is missing")
        if self.peek("="):
            return self.expression(nested)
        if self.peek("("):
            return self.tuple()
        if self.text[self.position] in "'\"":
            return self.string()
        number = self.match(_NUMBER)
        if number is not None:
            return self.number(number)
        start = self.position
        word = self.match(_WORD)
        if word is None:
            raise self.fail(f"`{self.text[self.position]}` starts no argument")
        name = word.group()
        if name in ("True", "False", "None"):
            return ConstantSpec(name)
        if name == "dtype" and self.take(":"):
            return DtypeSpec(self.dtype())
        if name == "list" and self.take("["):
            return self.list(start)
        dtype = dtypes.canonical(name)
        if dtype is None:
            raise self.fail(dtypes.unknown_dtype(name), start, word.end())
        if self.take("["):
            return self.array(dtype)
        return ScalarSpec(dtype)

    def dtype(self) -> str:
        word = self.match(_WORD)
        if word is None:
            raise self.fail("a dtype is missing")
        dtype = dtypes.canonical(word.group())
        if dtype is None:
            raise self.fail(dtypes.unknown_dtype(word.group()), word.start(), word.end())
        return dtype

    def list(self, start: int) -> ListSpec:
        inner = self.position
        element = self.spec(nested=True)
        if not isinstance(element, ArraySpec):
            raise self.fail("a list holds arrays, such as list[f16[?,?]]", inner, self.position)
        self.expect("]", "after the list's element")
        return ListSpec(element)

    def tuple(self) -> TupleSpec:
        self.expect("(", "")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fail(f"tuples are nested more than {_MAX_DEPTH} deep", self.position - 1, self.position)
        items: list[Spec] = []
        while not self.take(")"):
            items.append(self.spec(nested=True))
            if not self.take(","):
                if len(items) == 1 and self.peek(")"):
                    raise self.fail("a tuple of one item ends in a comma: (…,)")
                self.expect(")", "after the tuple's items")
                break
        self.depth -= 1
        return TupleSpec(tuple(items))

    def array(self, dtype: str) -> ArraySpec:
        dims = self.dims("]")
        if len(dims) > _MAX_RANK:
            raise self.fail(f"an array of {len(dims)} dimensions: there can be {_MAX_RANK}", 0, self.position)
        strides: tuple[Dim, ...] | None = None
        align, index = DEFAULT_ALIGNMENT, None
        seen: set[str] = set()
        while self.take("/"):
            self.skip()
            start = self.position
            word = self.match(_WORD)
            name = word.group() if word else ""
            if name not in ("strides", "align", "index"):
                raise self.fail("expected `strides=(…)`, `align=…` or `index=…` after `/`", None if not name else start)
            if name in seen:
                raise self.fail(f"`{name}` is given twice", start, self.position)
            seen.add(name)
            self.expect("=", f"after `{name}`")
            self.skip()
            start = self.position
            if name == "strides":
                self.expect("(", "before the strides")
                strides = self.dims(")")
                if len(strides) != len(dims):
                    message = f"{len(strides)} strides for {len(dims)} dimensions"
                    raise self.fail(message, start, self.position)
            elif name == "align":
                align = self.positive("an alignment in bytes")
                if align & (align - 1):
                    raise self.fail(f"an alignment is a power of two, not {align}", start, self.position)
            else:
                index = self.dtype()
                if index not in ("i32", "i64"):
                    raise self.fail(f"arrays are indexed with i32 or i64, not {index}", start, self.position)
        if strides == _row_major(dims):
            strides = None
        return ArraySpec(dtype, dims, strides, align, index)

    def dims(self, closer: str) -> tuple[Dim, ...]:
        dims: list[Dim] = []
        while not self.take(closer):
            dims.append(self.dim())
            if not self.take(","):
                self.expect(closer, "after the dimensions" if closer == "]" else "after the strides")
                break
        return tuple(dims)

    def dim(self) -> Dim:
        if self.take("?"):
            return Dim(None, self.positive("a divisor after `?:`") if self.take(":") else 1)
        self.skip()
        start = self.position
        number = self.match(_INTEGER)
        if number is None:
            end = next((i for i in range(start, len(self.text)) if self.text[i] in ",])"), len(self.text))
            wrong = self.text[start:end].strip()
            if not wrong:
                raise self.fail("a dimension is missing: write a length, `?` or `?:16`")
            raise self.fail(f"`{wrong}` is no dimension: write a length, `?` or `?:16`", start, start + len(wrong))
        return Dim(self.integer(number))

    def positive(self, what: str) -> int:
        number = self.match(_INTEGER)
        if number is None:
            raise self.fail(f"expected {what}")
        value = self.integer(number)
        if value < 1:
            raise self.fail(f"{what} is at least 1", number.start(), number.end())
        return value

    def integer(self, found: re.Match[str]) -> int:
        try:
            value = int(found.group())
        except ValueError:
            raise self.fail(f"`{found.group()}` is no number", found.start(), found.end()) from None
        if value >= 1 << 63:
            raise self.fail(f"{value} does not fit 64 bits", found.start(), found.end())
        return value

    def number(self, found: re.Match[str]) -> ConstantSpec:
        text = re.sub(r"\s", "", found.group()).removeprefix("+")
        following = self.text[self.position : self.position + 1]
        if following and (following.isalnum() or following in "_["):
            end = next((i for i in range(self.position, len(self.text)) if self.text[i] in ",)] "), len(self.text))
            wrong = self.text[found.start() : end]
            raise self.fail(f"`{wrong}` is neither a number nor a type", found.start(), end)
        if text.removeprefix("-") in ("inf", "nan"):
            return ConstantSpec("nan" if text.endswith("nan") else text)
        try:
            return ConstantSpec(repr(ast.literal_eval(text)))
        except (SyntaxError, ValueError):
            raise self.fail(f"`{found.group()}` is no number", found.start(), found.end()) from None

    def string(self) -> ConstantSpec:
        start = self.position
        found = self.match(_STRING)
        if found is None:
            raise self.fail("the string is never closed", start, len(self.text))
        try:
            return ConstantSpec(repr(ast.literal_eval(found.group())))
        except (SyntaxError, ValueError):
            raise self.fail(f"{found.group()} is no string", start, found.end()) from None

    def expression(self, nested: bool) -> ExpressionSpec:
        self.position += 1
        start = self.position
        end = self.expression_end(start) if nested else len(self.text)
        source = self.text[start:end].strip()
        if not source:
            raise self.fail("an expression is missing after `=`", start - 1, start)
        try:
            tree = ast.parse(source, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else "too deeply nested"
            raise self.fail(f"`{source}` is no Python expression: {reason}", start, end) from None
        self.position = end
        return ExpressionSpec(ast.unparse(tree))

    def expression_end(self, start: int) -> int:
        """The comma or bracket, outside the expression's own brackets and strings, that ends an item of a tuple."""
        depth, position = 0, start
        while position < len(self.text):
            character = self.text[position]
            if character in "([{":
                depth += 1
            elif character in ")]}" or (character == "," and depth == 0):
                if depth == 0:
                    return position
                depth -= 1
            elif character in "'\"":
                string = _STRING.match(self.text, position)
                if string is not None:
                    position = string.end() - 1
            position += 1
        return position


def _row_major(dims: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    """The strides of a contiguous array, if all are known."""
    strides = [1]
    for dim in reversed(dims[1:]):
        if dim.value is None:
            return None
        strides.append(strides[-1] * dim.value)
    return tuple(Dim(stride) for stride in reversed(strides)) if dims else ()
