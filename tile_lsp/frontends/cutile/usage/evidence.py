"""What an access, an operator or a product tells of the parameters in it."""

from __future__ import annotations

import ast

from tile_lsp.frontends.cutile.terms import (
    BOOL,
    ONE,
    UNKNOWN,
    Dims,
    Dtype,
    Items,
    Literal,
    Mono,
    Num,
    Of,
    Ref,
    Slot,
    Tile,
    Value,
    arithmetic,
    dims_of,
    floated,
    join,
    product,
    slots,
    term_of,
)
from tile_lsp.frontends.names import Names

from .use import Usage, Use


class Evidence:
    """What one activation of a function gathers."""

    def __init__(self, usage: Usage, names: Names, home: str, path: str) -> None:
        self.usage = usage
        self.names = names
        self.home = home
        self.path = path
        self.line = 0
        """That of `path` which is being read."""

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        operand = self.scalarise(operand)
        if isinstance(op, ast.Not):
            return Num(dtype=BOOL)
        if isinstance(operand, Num):
            size = operand.size
            if isinstance(op, ast.USub) and size is not None:
                size = Mono(-size.coefficient, size.powers)
            return Num(size, operand.dtype)
        return operand

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        left, right = self.scalarise(left, other=right), self.scalarise(right, other=left)
        if isinstance(left, Items) and isinstance(right, Items) and isinstance(op, ast.Add):
            return Items((*left.items, *right.items))
        if isinstance(op, ast.MatMult):
            return self.matmul(left, right)
        if isinstance(left, Num) and isinstance(right, Num):
            return self.scalar_arithmetic(op, left, right)
        dtype = join(term_of(left), term_of(right))
        if isinstance(op, ast.Div):
            dtype = floated(dtype)
        if isinstance(left, Tile) or isinstance(right, Tile):
            return Tile(self.broadcast(dims_of(left), dims_of(right)), dtype)
        return UNKNOWN

    def scalar_arithmetic(self, op: ast.operator, left: Num, right: Num) -> Num:
        size = None
        if left.size is not None and right.size is not None:
            size = arithmetic(op, left.size, right.size)
        dtype = join(left.dtype, right.dtype)
        if isinstance(op, ast.Div):
            dtype = floated(dtype)
        return Num(size, dtype)

    def compare(self, values: list[Value]) -> Value:
        literals = [value.value for value in values if isinstance(value, Literal)]
        for value in values:
            if isinstance(value, Ref) and literals:
                self.usage.use(value.slot).compared.extend(literals)
            elif isinstance(value, Ref) and any(isinstance(other, Dtype) for other in values):
                self.usage.use(value.slot).is_dtype = True
            elif isinstance(value, Num) and value.size is not None and literals:
                for name in value.size.names:
                    self.usage.use(Slot(name)).compared.extend(literals)
            elif isinstance(value, Num) and value.size is not None and any(isinstance(v, Dtype) for v in values):
                for name in value.size.names:
                    self.usage.use(Slot(name)).is_dtype = True
        others = list(values)
        values = [
            self.scalarise(value, other=others[1 - position] if len(others) == 2 else None)
            for position, value in enumerate(values)
        ]
        shape: Dims | None = ()
        for value in values:
            shape = self.broadcast(shape, dims_of(value))
        if any(isinstance(value, Tile) for value in values):
            return Tile(shape, BOOL)
        return Num(dtype=BOOL)

    def scalarise(self, value: Value, other: Value | None = None) -> Value:
        """A parameter that takes part in arithmetic is a scalar."""
        if not isinstance(value, Ref):
            return value
        use = self.usage.use(value.slot)
        if use.array is not None or use.sequence is not None:
            return UNKNOWN
        use.scalar = use.scalar or f"used in arithmetic at {self.where()}"
        use.partners.append(term_of(other))
        return Num(None, Of(value.slot))

    def integral(self, value: Value) -> None:
        """The value is used as an index or a count: what it came from is integral."""
        if isinstance(value, Ref):
            use = self.usage.use(value.slot)
            if use.array is None and use.sequence is None:
                use.scalar = use.scalar or f"used as an index at {self.where()}"
                use.roles.setdefault("index", f"used as an index at {self.where()}")
            return
        if isinstance(value, Items):
            for item in value.items:
                self.integral(item)
            return
        for slot in slots(term_of(value)):
            self.usage.use(slot).roles.setdefault("index", f"its elements are indices at {self.where()}")

    def where(self) -> str:
        place = self.names.place(self.path, self.line)
        if self.path != self.home:
            return place
        line = place[len(self.path.rsplit("/", 1)[-1]) + 1 :]
        return line if line.startswith("cell") else f"line {line}"

    def array(self, slot: Slot, why: str) -> Use:
        use = self.usage.use(slot)
        use.array = use.array or f"{why} at {self.where()}"
        return use

    def sequence(self, slot: Slot, why: str) -> Use:
        use = self.usage.use(slot)
        use.sequence = use.sequence or f"{why} at {self.where()}"
        return use

    def rank(self, slot: Slot, rank: int, why: str) -> None:
        use = self.array(slot, why)
        if use.rank is None:
            use.rank = rank
            use.rank_why = f"{why} at {self.where()}"

    def indexed(self, slot: Slot, index: Value, shape: Dims | None = None) -> None:
        """An access by coordinates: their number is the rank, and what they were loaded from is integral."""
        self.integral(index)
        if isinstance(index, Items):
            count = len(index.items)
            self.rank(slot, count, f"indexed with {count} coordinate{'s' * (count != 1)}")
        elif shape is not None and len(shape) > 0:
            self.rank(slot, len(shape), f"its tiles have {len(shape)} dimension{'s' * (len(shape) != 1)}")
        elif isinstance(index, (Num, Tile, Ref)):
            self.rank(slot, 1, "indexed with 1 coordinate")
        else:
            self.array(slot, "indexed")

    def tile_shape(self, value: Value) -> Dims | None:
        """The shape of a tile as an argument gives it."""
        if isinstance(value, Items):
            shape = tuple(item.size if isinstance(item, Num) else None for item in value.items)
        elif isinstance(value, Num):
            shape = (value.size,)
        else:
            return None
        if not any(size is not None and size.coefficient < 0 for size in shape):
            self.usage.shapes[shape] = None
        return shape

    def equal(self, left: Mono | None, right: Mono | None) -> None:
        if left is not None and right is not None and left != right:
            self.usage.equalities.append((left, right))

    def broadcast(self, left: Dims | None, right: Dims | None) -> Dims | None:
        if left is None or right is None:
            return None
        if len(left) < len(right):
            left, right = right, left
        padded = (*([ONE] * (len(left) - len(right))), *right)
        result: list[Mono | None] = []
        for a, b in zip(left, padded, strict=True):
            if b == ONE:
                result.append(a)
            elif a == ONE:
                result.append(b)
            else:
                self.equal(a, b)
                result.append(a if a is not None else b)
        if len(left) > 1:
            self.usage.shapes[tuple(result)] = None
        return tuple(result)

    def same_count(self, before: Dims | None, after: Dims | None) -> None:
        """A reshape keeps the number of elements."""
        if before is not None and after is not None and None not in before and None not in after:
            self.equal(product(before), product(after))

    def mma_operand(self, value: Value, role: str, what: str) -> None:
        for slot in slots(term_of(value)):
            self.usage.use(slot).roles.setdefault(role, f"{what} at {self.where()}")

    def multiply(self, left: Dims | None, right: Dims | None) -> Dims | None:
        """Shape of a matrix product; notes that the inner lengths agree."""
        if left is None or right is None or len(left) < 2 or len(right) < 2:
            return None
        self.equal(left[-1], right[-2])
        batch = self.broadcast(left[:-2], right[:-2])
        return (*batch, left[-2], right[-1]) if batch is not None else None

    def matmul(self, left: Value, right: Value) -> Value:
        self.mma_operand(left, "mma", "an operand of a matrix product")
        self.mma_operand(right, "mma", "an operand of a matrix product")
        shape = self.multiply(dims_of(left), dims_of(right))
        return Tile(shape, join(term_of(left), term_of(right)))

    def condition(self, value: Value) -> None:
        """What is loaded and taken for a truth value is one."""
        term = term_of(value)
        if isinstance(term, Of) and isinstance(value, Tile):
            self.usage.use(term.slot).roles.setdefault("truth", f"its elements are conditions at {self.where()}")

    def stored(self, slot: Slot, value: Value) -> None:
        if isinstance(value, Ref):
            value = self.scalarise(value)
        self.usage.stores.append((slot, term_of(value), self.where()))
