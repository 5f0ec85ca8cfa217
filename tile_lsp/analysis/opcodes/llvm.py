"""LLVM IR as GPU compilers write it, in our own words: instructions, intrinsics, inline assembly."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import ptx
from .table import Explanation, Language

_INTEGER = {
    "add": "Adds two integers.",
    "and": "Bitwise and.",
    "ashr": "Shifts right, filling with the sign.",
    "lshr": "Shifts right, filling with zeros.",
    "mul": "Multiplies two integers.",
    "or": "Bitwise or.",
    "sdiv": "Divides signed integers, rounded towards zero.",
    "shl": "Shifts left.",
    "srem": "Remainder of a division of signed integers.",
    "sub": "Subtracts two integers.",
    "udiv": "Divides unsigned integers.",
    "urem": "Remainder of a division of unsigned integers.",
    "xor": "Bitwise exclusive or.",
}
_FLOAT = {
    "fadd": "Adds two floats.",
    "fdiv": "Divides two floats.",
    "fmul": "Multiplies two floats.",
    "fneg": "Negates a float.",
    "frem": "Remainder of a division of floats.",
    "fsub": "Subtracts two floats.",
}
_CONVERSION = {
    "addrspacecast": "Takes a pointer of one address space for one of another.",
    "bitcast": "Reads the bits as another type.",
    "fpext": "Widens a float.",
    "fptosi": "Converts a float to a signed integer, rounded towards zero.",
    "fptoui": "Converts a float to an unsigned integer, rounded towards zero.",
    "fptrunc": "Narrows a float.",
    "freeze": "Makes an undefined value some fixed value.",
    "inttoptr": "Takes an integer for an address.",
    "ptrtoint": "Takes an address for an integer.",
    "sext": "Widens an integer, with its sign.",
    "sitofp": "Converts a signed integer to a float.",
    "trunc": "Cuts an integer to fewer bits.",
    "uitofp": "Converts an unsigned integer to a float.",
    "zext": "Widens an integer, with zeros.",
}
_AGGREGATE = {
    "extractelement": "Takes one element of a vector.",
    "extractvalue": "Takes one field of a structure or array.",
    "insertelement": "Replaces one element of a vector.",
    "insertvalue": "Replaces one field of a structure or array.",
    "shufflevector": "Puts elements of two vectors together in another order.",
}
_MEMORY = {
    "alloca": "Reserves memory on the stack.",
    "atomicrmw": "Updates memory atomically and returns what was there.",
    "cmpxchg": (
        "Replaces what is in memory if it equals a value, atomically, and returns what was there and whether it did."
    ),
    "fence": "Orders memory accesses.",
    "getelementptr": "Calculates the address of an element. Nothing is loaded.",
    "load": "Loads from memory.",
    "store": "Stores to memory.",
}
_CONTROL = {
    "br": "Jumps to a block, or to one of two by a condition.",
    "call": "Calls a function.",
    "define": "A function, or a kernel.",
    "declare": "A function that is defined elsewhere.",
    "fcmp": "Compares two floats.",
    "icmp": "Compares two integers or pointers.",
    "phi": "The value that belongs to the block that control came from.",
    "ret": "Returns from the function; of a kernel, ends the thread.",
    "select": "Takes the first value where the condition is true, else the second.",
    "switch": "Jumps to a block by the value of an integer.",
    "unreachable": "Control never gets here.",
}
OPCODES = _INTEGER | _FLOAT | _CONVERSION | _AGGREGATE | _MEMORY | _CONTROL

_INTRINSICS = {
    "llvm.abs": "Absolute value of an integer.",
    "llvm.assume": "Promises that a condition is true.",
    "llvm.bswap": "Reverses the bytes.",
    "llvm.ceil": "Rounds up to a whole number.",
    "llvm.copysign": "Takes the sign of the second operand and the rest of the first.",
    "llvm.ctlz": "Counts the zero bits above the highest that is set.",
    "llvm.ctpop": "Counts the bits that are set.",
    "llvm.cttz": "Counts the zero bits below the lowest that is set.",
    "llvm.exp": "Exponential.",
    "llvm.exp2": "2 to the power of a number.",
    "llvm.fabs": "Absolute value of a float.",
    "llvm.floor": "Rounds down to a whole number.",
    "llvm.fma": "Multiplies two floats and adds a third, with one rounding.",
    "llvm.fmuladd": "Multiplies two floats and adds a third, with one rounding if that is faster.",
    "llvm.fshl": "Shifts two registers as one left and keeps the high half.",
    "llvm.fshr": "Shifts two registers as one right and keeps the low half.",
    "llvm.lifetime.end": "From here on the memory is not used.",
    "llvm.lifetime.start": "Before here the memory is not used.",
    "llvm.log": "Natural logarithm.",
    "llvm.log2": "Logarithm to base 2.",
    "llvm.maximum": "The larger float; NaN if one is NaN.",
    "llvm.maxnum": "The larger float; of a number and NaN, the number.",
    "llvm.memcpy": "Copies memory.",
    "llvm.memset": "Fills memory.",
    "llvm.minimum": "The smaller float; NaN if one is NaN.",
    "llvm.minnum": "The smaller float; of a number and NaN, the number.",
    "llvm.sadd.with.overflow": "Adds signed integers and says if that overflowed.",
    "llvm.smax": "The larger integer, signed.",
    "llvm.smin": "The smaller integer, signed.",
    "llvm.smul.with.overflow": "Multiplies signed integers and says if that overflowed.",
    "llvm.sqrt": "Square root.",
    "llvm.trap": "Stops the kernel with an error.",
    "llvm.trunc": "Rounds towards zero to a whole number.",
    "llvm.umax": "The larger integer, unsigned.",
    "llvm.umin": "The smaller integer, unsigned.",
    "llvm.vector.reduce": "Reduces a vector to one number.",
    "llvm.nvvm.barrier0": "All threads of the block wait for each other.",
    "llvm.nvvm.bar.warp.sync": "Waits until the lanes of the mask have met.",
    "llvm.nvvm.barrier.cta.sync": "Threads of the block wait for each other.",
    "llvm.nvvm.f2i": "Converts a float to a signed integer.",
    "llvm.nvvm.read.ptx.sreg": "Reads a special register.",
    "llvm.nvvm.fabs": "Absolute value of a float.",
    "llvm.nvvm.floor": "Rounds down to a whole number.",
    "llvm.nvvm.sqrt": "Square root.",
    "llvm.nvvm.div": "Divides two floats.",
    "llvm.nvvm.ceil": "Rounds up to a whole number.",
    "llvm.nvvm.mul": "Multiplies two numbers.",
    "llvm.nvvm.atomic.load.add": "Adds to memory atomically and returns what was there.",
    "llvm.nvvm.add": "Adds two numbers.",
    "llvm.nvvm.fma": "Multiplies two floats and adds a third, with one rounding.",
    "llvm.nvvm.redux.sync": "Reduces a value over the lanes of the warp; all of them get the result.",
    "llvm.nvvm.shfl.sync": "Reads a register of another lane of the warp.",
}
_FUNCTIONS = {
    "__assertfail": "Prints a failed assertion and stops the kernel.",
    "__nvvm_reflect": "Asks for a setting of the compilation; a constant in the end.",
    "vprintf": "Prints.",
}
FLAGS = {
    "nuw": "does not overflow as unsigned integers",
    "nsw": "does not overflow as signed integers",
    "exact": "there is no remainder",
    "disjoint": "no bit is set in both operands",
    "nneg": "the operand is not negative",
    "samesign": "the operands have one sign",
    "inbounds": "stays within the object",
    "nusw": "does not wrap, offsets signed",
    "fast": "every freedom with floats: no NaN, no infinity, reordered, contracted",
    "nnan": "no NaN occurs",
    "ninf": "no infinity occurs",
    "nsz": "the sign of zero does not matter",
    "arcp": "may multiply by the reciprocal",
    "contract": "may be fused with another operation",
    "afn": "functions may be approximated",
    "reassoc": "may be reordered",
    "volatile": "never left out or merged",
    "atomic": "atomic",
    "tail": "needs no stack of the caller",
    "align": "the address is a multiple of so many bytes",
    "convergent": "must not be moved under a condition",
    "unordered": "atomic, in no order",
    "monotonic": "atomic, but orders no other access",
    "acquire": "later accesses stay behind it",
    "release": "earlier accesses stay before it",
    "acq_rel": "no access moves past it, either way",
    "seq_cst": "sequentially consistent",
    "ptx_kernel": "a kernel",
    "label": "where to",
}
_CONDITIONS = {
    "icmp": {
        "eq": "equal",
        "ne": "not equal",
        "slt": "less than, signed",
        "sle": "less than or equal, signed",
        "sgt": "greater than, signed",
        "sge": "greater than or equal, signed",
        "ult": "less than, unsigned",
        "ule": "less than or equal, unsigned",
        "ugt": "greater than, unsigned",
        "uge": "greater than or equal, unsigned",
    },
    "fcmp": {
        "oeq": "equal",
        "one": "not equal, none NaN",
        "olt": "less than",
        "ole": "less than or equal",
        "ogt": "greater than",
        "oge": "greater than or equal",
        "ord": "none is NaN",
        "uno": "one is NaN",
        "ueq": "equal, or one is NaN",
        "une": "not equal, or one is NaN",
        "ult": "less than, or one is NaN",
        "ule": "less than or equal, or one is NaN",
        "ugt": "greater than, or one is NaN",
        "uge": "greater than or equal, or one is NaN",
    },
    "atomicrmw": {
        "xchg": "exchange",
        "add": "add",
        "sub": "subtract",
        "and": "bitwise and",
        "or": "bitwise or",
        "xor": "bitwise exclusive or",
        "max": "the larger, signed",
        "min": "the smaller, signed",
        "umax": "the larger, unsigned",
        "umin": "the smaller, unsigned",
        "fadd": "add floats",
        "fmax": "the larger float",
        "fmin": "the smaller float",
    },
}
LANGUAGE = Language(OPCODES, FLAGS, _CONDITIONS)

_SPACES = {
    "0": "generic",
    "1": "global",
    "3": "shared",
    "4": "constant",
    "5": "local",
    "6": "tensor",
    "7": "cluster's shared",
    "101": "parameter",
}

_INSTRUCTION = re.compile(r"\s*(?:%[\w.$\"-]+ = )?(?:(?:tail|musttail|notail) )?(?P<name>[a-z]+)\b(?P<rest>.*)")
_WORD = re.compile(r"(?<![%@!\w.\"#])([a-z_]+)\b")
_CALLED = re.compile(r"@\"?([\w.$]+)\"?\(")
_ASSEMBLY = re.compile(r'\basm\b[^"]*"((?:[^"\\]|\\.)*)"')
_SPACE = re.compile(r"addrspace\((\d+)\)")
_LABEL = re.compile(r"\blabel (%[\w.$]+)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLACEHOLDER = re.compile(r"\$\{?(\d+)(?::\w+)?\}?")
_MOST_ASSEMBLY = 4
_LONGEST = 8


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of LLVM IR; None for one that holds no instruction."""
    text = rows[line].split(";", 1)[0] if '"' not in rows[line] else rows[line]
    match = _INSTRUCTION.match(text)
    if match is None or (match["name"] not in OPCODES and not text.startswith("  ")):
        return None
    name, rest = match["name"], match["rest"]
    said = _QUOTED.sub('""', rest)
    does = OPCODES.get(name, "")
    notes: list[str] = []
    if name == "call":
        does, notes = _call(rest, does)
    words = list(dict.fromkeys(_WORD.findall(said)))[:_LONGEST]
    parts = tuple((word, phrase) for word in words if (phrase := LANGUAGE.phrase(name, word)))
    for space in dict.fromkeys(_SPACE.findall(said)):
        if space in _SPACES:
            notes.append(f"`addrspace({space})`: {_SPACES[space]} memory")
    return Explanation(name, does, parts, tuple(notes), tuple(_LABEL.findall(said)))


