"""Tile IR operations, their attributes and types, in our own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .table import Explanation, Language

_ARITHMETIC = {
    "absf": "Absolute value of each float.",
    "absi": "Absolute value of each integer.",
    "addf": "Adds two tiles of floats, element by element.",
    "addi": "Adds two tiles of integers, element by element.",
    "andi": "Bitwise and, element by element.",
    "atan2": "Angle of the point (second, first), element by element.",
    "ceil": "Rounds each float up to a whole number.",
    "cmpf": "Compares two tiles of floats, element by element.",
    "cmpi": "Compares two tiles of integers, element by element.",
    "cos": "Cosine of each element.",
    "cosh": "Hyperbolic cosine of each element.",
    "divf": "Divides floats, element by element.",
    "divi": "Divides integers, element by element.",
    "exp": "Exponential of each element.",
    "exp2": "2 to the power of each element.",
    "floor": "Rounds each float down to a whole number.",
    "fma": "Multiplies two tiles of floats and adds a third, element by element, with one rounding.",
    "fpowi": "Raises each float to a whole power.",
    "log": "Natural logarithm of each element.",
    "log2": "Logarithm to base 2 of each element.",
    "maxf": "The larger float, element by element.",
    "maxi": "The larger integer, element by element.",
    "minf": "The smaller float, element by element.",
    "mini": "The smaller integer, element by element.",
    "mulf": "Multiplies floats, element by element.",
    "mulhii": "High half of the product of integers, element by element.",
    "muli": "Multiplies integers, element by element.",
    "negf": "Negates each float.",
    "negi": "Negates each integer.",
    "ori": "Bitwise or, element by element.",
    "pow": "Raises floats to a power, element by element.",
    "remf": "Remainder of a division of floats, element by element.",
    "remi": "Remainder of a division of integers, element by element.",
    "rsqrt": "Reciprocal of the square root of each element.",
    "select": "Takes each element from the first tile where the condition is true, else from the second.",
    "shli": "Shifts left, element by element.",
    "shri": "Shifts right, element by element.",
    "sin": "Sine of each element.",
    "sinh": "Hyperbolic sine of each element.",
    "sqrt": "Square root of each element.",
    "subf": "Subtracts floats, element by element.",
    "subi": "Subtracts integers, element by element.",
    "tan": "Tangent of each element.",
    "tanh": "Hyperbolic tangent of each element.",
    "xori": "Bitwise exclusive or, element by element.",
}
_CONVERSION = {
    "bitcast": "Reads the bits of each element as another type.",
    "exti": "Widens each integer.",
    "ftof": "Converts each float to another float type.",
    "ftoi": "Converts each float to an integer.",
    "int_to_ptr": "Takes an integer for an address.",
    "itof": "Converts each integer to a float.",
    "ptr_to_int": "Takes an address for an integer.",
    "ptr_to_ptr": "Takes a pointer for one to another type.",
    "trunci": "Cuts each integer to fewer bits.",
}
_SHAPE = {
    "broadcast": "Repeats a tile along its axes of length 1, to the shape of the result.",
    "cat": "Joins two tiles along an axis.",
    "constant": "A tile of constants; one number stands for all elements.",
    "extract": "Cuts a smaller tile out of a tile; the indices count in units of the smaller.",
    "insert": "Puts a smaller tile into a tile; the indices count in units of the smaller.",
    "iota": "The numbers 0, 1, 2 and so on.",
    "pack": "Reads the elements as bytes and packs them into wider ones.",
    "permute": "Puts the axes in another order: a transposition.",
    "reshape": "The same elements in another shape.",
    "unpack": "Reads the elements as bytes and takes them apart into narrower ones.",
}
_MATRIX = {
    "mmaf": (
        "Multiplies matrices of floats and adds a third: A × B + C, in the tensor cores where there are some for the "
        "types."
    ),
    "mmaf_scaled": "Multiplies matrices of floats that have a scale for each block of elements, and adds a third.",
    "mmai": "Multiplies matrices of integers and adds a third: A × B + C.",
}
_REDUCTION = {
    "reduce": "Reduces a tile along an axis by the operation in its body. In which order is open.",
    "scan": "Running reduction along an axis by the operation in its body.",
}
_MEMORY = {
    "alloca": "Reserves memory of the tile block's own.",
    "atomic_cas_tko": (
        "Replaces each element in memory if it equals the one given, atomically, and returns what was there."
    ),
    "atomic_red_view_tko": "Updates a tile of a view in memory atomically and returns nothing.",
    "atomic_rmw_tko": "Updates each element in memory atomically and returns what was there.",
    "get_global": "Address of a global variable.",
    "get_index_space_shape": "How many tiles a view has along each axis.",
    "get_tensor_shape": "Lengths of a tensor's axes.",
    "global": "A variable in global memory.",
    "load_ptr_tko": "Loads through a tile of pointers (a gather), ordered by tokens alone.",
    "load_view_tko": (
        "Loads one tile of a view, the one at these indices, ordered by tokens alone. May become a bulk copy by the "
        "tensor memory accelerator."
    ),
    "make_gather_scatter_view": "A view of a tensor whose rows are picked by an index.",
    "make_partition_view": "A view of a tensor as a grid of tiles side by side.",
    "make_strided_view": "A view of a tensor as tiles at a fixed distance, which may overlap.",
    "make_tensor_view": "A tensor in memory: a pointer with lengths and strides. Nothing is loaded.",
    "multimem_load_reduce_view_tko": (
        "Loads a tile from all devices behind a multicast address and reduces what they hold."
    ),
    "multimem_reduce_view_tko": "Reduces a tile into all devices behind a multicast address.",
    "multimem_store_view_tko": "Stores a tile to all devices behind a multicast address.",
    "offset": "Moves pointers by so many elements.",
    "store_ptr_tko": "Stores through a tile of pointers (a scatter), ordered by tokens alone.",
    "store_view_tko": "Stores one tile of a view, the one at these indices, ordered by tokens alone.",
}
_ORDER = {
    "gdc_launch_dependents_tko": "Lets grids that depend on this one be launched.",
    "gdc_wait_tko": "Waits for the grids that this one depends on.",
    "join_tokens": "A token that stands for all those given: what takes it comes after all of them.",
    "make_token": (
        "A token with nothing before it. Tokens put memory operations in order, which the program text does not."
    ),
    "memory_fence_alias_tko": "Orders accesses to the same memory by different addresses.",
}
_PROGRAM = {
    "assert": "Stops the kernel with a message if a condition is false.",
    "assume": "Promises something of a value, which the compiler relies on without a check.",
    "break": "Leaves the loop, with these values.",
    "call": "Calls a function.",
    "continue": "Goes on with the next round of the loop, with these values.",
    "else": "The block that runs where the condition is false.",
    "entry": "A kernel. Each tile block runs it once.",
    "for": "A loop over a range, with the values that it carries from round to round.",
    "func": "A function.",
    "get_num_tile_blocks": "How many tile blocks the grid has along each axis.",
    "get_tile_block_id": "Index of this tile block in the grid, along each axis.",
    "if": "Runs one of two blocks by a condition; its results are what the block yields.",
    "loop": "A loop without end, left by `break`.",
    "module": "A module: kernels with what they need.",
    "print_tko": "Prints, ordered by tokens alone.",
    "return": "Ends the kernel or function.",
    "yield": "The results of the block that it ends.",
}
OPCODES = _ARITHMETIC | _CONVERSION | _SHAPE | _MATRIX | _REDUCTION | _MEMORY | _ORDER | _PROGRAM

ATTRIBUTES = {
    "signed": "as signed integers",
    "unsigned": "as unsigned integers",
    "flush_to_zero": "denormal numbers count as zero",
    "propagate_nan": "NaN if an operand is NaN",
    "rounding": "how it is rounded",
    "nearest_even": "to nearest, ties to even",
    "nearest_int_to_zero": "towards zero",
    "zero": "towards zero",
    "positive_inf": "up",
    "negative_inf": "down",
    "approx": "approximated",
    "full": "approximated, over the full range",
    "overflow": "what the compiler may assume of overflow",
    "no_signed_wrap": "none, as signed integers",
    "no_unsigned_wrap": "none, as unsigned integers",
    "no_wrap": "none",
    "saturating": "clamped to the range of the type",
    "satfinite": "what is too large becomes the largest finite number",
    "fast_acc": "sums of limited precision, as far as the hardware has them",
    "equal": "equal",
    "not_equal": "not equal",
    "less_than": "less than",
    "less_than_or_equal": "less than or equal",
    "greater_than": "greater than",
    "greater_than_or_equal": "greater than or equal",
    "ordered": "false if an element is NaN",
    "unordered": "true if an element is NaN",
    "weak": "no other thread touches the memory meanwhile",
    "relaxed": "atomic, but orders no other access",
    "acquire": "later accesses stay behind it",
    "release": "earlier accesses stay before it",
    "acq_rel": "no access moves past it, either way",
    "tl_blk": "as the tile block sees it",
    "device": "as the whole GPU sees it",
    "sys": "as the whole system sees it",
    "token": "what it comes after",
    "dim": "the axis",
    "identities": "what the reduction starts from",
    "reverse": "from the end",
    "shape": "lengths of the axes",
    "strides": "distances between neighbours along each axis, in elements",
    "dim_map": "which axis of the tensor each axis of the tile lies along",
    "div_by": "a multiple of this (of a pointer: in bytes)",
    "bounded": "within these bounds; `?` is open",
    "same_elements": "equal within groups of these lengths",
    "every": "along each so many elements",
    "along": "along this axis",
    "padding_value": "what is read beyond the edge",
    "optimization_hints": "hints, by architecture",
    "default": "for all architectures",
    "latency": "how long loads take, for the pipelining of loops",
    "allow_tma": "whether the tensor memory accelerator may be used",
    "occupancy": "blocks wished for on a multiprocessor",
    "num_cta_in_cga": "blocks in a cluster",
    "num_ctas": "blocks in a cluster",
    "num_worker_warps": "warps that work on a tile block",
    "iter_values": "values carried from round to round, and what they begin with",
    "in": "over",
    "to": "up to, and not including",
    "step": "in steps of",
    "else": "otherwise",
    "inbounds": "all of it lies within the tensor",
    "mask": "which elements take part",
    "padding": "what the others become",
    "true": "yes",
    "false": "no",
    "add": "add",
    "addf": "add floats",
    "and": "bitwise and",
    "or": "bitwise or",
    "xor": "bitwise exclusive or",
    "max": "the larger, signed",
    "min": "the smaller, signed",
    "umax": "the larger, unsigned",
    "umin": "the smaller, unsigned",
    "xchg": "exchange",
    "cmp": "compare",
}
_OWN = {
    "for": {"unsigned": "the range is of unsigned integers"},
    "make_partition_view": {"zero": "0"},
}
LANGUAGE = Language(OPCODES, ATTRIBUTES, _OWN)

ELEMENTS = {
    **{f"i{bits}": f"{bits}-bit integer" for bits in (4, 8, 16, 32, 64)},
    "i1": "boolean",
    "index": "integer as wide as an address",
    "f16": "16-bit float",
    "bf16": "bfloat16",
    "f32": "32-bit float",
    "f64": "64-bit float",
    "tf32": "tf32",
    "f8E4M3FN": "8-bit float (e4m3)",
    "f8E5M2": "8-bit float (e5m2)",
    "f8E8M0FNU": "8-bit power of two",
    "f4E2M1FN": "4-bit float (e2m1)",
    "f8E5M2FNUZ": "8-bit float (e5m2, AMD's)",
    "f8E4M3FNUZ": "8-bit float (e4m3, AMD's)",
}

_OPERATION = re.compile(
    r"\s*\}?\s*(?:[%\w.$,:#\s]+? = )?\"?(?:cuda_tile\.)?(?P<name>[a-z]\w*)\"?(?=[\s(@]|$)(?P<rest>.*)"
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"(?<![%\w.@#<])([a-z_]+)\b(<[^<>]*>)?")
_TYPE = re.compile(r"\b(tile|tensor_view)<((?:[^<>]|<[^<>]*>)*)>")
_PARTITION = re.compile(r"\bpartition_view<tile=\(([\dx]+)\)(?:, padding_value = (\w+))?")
_ARGUMENT = re.compile(r"[a-z_]\w*")
_MOST_TYPES = 4
_PADDING = {"zero": "0", "neg_zero": "-0", "nan": "NaN", "pos_inf": "∞", "neg_inf": "-∞"}


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of Tile IR text; None for one that begins no operation."""
    text = _QUOTED.sub('""', rows[line].split("//", 1)[0])
    match = _OPERATION.match(text)
    if match is None:
        return None
    name, rest = match["name"], match["rest"]
    said, _, types = rest.partition(" : ") if " : " in rest else rest.partition(" -> ")
    if name in _TYPES_FIRST:
        said, types = rest.rpartition(")")[2] if name in ("entry", "func") else "", rest
    parts: dict[str, str] = {}
    for word in _WORD.finditer(said):
        phrase = LANGUAGE.phrase(name, word[1])
        if word[2] and phrase:
            inner = [LANGUAGE.phrase(name, found) for found in _ARGUMENT.findall(word[2])]
            phrase = ", ".join((phrase, *filter(None, inner)))
        parts[word[0]] = phrase
    return Explanation(name, OPCODES.get(name, ""), tuple(parts.items()), tuple(_types(types or rest)))


