"""What is taken where nobody says what an argument is: from its use, its name, its annotation, its default."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.frontends.base import Origin

from . import gluon, spec
from .configs import Blocks
from .use import Asserted, Usage, Use

_INDEX = re.compile(
    r"(indices|index|idx|seqlen|cu_seq|_ids?(_|$)|label|target|chunk_|token|expert|lens?(_ptr)?$|"
    r"counts?(_ptr)?$|offsets(_ptr)?$|block_table|slot|page|topk|pos(ition)?s?(_ptr)?$|map(_ptr)?$|seed)",
    re.IGNORECASE,
)
_WIDE_INDEX = re.compile(r"label|target|_ids|seed", re.IGNORECASE)
_FLOAT_NAME = re.compile(
    r"(eps|scale|alpha|beta|momentum|^p$|drop|(^|_)lr$|temp|softcap|_rate|smooth|factor|theta|gamma|value$|"
    r"lse_square|fill|min_?val|max_?val|inv_|weight_decay|^value|prob|limit|clamp|^tau)",
    re.IGNORECASE,
)
#: Statistics and states, which are kept in full precision whatever the data is in.
_FULL = re.compile(r"^d?h[0t](_ptr)?$|state|(^|_)(lse|rstd|mean|rms|logsumexp|scales?)(_ptr)?$", re.IGNORECASE)
#: What numbers are multiplied with, even where it shares a local name with what is none.
_SCALE = re.compile(r"scale", re.IGNORECASE)
#: Where sequences begin and end, whatever they are sequences of.
_BOUND = re.compile(r"^cu_?seq|_?(starts?|offsets?|indptr)(_ptr)?$", re.IGNORECASE)
_MOST_ITEMS = 16
#: How far what is asserted of one constant is followed to others.
_ROUNDS = 3
_FLAG = re.compile(
    r"^(IS_|USE_|HAS_|DO_|STORE_|SAVE_|OUTPUT_|ENABLE|APPLY|EVEN|REVERSE|CAUSAL|RETURN|WITH|TRANS|ALLOW|INPLACE|is_|"
    r"has_|use_|do_|casting|FLAT|BACKWARD|REMOVE|COMPUTE_|HEAD_FIRST|PERMUTE|FUSE|ACCUM|TMA|INIT)|(_IS_|HAS|MASK$|_causal)"
)
_BLOCK = re.compile(r"(BLOCK|TILE|^B[A-Z]{1,2}$|^b[a-z]$|SIZE|_B[A-Z]$)", re.IGNORECASE)
_FEW = re.compile(r"NUM_|^num_|STAGES|GROUP|^G$|^NT$|^NS$|^N[A-Z]$|_NUM$|SPLIT|UNROLL|ITER|STEPS?$|nheads|DEPTH")
_LAYOUT = re.compile(r"layout", re.IGNORECASE)
#: Dtypes that products are summed up in.
_SUMS = re.compile(r"acc|dot", re.IGNORECASE)
_DTYPE = re.compile(r"dtype(?!_?(max|min|size|bytes|bits))|_type$|_TYPE$|^dt$", re.IGNORECASE)
_ACTIVATION = re.compile(r"(^|_)act(ivation)?(_(type|fn|func|kind))?$", re.IGNORECASE)
_HALF = re.compile(r"_half(?=_|$)|^half_", re.IGNORECASE)
_LIMIT = re.compile(r"dtype_?(max|min)", re.IGNORECASE)


class Guess(msgspec.Struct, frozen=True):
    """One consistent reading of what is unknown."""

    pointer: str = ""
    """Dtype of pointers' elements; empty: as the use suggests."""
    dot: str = ""
    """The same, of those whose elements are operands of `tl.dot`."""
    flags: bool = False
    dim: int = 64
    """Of constants that are no block's side."""
    block: int = 64
    optional: bool = False
    """Parameters that are compared with None are None."""
    tuned: bool = False
    """Parameters that an autotuner's unread configs may set have the value that the first one gives."""
    strided: bool = False
    """Strides of last dimensions are any number, not 1."""
    lanes: int = 32
    """Of a warp, in layouts that Gluon takes."""