def _call(rest: str, does: str) -> tuple[str, list[str]]:
    if assembly := _ASSEMBLY.search(rest):
        return "Inline assembly (PTX).", _assembly(assembly[1])
    called = _CALLED.search(rest)
    if called is None:
        return does, []
    name = called[1]
    if found := _FUNCTIONS.get(name):
        return found, []
    if not name.startswith("llvm."):
        return does, []
    words = name.split(".")
    for count in range(len(words), 1, -1):
        if found := _INTRINSICS.get(".".join(words[:count])):
            return found, _special(name)
    if name.startswith("llvm.nvvm."):
        # Most are named after the PTX instruction that they become.
        written = re.sub(r"\.(commit|wait)\.group", r".\1_group", name.removeprefix("llvm.nvvm."))
        written = re.sub(r"(tcgen05\.(?:wait|fence))\.", r"\1::", written).replace(".shared_cta", ".shared::cta")
        found = ptx.LANGUAGE.describe(written)
        if found.does:
            return found.does, [f"`{part}`: {phrase}" for part, phrase in found.parts if phrase]
    return f"Calls `{name}`, an intrinsic of which nothing more is known here.", []


def _special(name: str) -> list[str]:
    register, _, axis = name.removeprefix("llvm.nvvm.read.ptx.sreg.").partition(".")
    meaning = ptx.SPECIAL_REGISTERS.get(register)
    return [f"`%{register}`: {meaning}{f', {axis}' if axis else ''}"] if meaning else []


def _assembly(text: str) -> list[str]:
    """What inline PTX does, instruction by instruction."""
    text = re.sub(r"\\0A|\\09|\\0D", " ", text).replace("$$", "$").replace("\\22", '"')
    notes = []
    for one in text.split(";"):
        found = ptx.instruction(_PLACEHOLDER.sub(r"%r\1", one).lstrip(" {}"))
        if found is not None and found.does:
            notes.append(f"`{found.name}`: {found.does}")
    return [*notes[:_MOST_ASSEMBLY], *(["and more"] if len(notes) > _MOST_ASSEMBLY else [])]