_TYPES_FIRST = frozenset({"entry", "func", "constant", "global"})


def _types(text: str) -> list[str]:
    found = {}
    for match in _PARTITION.finditer(text):
        padding = f", beyond the edge {_PADDING.get(match[2], match[2])}" if match[2] else ""
        found[f"{match[0]}…>"] = f"a grid of tiles of {match[1].replace('x', ' × ')}{padding}"
    for match in _TYPE.finditer(text):
        shape, _, strides = match[2].partition(", strides=")
        if described := shaped(shape):
            if match[1] == "tensor_view":
                described = f"a tensor in memory, {described}" + (f", strides {strides}" if strides else "")
            found[match[0]] = described
    return [f"`{written}`: {said}" for written, said in found.items()][:_MOST_TYPES]


def shaped(text: str) -> str:
    """`"128x64xf16"` → `"128 × 64 of 16-bit float"`; empty if it can't be read."""
    match = _SHAPED.fullmatch(text)
    if match is None:
        return ""
    named = ELEMENTS.get(match["pointed"] or match["element"])
    if named is None:
        return ""
    named = f"pointer to {named}" if match["pointed"] else named
    lengths = match["lengths"].rstrip("x").replace("x", " × ")
    return f"{lengths} of {named}" if lengths else named


_SHAPED = re.compile(r"(?P<lengths>(?:(?:\d+|\?)x)*)(?:!?(?:tt\.)?ptr<(?P<pointed>\w+)>|(?P<element>\w+))")
