"""Values for integer constants that nobody gave: tile sizes small enough to compile, that fit one another.

A size that shapes a tile is a power of two, chosen by how many such sizes make up the tile; equalities between sizes (a
reshape keeps the number of elements, the inner lengths of a product agree) are then met by changing what is free to
change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from .terms import Mono
from .usage import Usage

#: Elements that a tile may have: of operands and results of matrix products, and of others.
_PRODUCT_TILE = 128 * 128
_OTHER_TILE = 64 * 64
_ROW = 1024
_INNER = 64
_HEAD = 64
_MOST_PASSES = 64

#: For sizes that shape no tile, by name; the first that matches.
_BY_NAME: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), value)
    for pattern, value in (
        (r"num_?sms?$|sm_?count", 132),
        (r"scal\w*_?block|block_?scal|quant\w*(size|block)|vec_?size", 32),
        (r"(^|_)(group|groups)($|_)|group_?size|swizzle", 8),
        (r"(^|_)(query_?group|kv_?group|rep|replicas?|top_?k)", 2),
        (r"split|num_?stages?|unroll|latency|depth", 2),
        (r"(^|_)(axis|dim_?index|mode|offset|start|seed|pad)$", 0),
        (r"(^|_)(h|heads?|n_?heads|num_?heads|kv_?heads|batch|bs|b)$", 8),
        (r"(^|_)(d|hd|head_?dim|head_?size|d_?head|dim_?head)$", _HEAD),
        (r"(^|_)(m|n|k|c|l|rows?|cols?|columns?|len|length|size|seq\w*|hidden\w*|features?|vocab\w*)$|_?size$", 1024),
        (r"(^|_)(num|n|count)_", 4),
    )
)
_HEAD_DIM = re.compile(r"(^|_)(d|hd|head_?dim|head_?size|d_?head|dim_?head|d_?k|d_?v)$", re.IGNORECASE)
_K_DIM = re.compile(r"(^|_|tile|block|t|b)k$|(^|_)k(_|$)", re.IGNORECASE)
_DEFAULT = 16


def choose_sizes(wanted: Iterable[str], known: Mapping[str, int], usage: Usage) -> dict[str, tuple[int, str]]:
    """A value for each wanted constant, with the reason. `known` are values that are given and stay as they are."""
    wanted = list(wanted)
    chosen: dict[str, tuple[int, str]] = {name: _first_choice(name, usage) for name in wanted}
    values = {name: value for name, (value, _) in chosen.items()}
    _meet_equalities(values, known, usage)
    _grow(values, known, usage)
    _shrink(values, known, usage)
    return {
        name: (values[name], why if values[name] == value else "made to fit the sizes that it is used with")
        for name, (value, why) in chosen.items()
    }


def _first_choice(name: str, usage: Usage) -> tuple[int, str]:
    product = bool(usage.accumulators)
    limit, inner_size = (_PRODUCT_TILE, _INNER) if product else (_OTHER_TILE, _INNER)
    if product and any(slot.path and "mma" in use.roles for slot, use in usage.uses.items()):
        # Operands out of lists: tileiras 13.4 gives up on some larger ones for sm_90.
        limit, inner_size = _PRODUCT_TILE // 4, _INNER // 2
    best: int | None = None
    for shape in (*usage.shapes, *usage.accumulators):
        sizes = [size for size in shape if size is not None]
        degree = sum(power for size in sizes for _, power in size.powers if power > 0)
        if not any(name in size.names and dict(size.powers)[name] > 0 for size in sizes):
            continue
        side = _power_below((limit / _literal_part(sizes)) ** (1 / max(degree, 1)))
        top = 128 if product else _ROW
        side = max(1, min(side, top, _ROW))
        best = side if best is None else min(best, side)
    if best is not None:
        if product and _HEAD_DIM.search(name):
            return min(best, _HEAD), "a head's dimension, by its name"
        inner = all(name not in size.names for shape in usage.accumulators for size in shape if size is not None)
        if product and (inner or _K_DIM.search(name)):
            return min(best, inner_size), "the inner size of a matrix product"
        return best, "a tile size"
    return _by_name(name)


def _literal_part(sizes: Iterable[Mono]) -> float:
    """What a tile's number of elements is multiplied by beside the sizes that are to be chosen."""
    result = 1.0
    for size in sizes:
        result *= abs(float(size.coefficient)) or 1.0
        for name, power in size.powers:
            if power < 0:
                result /= float(_by_name(name)[0] or 1) ** -power
    return result