#: The first is shown where it works; the others are tried in their order.
GUESSES = (
    Guess(tuned=True),
    Guess(),
    Guess(flags=True),
    Guess(lanes=64),
    Guess(strided=True),
    Guess(pointer="other"),
    Guess(pointer="other", flags=True),
    Guess(pointer="fp32"),
    Guess(pointer="fp16"),
    Guess(optional=True),
    Guess(dim=16, block=16),
    Guess(dim=128, block=32),
    Guess(dim=1, block=64),
    Guess(pointer="bf16", flags=True, dim=32, block=128),
    Guess(pointer="i32"),
    Guess(dim=2, block=32, flags=True),
    Guess(pointer="i64"),
    Guess(pointer="i8"),
    Guess(pointer="i8", dim=1024),
    Guess(dot="fp8e4nv"),
    Guess(dot="i8"),
    Guess(dim=4, block=64),
    Guess(dim=1024, block=64),
    Guess(dim=8, block=32, flags=True, optional=True),
)


class Parameter(msgspec.Struct, frozen=True):
    """One parameter with what is known of it before anything is assumed."""

    name: str
    constexpr: bool
    given: str | None = None
    """Spec, from a comment, the settings, an autotuner or a launch."""
    origin: Origin | None = None
    default: str | None = None
    """Spec of its default."""
    annotated: str | None = None
    """Spec of an annotation that is a type."""
    tuned: str = ""
    """Why an autotuner may set it, where its configs can't be read."""
    optional: bool = False
    """A heuristic compares it with None."""
    block: tuple[int, ...] = ()
    """Of a tensor descriptor, where the text says it."""
    element: str = ""
    """Dtype of what it points to, where the text insists on one."""


class Assumed(msgspec.Struct, frozen=True):
    spec: str
    origin: Origin


def assume(
    parameters: Sequence[Parameter], usage: Usage, guess: Guess, warps: int = 4, blocks: Blocks | None = None
) -> tuple[Assumed, ...]:
    """One argument for each parameter. `warps`: of a block, for layouts; `blocks`: what a config's hook sets."""
    if usage.rank > 2 and guess.block > 16:
        # Blocks of three dimensions of 64 are more than a compiler can chew.
        guess = msgspec.structs.replace(guess, block=16, dim=min(guess.dim, 16))
    made = {parameter.name: _one(parameter, usage, guess, warps) for parameter in parameters}
    _insist(parameters, usage, made)
    hooked = blocks({name: one.spec for name, one in made.items()}) if blocks is not None else {}
    for parameter in parameters:
        use = usage.of(parameter.name)
        if parameter.given is not None:
            continue
        block = hooked.get(parameter.name) or parameter.block or _lengths(use.block, made)
        element = next((one.dtype for one in _asserted(use, made) if one.dtype), "")
        if block != parameter.block or element:
            known = msgspec.structs.replace(parameter, block=block, element=element)
            made[parameter.name] = _one(known, usage, guess, warps)
    for parameter in parameters:
        use = usage.of(parameter.name)
        # What has a default or an annotation is what that says.
        if (use.items or use.counted_by) and made[parameter.name].origin.kind == "assumed":
            count = made[use.counted_by].spec if use.counted_by in made else ""
            made[parameter.name] = _tuple(made[parameter.name], use, int(count) if count.isdecimal() else 0)
    return tuple(made.values())


def _insist(parameters: Sequence[Parameter], usage: Usage, made: dict[str, Assumed]) -> None:
    """Give constants the values that the kernel asserts of them, as far as they hang on each other."""
    constants = {p.name for p in parameters if p.constexpr}
    free = [p for p in parameters if p.constexpr and p.given is None]
    free = [p for p in free if usage.of(p.name).asserted or _HALF.search(p.name)]
    for _ in range(_ROUNDS if free else 0):
        before = [made[parameter.name] for parameter in free]
        for parameter in free:
            name, asserted = parameter.name, _asserted(usage.of(parameter.name), made)
            equal = (made[one.same].spec for one in asserted if one.same in constants)
            value = next((one.value for one in asserted if one.value), "") or next(equal, "")
            if value:
                made[name] = Assumed(value, Origin("assumed", "the kernel asserts it"))
            elif parameter.default is None:
                divisors = _lengths([one.divisor for one in asserted if one.divisor], made)
                made[name] = _multiple(_half(name, made), divisors)
        if before == [made[parameter.name] for parameter in free]:
            break


def _asserted(use: Use, made: Mapping[str, Assumed]) -> list[Asserted]:
    return [one for one in use.asserted if not one.flag or _holds(one, made)]


def _lengths(names: Sequence[str], made: Mapping[str, Assumed]) -> tuple[int, ...]:
    """Of a block's sides, which are parameters or numbers; nothing where one is neither."""
    lengths = [made[name].spec if name in made else name for name in names]
    return tuple(map(int, lengths)) if all(length.isdecimal() for length in lengths) else ()


