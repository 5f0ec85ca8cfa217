"""What the reading of a kernel body knows of a value: monomials over its constants, dtype terms, tiles.

Nothing here is exact: it is enough to see how each parameter is used, and which sizes have to fit one another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from fractions import Fraction

import msgspec

from tile_lsp.frontends.dtypes import canonical


class Slot(msgspec.Struct, frozen=True):
    """A parameter, or a part of one: `As[*]` is any element of the list `As`, `p[0]` an item of a tuple."""

    name: str
    path: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return self.name + "".join(f"[{step}]" for step in self.path)


class Mono(msgspec.Struct, frozen=True):
    """A size as `coefficient * a**i * b**j …` over names of constant parameters."""

    coefficient: Fraction
    powers: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.powers)

    def times(self, other: Mono, sign: int = 1) -> Mono:
        """The product; with sign -1 the quotient, taken to be exact as sizes that are powers of two make it."""
        powers = dict(self.powers)
        for name, power in other.powers:
            powers[name] = powers.get(name, 0) + sign * power
        factor = other.coefficient if sign > 0 else 1 / other.coefficient
        return Mono(self.coefficient * factor, tuple(sorted((n, p) for n, p in powers.items() if p)))


def number(value: int) -> Mono:
    return Mono(Fraction(value))


ONE = number(1)

Dims = tuple[Mono | None, ...]
"""Lengths of a tile; None where one is not known."""


class Fixed(msgspec.Struct, frozen=True):
    """A dtype that the code spells out."""

    dtype: str


class Of(msgspec.Struct, frozen=True):
    """The dtype of what a parameter holds."""

    slot: Slot


class Weak(msgspec.Struct, frozen=True):
    """The dtype of a Python number, which gives way to any other of its kind."""

    kind: str
    """`int`, `float` or `bool`."""


class Mix(msgspec.Struct, frozen=True):
    """What several dtypes promote to. A set, so that loops don't make it grow."""

    leaves: frozenset[Fixed | Of | Weak]
    floated: bool = False
    """True where a function with real values was taken: integers become f32."""


Term = Fixed | Of | Weak | Mix | None

INT = Fixed("i32")
BOOL = Fixed("bool")


def slots(term: Term) -> frozenset[Slot]:
    """The parameters that a dtype hangs on."""
    if isinstance(term, Of):
        return frozenset({term.slot})
    if isinstance(term, Mix):
        return frozenset(leaf.slot for leaf in term.leaves if isinstance(leaf, Of))
    return frozenset()


def join(left: Term, right: Term) -> Term:
    if left == right:
        return left
    if left is None or right is None:
        return None
    a, b = _mix(left), _mix(right)
    return Mix(a.leaves | b.leaves, a.floated or b.floated)


def floated(term: Term) -> Term:
    """The dtype of a function with real values of something."""
    return None if term is None else Mix(_mix(term).leaves, True)


def _mix(term: Fixed | Of | Weak | Mix) -> Mix:
    return term if isinstance(term, Mix) else Mix(frozenset({term}))


class Unknown(msgspec.Struct, frozen=True):
    pass


class Ref(msgspec.Struct, frozen=True):
    """A parameter itself, or a part of one, whose role its uses decide."""

    slot: Slot


class Num(msgspec.Struct, frozen=True):
    """A scalar."""

    size: Mono | None = None
    dtype: Term = INT


class Literal(msgspec.Struct, frozen=True):
    """A Python value that is no number: a string, None."""

    value: object


class Items(msgspec.Struct, frozen=True):
    """A tuple or list."""

    items: tuple[Value, ...]


class Tile(msgspec.Struct, frozen=True):
    shape: Dims | None
    dtype: Term


class Dtype(msgspec.Struct, frozen=True):
    term: Term


class Shape(msgspec.Struct, frozen=True):
    """The shape or the strides of an array."""

    slot: Slot


class View(msgspec.Struct, frozen=True):
    """`A.tiled_view(shape)`, or `A.get_raw_memory()` with no shape."""

    slot: Slot
    shape: Dims | None


class Named(msgspec.Struct, frozen=True):
    """A module, or something of a module outside the workspace: `cuda.tile.load`."""

    dotted: str


class Function(msgspec.Struct, frozen=True, eq=False):
    node: ast.FunctionDef | ast.Lambda
    path: str
    captured: tuple[tuple[str, Value], ...] = ()


class Method(msgspec.Struct, frozen=True):
    """A bound method."""

    owner: Value
    name: str


Value = Unknown | Ref | Num | Literal | Items | Tile | Dtype | Shape | View | Named | Function | Method

UNKNOWN = Unknown()


def named(dotted: str) -> Value:
    """What a dotted name of a module outside the workspace stands for."""
    module, _, name = dotted.rpartition(".")
    if module in ("cuda.tile", "torch", "numpy", "cupy", "jax.numpy"):
        dtype = canonical(name)
        if dtype is not None and name not in ("int", "float", "bool", "half", "double", "long", "short", "single"):
            return Dtype(Fixed(dtype))
        if name in ("inf", "nan", "pi", "e"):
            return Num(None, Weak("float"))
    if module == "math" and name in ("inf", "nan", "pi", "e", "tau"):
        return Num(None, Weak("float"))
    return Named(dotted)


def literal(value: object) -> Value:
    if isinstance(value, bool):
        return Num(None, Weak("bool"))
    if isinstance(value, int):
        return Num(number(value), Weak("int"))
    if isinstance(value, float):
        return Num(None, Weak("float"))
    if isinstance(value, (tuple, list)):
        return Items(tuple(map(literal, value)))
    return Literal(value)


def knowledge(value: Value) -> int:
    """How much a value says, to choose between branches."""
    match value:
        case Tile(shape=shape, dtype=dtype):
            return 2 + (shape is not None) + (dtype is not None)
        case Num(size=size):
            return 1 + (size is not None)
        case Literal() | Items() | Dtype() | Ref() | View() | Shape() | Named() | Function():
            return 2
        case _:
            return 0


def term_of(value: Value | None) -> Term:
    return value.dtype if isinstance(value, (Tile, Num)) else None


def dims_of(value: Value) -> Dims | None:
    if isinstance(value, Tile):
        return value.shape
    return () if isinstance(value, Num) else None


def product(sizes: Iterable[Mono | None]) -> Mono:
    result = ONE
    for size in sizes:
        if size is not None:
            result = result.times(size)
    return result


def arithmetic(op: ast.operator, left: Mono, right: Mono) -> Mono | None:
    if isinstance(op, ast.Mult):
        return left.times(right) if right.coefficient and left.coefficient else number(0)
    if isinstance(op, (ast.FloorDiv, ast.Div)):
        return left.times(right, -1) if right.coefficient else None
    if not left.powers and not right.powers:
        if isinstance(op, ast.Add):
            return Mono(left.coefficient + right.coefficient)
        if isinstance(op, ast.Sub):
            return Mono(left.coefficient - right.coefficient)
        if isinstance(op, ast.Pow) and abs(right.coefficient) <= 64 and left.coefficient:
            return Mono(Fraction(left.coefficient ** int(right.coefficient)))
    return None


def index_of(value: Value) -> int | None:
    if isinstance(value, Num) and value.size is not None and not value.size.powers:
        return int(value.size.coefficient)
    return None