def _by_name(name: str) -> tuple[int, str]:
    for pattern, value in _BY_NAME:
        if pattern.search(name):
            return value, "by its name"
    return _DEFAULT, "nothing says what it is"


def _meet_equalities(values: dict[str, int], known: Mapping[str, int], usage: Usage) -> None:
    equalities = list(dict.fromkeys(usage.equalities))
    for _ in range(_MOST_PASSES):
        everything = {**known, **values}
        broken = [pair for pair in equalities if not _holds(pair, everything)]
        if not broken:
            return
        if not any(_repair(pair, values, everything) for pair in broken):
            return


def _holds(pair: tuple[Mono, Mono], values: Mapping[str, int]) -> bool:
    left, right = _evaluate(pair[0], values), _evaluate(pair[1], values)
    return left is None or right is None or left == right


def _repair(pair: tuple[Mono, Mono], values: dict[str, int], everything: Mapping[str, int]) -> bool:
    """Changes one free size so that both sides agree: best one that stands alone on its side."""
    ratio = pair[0].times(pair[1], -1)
    powers = dict(ratio.powers)
    alone = {name for side in pair for name in side.names if len(side.powers) == 1}
    candidates = sorted(
        (name for name, power in powers.items() if name in values and abs(power) == 1),
        key=lambda name: (name not in alone, name),
    )
    for name in candidates:
        rest = _evaluate(ratio, {**everything, name: 1})
        if rest is None or rest == 0:
            continue
        solution = 1 / rest if powers[name] == 1 else rest
        if solution.denominator == 1 and 1 <= solution <= 1 << 16:
            values[name] = int(solution)
            return True
    return False


def _grow(values: dict[str, int], known: Mapping[str, int], usage: Usage) -> None:
    """Doubles what is divided until no length of a tile is below 1."""
    for _ in range(_MOST_PASSES):
        everything = {**known, **values}
        for size in (size for shape in usage.shapes for size in shape if size is not None):
            length = _evaluate(size, everything)
            names = [name for name, power in size.powers if power > 0 and 0 < values.get(name, 0) < _ROW]
            if length is not None and 0 < length < 1 and names:
                values[names[0]] *= 2
                break
        else:
            return


def _shrink(values: dict[str, int], known: Mapping[str, int], usage: Usage) -> None:
    """Halves sizes of tiles that became too large for the values that were given."""
    limit = 4 * (_PRODUCT_TILE if usage.accumulators else _OTHER_TILE)
    for _ in range(_MOST_PASSES):
        everything = {**known, **values}
        for shape in usage.shapes:
            elements = Fraction(1)
            for size in shape:
                elements *= (_evaluate(size, everything) if size is not None else None) or 1
            names = [n for size in shape if size is not None for n, power in size.powers if power > 0 and n in values]
            if elements > limit and names:
                largest = max(names, key=lambda n: values[n])
                if values[largest] > 1:
                    values[largest] //= 2
                    break
        else:
            return
        _meet_equalities(values, known, usage)


def _evaluate(size: Mono, values: Mapping[str, int]) -> Fraction | None:
    result = size.coefficient
    for name, power in size.powers:
        value = values.get(name)
        if value is None or (value == 0 and power < 0):
            return None
        result *= Fraction(value) ** power
    return result


def _power_below(value: float) -> int:
    power = 1
    while power * 2 <= value + 1e-9:
        power *= 2
    return power