def _half(name: str, made: Mapping[str, Assumed]) -> Assumed:
    """Of another parameter, where the name says so."""
    whole = made.get(_HALF.sub("", name)) if _HALF.search(name) else None
    if whole is None or not whole.spec.isdecimal():
        return made[name]
    return Assumed(str(int(whole.spec) // 2), Origin("assumed", "its name: half of another"))


def _multiple(one: Assumed, divisors: Sequence[int]) -> Assumed:
    """The least number from there on that they divide."""
    step = math.lcm(*divisors)
    if not one.spec.isdecimal() or not step or not int(one.spec) % step:
        return one
    return Assumed(str(-(-int(one.spec) // step) * step), Origin("assumed", "a multiple of what the kernel asserts"))


def _holds(asserted: Asserted, made: Mapping[str, Assumed]) -> bool:
    flag = made.get(asserted.flag)
    return flag is not None and flag.spec == str(asserted.holds)


def _tuple(item: Assumed, use: Use, count: int) -> Assumed:
    items = ",".join([item.spec] * min(max(use.items, count, 1), _MOST_ITEMS))
    return Assumed(f"({items},)" if "," not in items else f"({items})", Origin("assumed", "its items are used"))


def alternatives(
    parameters: Sequence[Parameter], usage: Usage, warps: int = 4, blocks: Blocks | None = None
) -> tuple[tuple[Assumed, ...], ...]:
    """Other readings, each different from those before it."""
    if all(parameter.given is not None for parameter in parameters):
        return ()
    first = assume(parameters, usage, GUESSES[0], warps, blocks)
    seen = {tuple(one.spec for one in first)}
    found: list[tuple[Assumed, ...]] = []
    for guess in GUESSES[1:]:
        made = assume(parameters, usage, guess, warps, blocks)
        key = tuple(one.spec for one in made)
        if key not in seen:
            seen.add(key)
            found.append(made)
    return tuple(found)


def _one(parameter: Parameter, usage: Usage, guess: Guess, warps: int) -> Assumed:
    if parameter.given is not None:
        return Assumed(parameter.given, parameter.origin or Origin("assumed"))
    use = usage.of(parameter.name)
    if parameter.constexpr:
        if parameter.default is None and (use.layout >= 0 or (usage.language and _LAYOUT.search(parameter.name))):
            shared = use.shared or re.search("shared|smem", parameter.name, re.IGNORECASE) is not None
            text = gluon.fitting(usage.language, use.layout, shared, guess.lanes, warps)
            return Assumed(text, Origin("assumed", "used as a layout"))
        if parameter.default is None and (function := _function(usage, use)):
            return Assumed(function, Origin("assumed", "stands in for a function that nothing names"))
        return _constant(parameter, use, guess)
    if guess.optional and (use.none or parameter.optional):
        return Assumed("None", Origin("assumed", "compared with None"))
    if parameter.annotated is not None:
        return Assumed(parameter.annotated, Origin("annotation"))
    if parameter.default is not None and not use.pointer:
        made = spec.canonical(parameter.default, parameter.name, constexpr=False)
        if isinstance(made, str):
            return Assumed(made, Origin("default"))
    if (use.descriptor or parameter.block) and not use.pointer:
        block = list(parameter.block or [guess.block] * use.descriptor)
        element = parameter.element or _float(usage, use, guess)
        laid = f",{gluon.descriptor_layout(element, block)}" if usage.language else ""
        dims = ",".join(map(str, block))
        return Assumed(f"tensordesc<{element}[{dims}]{laid}>", Origin("assumed", "used as a tensor descriptor"))
    if use.pointer:
        return _pointer(parameter, usage, use, guess)
    return _scalar(parameter, use, guess)


def _pointer(parameter: Parameter, usage: Usage, use: Use, guess: Guess) -> Assumed:
    name = parameter.name
    if parameter.element:
        return Assumed(f"*{parameter.element}:16", Origin("assumed", f"{use.pointer}; its dtype is asserted"))
    if _FULL.search(name) and not use.index and guess.pointer in ("", "bf16"):
        return Assumed("*fp32:16", Origin("assumed", f"{use.pointer}; its name"))
    scales = _SCALE.search(name) and not _BOUND.search(name)
    if (use.index and not use.floating and not scales) or (
        _INDEX.search(name) and not use.dot and not use.floating and not re.search("scale|weight|grad|dy", name, re.I)
    ):
        element = "i64" if _WIDE_INDEX.search(name) else "i32"
        return Assumed(f"*{element}:16", Origin("assumed", use.index or f"{use.pointer}; its name"))
    if use.truth or re.search(r"mask", name, re.IGNORECASE):
        return Assumed("*i1:16", Origin("assumed", f"{use.pointer}, as a condition"))
    element = _float(usage, use, guess)
    why = f"{use.pointer}, operand of tl.dot" if use.dot else use.pointer
    return Assumed(f"*{element}:16", Origin("assumed", why))


def _float(usage: Usage, use: Use, guess: Guess) -> str:
    if use.dot and guess.dot:
        return guess.dot
    half = (usage.has_dot and not usage.needs_float32 and not use.full) or use.dot
    if guess.pointer == "other":
        return "fp32" if half else "fp16"
    return guess.pointer or ("fp16" if half else "fp32")


_CONTIGUOUS = "stride of the last dimension, as contiguous arrays have it"


def _is_contiguous(name: str, use: Use, guess: Guess) -> bool:
    return use.contiguous and "stride" in name.lower() and not guess.strided


def _scalar(parameter: Parameter, use: Use, guess: Guess) -> Assumed:
    name = parameter.name
    if _is_contiguous(name, use, guess):
        return Assumed("1", Origin("assumed", _CONTIGUOUS))
    if use.one:
        return Assumed("1", Origin("assumed", use.one))
    if use.address:
        return Assumed("i64:16", Origin("assumed", "a pointer is made of it"))
    if use.fraction:
        return Assumed("fp32", Origin("assumed", f"compared with {use.fraction}"))
    if use.number or use.size:
        return Assumed("i32:16", Origin("assumed", "computed with as a number"))
    if (_FLOAT_NAME.search(name) or _LIMIT.search(name)) and not name.startswith("stride"):
        return Assumed("fp32", Origin("assumed", "its name"))
    return Assumed("i32:16", Origin("assumed", "neither loaded from nor stored to"))


_STAND_INS = {1: "abs", 2: "maximum", 3: "fma"}
"""By how many arguments they take; what they give is of their arguments' type."""


def _function(usage: Usage, use: Use) -> str:
    """One of the language's own functions for a parameter that is called; empty for what is none, or may be nothing."""
    if not usage.alias or use.flag or use.texts:
        return ""
    return f"={usage.alias}.{_STAND_INS[use.called]}" if use.called in _STAND_INS else ""


def _constant(parameter: Parameter, use: Use, guess: Guess) -> Assumed:
    name = parameter.name
    if parameter.default is not None:
        made = spec.canonical(parameter.default, name, constexpr=True)
        if isinstance(made, str):
            return Assumed(made, Origin("default"))
    if parameter.tuned and guess.tuned:
        return Assumed(spec.AUTO, Origin("autotune", f"the first config; {parameter.tuned}"))
    text, why = _value(name, use, guess)
    return Assumed(text, Origin("assumed", why))


def _value(name: str, use: Use, guess: Guess) -> tuple[str, str]:
    if use.one:
        return "1", use.one
    if _is_contiguous(name, use, guess):
        return "1", _CONTIGUOUS
    if use.dtype:
        return ("fp32" if _SUMS.search(name) else "fp16"), "used as a dtype"
    if use.texts:
        return repr(use.texts[0]), "used as a word"
    if use.fraction:
        return use.fraction, "compared with a number"
    if use.numbers and not use.number and not use.size:
        return str(use.numbers[0]), "compared with a number"
    if _DTYPE.search(name) and not use.flag:
        return ("fp32" if _SUMS.search(name) else "fp16"), "its name"
    if use.none and guess.optional:
        return "None", "compared with None"
    if use.size:
        # What is unrolled as often as a block is long takes minutes to compile.
        return str(min(guess.block, 16) if use.static_loop else guess.block), "length of a block"
    if (use.flag and not use.number) or (_FLAG.search(name) and not use.number):
        return str(guess.flags), "used as a condition"
    if use.static_loop:
        return "4", "length of an unrolled loop"
    if _ACTIVATION.search(name) and not use.number:
        return "''", "its name"
    if _BLOCK.search(name) and not re.search("GROUP", name):
        return str(guess.block), "its name"
    if (_LIMIT.search(name) or re.search(r"eps|scale|alpha|beta|softcap|factor", name, re.I)) and not use.number:
        return "1.0", "its name"
    if _FEW.search(name):
        return "4", "its name"
    return str(guess.dim), "computed with as a number" if use.number else "a constant"
