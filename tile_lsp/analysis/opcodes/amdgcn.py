"""AMD's instructions, CDNA 2 to 4 and RDNA 3 and 4, in our own words: what they do, their types, their operands.

A name is words between underscores: who works (`s`, `v`, `ds`, `global`, …), what is done, and with what types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .table import Explanation, Language

_UNITS = {
    "s": "scalar: once for the wave",
    "v": "vector: in each lane that runs",
}

#: The lanes of a wave do these together.
_TOGETHER = ("mfma", "smfmac", "wmma", "swmmac")

#: Of both units.
_ARITHMETIC = {
    "abs": "Absolute value.",
    "absdiff": "Absolute difference.",
    "add": "Adds two numbers.",
    "add3": "Adds three numbers.",
    "addc": "Adds two numbers and the carry that the addition of the lower halves left.",
    "addk": "Adds a constant to a register.",
    "add.lshl": "Adds two numbers, then shifts left.",
    "cos": "Cosine of an angle in turns.",
    "div.fixup": "Puts a quotient right for zeros, infinities and NaNs: the end of a division.",
    "div.fmas": "Multiplies and adds, and undoes what div_scale did: a step of a division.",
    "div.scale": "Scales an operand so that a division neither overflows nor loses bits: the start of a division.",
    "dot2": "Multiplies two pairs of numbers and adds the products to a third operand.",
    "dot2c": "Multiplies two pairs of numbers and adds the products to the result's register.",
    "dot4": "Multiplies four pairs of numbers and adds the products to a third operand.",
    "dot8": "Multiplies eight pairs of numbers and adds the products to a third operand.",
    "exp": "2 to the power of a number.",
    "fma": "Multiplies two floats and adds a third, with one rounding.",
    "fmaak": "Multiplies two floats and adds a constant.",
    "fmac": "Multiplies two floats and adds the product to the result's register.",
    "fmamk": "Multiplies a float by a constant and adds another.",
    "fma.mix": "Multiplies two floats and adds a third, each of them 16 or 32 bits wide.",
    "fma.mixhi": "As fma_mix, with a 16-bit result in the upper half of its register.",
    "fma.mixlo": "As fma_mix, with a 16-bit result in the lower half of its register.",
    "fract": "What is behind the point.",
    "frexp.exp": "The exponent of a float.",
    "frexp.mant": "The mantissa of a float.",
    "ldexp": "Multiplies a float by a power of 2.",
    "log": "Logarithm to base 2.",
    "mad": "Multiplies two numbers and adds a third.",
    "max": "The larger of two numbers.",
    "max3": "The largest of three numbers.",
    "maximum": "The larger of two floats; NaN if one is.",
    "maximum3": "The largest of three floats; NaN if one is.",
    "maxmin": "The larger of a number and of the smaller of two others.",
    "med3": "The middle one of three numbers.",
    "min": "The smaller of two numbers.",
    "min3": "The smallest of three numbers.",
    "minimum": "The smaller of two floats; NaN if one is.",
    "minimum3": "The smallest of three floats; NaN if one is.",
    "minmax": "The smaller of a number and of the larger of two others.",
    "mul": "Multiplies two numbers.",
    "mul.hi": "The upper half of a product.",
    "mul.lo": "The lower half of a product.",
    "mulk": "Multiplies a register by a constant.",
    "rcp": "Reciprocal.",
    "rsq": "Reciprocal of the square root.",
    "s.rcp": "Reciprocal of a scalar.",
    "s.rsq": "Reciprocal of the square root of a scalar.",
    "s.exp": "2 to the power of a scalar.",
    "s.log": "Logarithm of a scalar to base 2.",
    "s.sqrt": "Square root of a scalar.",
    "sad": "Absolute difference, added to a third operand.",
    "sin": "Sine of an angle in turns.",
    "sqrt": "Square root.",
    "sub": "Subtracts the second number from the first.",
    "subb": "Subtracts two numbers and the borrow that the lower halves left.",
    "subbrev": "Subtracts the first number and a borrow from the second.",
    "subrev": "Subtracts the first number from the second.",
    "tanh": "Hyperbolic tangent.",
    "floor": "Rounds down.",
    "ceil": "Rounds up.",
    "trunc": "Rounds towards zero.",
    "rndne": "Rounds to the nearest integer, the even one of two.",
}
_BITS = {
    "alignbit": "Shifts two registers as one right by bits and keeps the lower half.",
    "alignbyte": "Shifts two registers as one right by bytes and keeps the lower half.",
    "and": "Bitwise and.",
    "and.not1": "Bitwise and with the second operand inverted.",
    "and.or": "Bitwise and of two operands, or the third.",
    "andn2": "Bitwise and with the second operand inverted.",
    "ashr": "Shifts right, filling with the sign.",
    "ashrrev": "Shifts the second operand right by the first, filling with the sign.",
    "bcnt": "Counts the bits that are set, and adds a number.",
    "bcnt1": "Counts the bits that are set.",
    "bfe": "Extracts bits: from a position, so many, extended with zeros or the sign.",
    "bfi": "Takes bits of one operand where a mask has ones, and of another elsewhere.",
    "bfm": "Makes a mask of consecutive one bits from a width and a position.",
    "bfrev": "Reverses the bits.",
    "brev": "Reverses the bits.",
    "bitcmp0": "SCC becomes whether a bit is clear.",
    "bitcmp1": "SCC becomes whether a bit is set.",
    "bitop2": "A bitwise function of two registers, chosen by its table of outcomes.",
    "bitop3": "Any bitwise function of three registers, chosen by its table of eight outcomes.",
    "bitset0": "Clears a bit.",
    "bitset1": "Sets a bit.",
    "ff1": "Finds the lowest bit that is set.",
    "ffbh": "Counts the zero bits above the highest that is set.",
    "ffbl": "Finds the lowest bit that is set.",
    "flbit": "Counts the zero bits above the highest that is set.",
    "clz": "Counts the zero bits above the highest that is set.",
    "ctz": "Finds the lowest bit that is set.",
    "lshl": "Shifts left.",
    "lshl.add": "Shifts left, then adds.",
    "lshl.or": "Shifts left, then or.",
    "lshl1.add": "Shifts left by 1, then adds.",
    "lshl2.add": "Shifts left by 2, then adds.",
    "lshl3.add": "Shifts left by 3, then adds.",
    "lshl4.add": "Shifts left by 4, then adds.",
    "lshlrev": "Shifts the second operand left by the first.",
    "lshr": "Shifts right, filling with zeros.",
    "lshrrev": "Shifts the second operand right by the first, filling with zeros.",
    "nand": "Bitwise and, inverted.",
    "nor": "Bitwise or, inverted.",
    "not": "Inverts every bit.",
    "or": "Bitwise or.",
    "or3": "Bitwise or of three operands.",
    "or.not1": "Bitwise or with the second operand inverted.",
    "orn2": "Bitwise or with the second operand inverted.",
    "sext": "Extends with the sign.",
    "xad": "Bitwise exclusive or of two operands, then adds the third.",
    "xnor": "Bitwise exclusive or, inverted.",
    "xor": "Bitwise exclusive or.",
    "xor3": "Bitwise exclusive or of three operands.",
}
_COMPARE = {
    "cmp": "Compares: a scalar's outcome goes to SCC, a vector's to a mask with a bit for each lane.",
    "cmpk": "Compares a register with a constant; the outcome goes to SCC.",
    "cmpx": "Compares, and lets only those lanes run on in which it holds: the outcome is the new EXEC.",
    "cndmask": "Takes the second value in lanes whose bit of the mask is set, else the first.",
    "cselect": "Takes the first value if SCC is 1, else the second.",
    "cmov": "Copies if SCC is 1.",
}
_MOVE = {
    "accvgpr.mov": "Copies an accumulation register.",
    "accvgpr.read": "Copies an accumulation register to a vector register.",
    "accvgpr.write": "Copies a value to an accumulation register.",
    "cvt": "Converts a number to another type.",
    "cvt.pk": "Converts two numbers to another type and packs them into one register.",
    "cvt.pkrtz": "Converts two floats to 16 bits, rounding to zero, and packs them into one register.",
    "cvt.scalef32": "Converts to or from a small float, with a scale.",
    "cvt.sr": "Converts a number to another type, rounding at random.",
    "mov": "Copies a value.",
    "movk": "Sets a register to a constant of 16 bits.",
    "mov.from": "Copies from a register whose number is in another.",
    "mov.to": "Copies to a register whose number is in another.",
    "pack": "Packs two 16-bit numbers into one register.",
    "perm": "Picks four bytes out of two registers.",
    "permlane16": "Exchanges values between the lanes of each row of 16.",
    "permlane16.swap": "Swaps odd rows of 16 lanes of one register with even ones of another.",
    "permlane32.swap": "Swaps the upper 32 lanes of one register with the lower ones of another.",
    "permlane64": "Swaps the upper and the lower 32 lanes.",
    "permlanex16": "Exchanges values between each row of 16 lanes and its neighbour.",
    "readfirstlane": "Copies the value of the first lane that runs to a scalar register.",
    "readlane": "Copies the value of one lane to a scalar register.",
    "swap": "Swaps two registers.",
    "writelane": "Writes a scalar into one lane of a register.",
}
_MATRIX = {
    "mfma": "Matrix core: D = A × B + C, on tiles that the lanes of the wave hold together.",
    "mfma.scale": "Matrix core: D = A × B + C on small floats with scales, on tiles that the lanes hold together.",
    "mfma.ld.scale": "Sets the scales of the next mfma.",
    "smfmac": "Matrix core: D = A × B + D, where half of A is zeros that aren't stored.",
    "swmmac": "Matrix core: D = A × B + D, where half of A is zeros that aren't stored.",
    "wmma": "Matrix core: D = A × B + C, on tiles that the lanes of the wave hold together.",
    "wmma.scale": "Matrix core: D = A × B + C on small floats with scales, on tiles that the lanes hold together.",
}
_CONTROL = {
    "and.saveexec": "Saves the mask of lanes that run, and ends those whose bit is clear: the start of a branch.",
    "and.not1.saveexec": "Saves the mask of lanes that run, and ends those whose bit is set.",
    "andn2.saveexec": "Saves the mask of lanes that run, and ends those whose bit is set.",
    "andn2.wrexec": "Sets the mask of lanes that run.",
    "or.saveexec": "Saves the mask of lanes that run, and adds those whose bit is set: the other side of a branch.",
    "xor.saveexec": "Saves the mask of lanes that run, and inverts it where a bit is set.",
    "barrier": "Waits for all waves of the workgroup.",
    "barrier.signal": "Tells the barrier that this wave is there, and goes on.",
    "barrier.wait": "Waits until all waves have told the barrier.",
    "branch": "Jumps.",
    "call": "Calls a function.",
    "cbranch": "Jumps if a condition holds.",
    "clause": "The next memory instructions are issued as one group.",
    "dcache.inv": "Empties the scalar cache.",
    "dcache.wb": "Writes the scalar cache back.",
    "delay.alu": "Tells for which earlier results the next instructions wait, so that another wave goes first.",
    "endpgm": "Ends the wave.",
    "getpc": "Takes the address of the next instruction.",
    "getreg": "Reads a hardware register.",
    "icache.inv": "Empties the instruction cache.",
    "memrealtime": "Reads a clock of constant pace.",
    "memtime": "Reads the cycle counter.",
    "nop": "Does nothing, for so many cycles and one.",
    "sendmsg": "Sends a message to the hardware around the wave.",
    "sendmsg.rtn": "Asks the hardware around the wave for a value.",
    "set.inst.prefetch.distance": "Sets how far instructions are fetched ahead.",
    "set.vgpr.msb": "Chooses the bank of vector registers that the operands which follow are in.",
    "setpc": "Jumps to an address.",
    "setprio": "Sets the priority of the wave.",
    "setreg": "Writes a hardware register.",
    "setvskip": "Passes over vector instructions.",
    "sleep": "Waits about so many times 64 cycles.",
    "sched.barrier": "Nothing is moved past here.",
    "swappc": "Calls: jumps to an address and keeps the one to return to.",
    "trap": "Enters the trap handler.",
    "wait.alu": "Waits for results of arithmetic that the hardware doesn't watch.",
    "wait.asynccnt": "Waits until at most so many copies between memory and LDS are under way.",
    "wait.bvhcnt": "Waits until at most so many ray queries are under way.",
    "wait.dscnt": "Waits until at most so many operations on LDS are under way.",
    "wait.event": "Waits for an event.",
    "wait.expcnt": "Waits until at most so many exports are under way.",
    "wait.idle": "Waits until nothing is under way.",
    "wait.kmcnt": "Waits until at most so many scalar loads and messages are under way.",
    "wait.loadcnt": "Waits until at most so many vector loads are under way.",
    "wait.loadcnt.dscnt": "Waits until at most so many vector loads and operations on LDS are under way.",
    "wait.samplecnt": "Waits until at most so many image samples are under way.",
    "wait.storecnt": "Waits until at most so many vector stores are under way.",
    "wait.storecnt.dscnt": "Waits until at most so many vector stores and operations on LDS are under way.",
    "wait.tensorcnt": "Waits until at most so many tensor copies are under way.",
    "wait.xcnt": "Waits until at most so many memory operations still need their addresses.",
    "waitcnt": "Waits until at most so many operations of each kind are under way.",
    "waitcnt.depctr": "Waits for results that the hardware doesn't watch.",
    "waitcnt.lgkmcnt": "Waits until at most so many scalar loads, operations on LDS and messages are under way.",
    "waitcnt.vscnt": "Waits until at most so many vector stores are under way.",
    "wqm": "Adds lanes so that each quad of four is whole.",
}
_SCALAR_MEMORY = {
    "load": "Loads what all lanes share from memory, through the scalar cache.",
    "buffer.load": "Loads what all lanes share from memory, within a buffer.",
    "prefetch.data": "Fetches data into the scalar cache ahead.",
    "prefetch.inst": "Fetches instructions into their cache ahead.",
    "store": "Stores a scalar to memory.",
}
_LDS = {
    "ds.add": "Adds to a number in LDS (shared memory), atomically.",
    "ds.and": "Bitwise and with a number in LDS, atomically.",
    "ds.bpermute": "Takes the value of another lane, whose number (times 4) each lane names.",
    "ds.cmpst": "Stores to LDS if what is there equals a value, atomically.",
    "ds.cmpstore": "Stores to LDS if what is there equals a value, atomically.",
    "ds.load": "Loads from LDS (shared memory).",
    "ds.load.2addr": "Loads from two places in LDS (shared memory).",
    "ds.load.2addr.stride64": "Loads from two places in LDS, whose offsets count 64 elements.",
    "ds.max": "Keeps the larger number in LDS, atomically.",
    "ds.min": "Keeps the smaller number in LDS, atomically.",
    "ds.nop": "Does nothing.",
    "ds.or": "Bitwise or with a number in LDS, atomically.",
    "ds.permute": "Gives the value to another lane, whose number (times 4) each lane names.",
    "ds.pk.add": "Adds two 16-bit numbers in LDS, atomically.",
    "ds.read": "Loads from LDS (shared memory).",
    "ds.read2": "Loads from two places in LDS (shared memory).",
    "ds.read2st64": "Loads from two places in LDS, whose offsets count 64 elements.",
    "ds.store": "Stores to LDS (shared memory).",
    "ds.store.2addr": "Stores to two places in LDS (shared memory).",
    "ds.store.2addr.stride64": "Stores to two places in LDS, whose offsets count 64 elements.",
    "ds.storexchg": "Swaps a number with one in LDS, atomically.",
    "ds.swizzle": "Exchanges values between lanes, by a pattern.",
    "ds.write": "Stores to LDS (shared memory).",
    "ds.write2": "Stores to two places in LDS (shared memory).",
    "ds.write2st64": "Stores to two places in LDS, whose offsets count 64 elements.",
    "ds.wrxchg": "Swaps a number with one in LDS, atomically.",
    "ds.xor": "Bitwise exclusive or with a number in LDS, atomically.",
}
_MEMORY = {
    "buffer.atomic": "Changes a number in memory within a buffer, atomically.",
    "buffer.gl0.inv": "Empties the nearest cache of vector loads.",
    "buffer.gl1.inv": "Empties the second cache of vector loads.",
    "buffer.inv": "Empties caches, so that what others wrote is seen.",
    "buffer.load": "Loads from a buffer: what is beyond its bounds reads as zero.",
    "buffer.load.lds": "Loads from a buffer straight into LDS.",
    "buffer.store": "Stores to a buffer: what is beyond its bounds is dropped.",
    "buffer.wbinvl1": "Empties the L1 cache.",
    "buffer.wbl2": "Writes the L2 cache back, so that others see it.",
    "flat.atomic": "Changes a number in memory, atomically.",
    "flat.load": "Loads from memory: global, LDS or the lane's own, by the address.",
    "flat.prefetch": "Fetches into a cache ahead.",
    "flat.store": "Stores to memory: global, LDS or the lane's own, by the address.",
    "global.atomic": "Changes a number in global memory, atomically.",
    "global.inv": "Empties caches, so that what others wrote is seen.",
    "global.load": "Loads from global memory.",
    "global.load.async.to.lds": "Copies from global memory straight into LDS; the wave goes on meanwhile.",
    "global.load.lds": "Loads from global memory straight into LDS.",
    "global.load.tr": "Loads from global memory, transposed between the lanes.",
    "global.prefetch": "Fetches into a cache ahead.",
    "global.store": "Stores to global memory.",
    "global.store.async.from.lds": "Copies from LDS straight to global memory; the wave goes on meanwhile.",
    "global.wb": "Writes caches back, so that others see it.",
    "global.wbinv": "Writes caches back and empties them.",
    "scratch.load": "Loads from the lane's own memory: what was spilled, or an array of its own.",
    "scratch.store": "Stores to the lane's own memory: what is spilled, or an array of its own.",
    "tensor.load.to.lds": "Copies a box of a tensor from global memory into LDS.",
    "tensor.store.from.lds": "Copies a box of a tensor from LDS to global memory.",
}
OPCODES = {
    **{
        name: words
        for table in (_ARITHMETIC, _BITS, _COMPARE, _MOVE, _MATRIX, _CONTROL)
        for name, words in table.items()
    },
    **{f"s.{name}": words for name, words in _SCALAR_MEMORY.items()},
    **_LDS,
    **_MEMORY,
}

TYPES = {
    **{f"b{n}": f"{n} bits" for n in (8, 16, 32, 64, 96, 128, 256, 512)},
    **{f"f{n}": f"{n}-bit float" for n in (4, 6, 8, 16, 32, 64)},
    **{f"i{n}": f"{n}-bit integer" for n in (4, 8, 16, 24, 32, 64)},
    **{f"u{n}": f"{n}-bit integer without sign" for n in (4, 8, 16, 24, 32, 64)},
    **{f"dwordx{n}": f"{32 * n} bits" for n in (2, 3, 4, 8, 16)},
    "bf16": "bfloat16",
    "bf8": "8-bit float with 5 bits of exponent",
    "byte": "8 bits",
    "dword": "32 bits",
    "fp8": "8-bit float with 4 bits of exponent",
    "sbyte": "8 bits, extended with the sign",
    "short": "16 bits",
    "sshort": "16 bits, extended with the sign",
    "ubyte": "8 bits, extended with zeros",
    "ushort": "16 bits, extended with zeros",
    "f8f6f4": "8-, 6- or 4-bit floats",
    "xf32": "float of 32 bits, of which 19 are used",
}
_MODIFIERS = {
    **TYPES,
    "1k": "of the newer kind, with more products",
    "ci": "adds the carry of the lower half",
    "co": "and leaves the carry",
    "d16": "into or from half of a register",
    "dpp": "takes the first operand from other lanes",
    "dpp8": "takes the first operand from other lanes of its eight",
    "e32": "in 32 bits of code",
    "e64": "in 64 bits of code",
    "hi": "the upper half",
    "iflag": "as divisions of integers need it",
    "imm32": "a constant of 32 bits",
    "legacy": "0 times anything is 0",
    "lo": "the lower half",
    "nc": "leaves no carry",
    "num": "a number wins over NaN",
    "pk": "two at once",
    "rtn": "and returns the old value",
    "sdwa": "on bytes or halves of its operands",
    "swap": "swaps both",
    "vol": "what is volatile",
}
_CONDITIONS = {
    "eq": "equal",
    "ge": "greater than or equal",
    "gt": "greater than",
    "le": "less than or equal",
    "lg": "not equal, and neither is NaN",
    "lt": "less than",
    "ne": "not equal",
    "neq": "not equal, or one is NaN",
    "nge": "not greater than or equal, or one is NaN",
    "ngt": "not greater than, or one is NaN",
    "nle": "not less than or equal, or one is NaN",
    "nlg": "equal, or one is NaN",
    "nlt": "not less than, or one is NaN",
    "o": "neither is NaN",
    "u": "one is NaN",
    "class": "of one of these kinds: NaN, infinite, denormal, zero",
}
_ATOMIC = {
    "add": "adds",
    "and": "bitwise and",
    "cmpswap": "stores if what is there equals a value",
    "dec": "subtracts 1, round a limit",
    "inc": "adds 1, round a limit",
    "max": "the larger",
    "min": "the smaller",
    "or": "bitwise or",
    "smax": "the larger, with signs",
    "smin": "the smaller, with signs",
    "sub": "subtracts",
    "swap": "swaps",
    "umax": "the larger, without signs",
    "umin": "the smaller, without signs",
    "xor": "bitwise exclusive or",
}
OWN = {
    **dict.fromkeys(("cmp", "cmpk", "cmpx"), _CONDITIONS | {"lg": "not equal"}),
    **dict.fromkeys(("global.atomic", "flat.atomic", "buffer.atomic"), _ATOMIC),
    "cbranch": {
        "execnz": "some lane runs",
        "execz": "no lane runs",
        "scc0": "SCC is 0",
        "scc1": "SCC is 1",
        "vccnz": "VCC has a bit set",
        "vccz": "VCC has no bit set",
    },
    "ds.load": {"addtid": "at the lane's number", "tr": "transposed between the lanes"},
    "ds.read": {"tr": "transposed between the lanes"},
}
PATTERNS = (
    ("mfma", r"(\d+)x(\d+)x(\d+)", r"D is \1×\2, summed over \3"),
    ("smfmac", r"(\d+)x(\d+)x(\d+)", r"D is \1×\2, summed over \3"),
    ("wmma", r"(\d+)x(\d+)x(\d+)", r"D is \1×\2, summed over \3"),
    ("swmmac", r"(\d+)x(\d+)x(\d+)", r"D is \1×\2, summed over \3"),
    ("mfma", r"(\d)b", r"\1 blocks at once"),
    ("", r"tr(\d+)", r"transposed between the lanes, elements of \1 bits"),
)
LANGUAGE = Language(OPCODES, _MODIFIERS, OWN, PATTERNS)

_REGISTERS = {
    "exec": "mask of the lanes that run",
    "exec_hi": "mask of the lanes that run, the upper 32",
    "exec_lo": "mask of the lanes that run",
    "flat_scratch": "where the wave's own memory is",
    "m0": "a scalar that some instructions read besides their operands",
    "null": "reads as zero, and takes what nobody needs",
    "scc": "outcome of a scalar comparison, or carry",
    "ttmp7": "index of the workgroup, y and z",
    "ttmp9": "index of the workgroup, x",
    "vcc": "mask with a bit for each lane: outcome of a comparison, or carries",
    "vcc_hi": "mask with a bit for each lane, the upper 32",
    "vcc_lo": "mask with a bit for each lane: outcome of a comparison, or carries",
}
_COUNTERS = {
    "expcnt": "exports",
    "lgkmcnt": "scalar loads, operations on LDS and messages",
    "vmcnt": "vector memory operations",
    "vscnt": "vector stores",
}
#: As they stand behind the operands.
_OPERANDS = (
    (r"offset:(\d+)", r"\1 bytes further"),
    (r"offset([01]):(\d+)", r"the offset of the place number \1, in elements"),
    (r"quad_perm:\S+", "lanes of each four, in this order"),
    (r"row_shl:(\d+)", r"of the lane \1 above, within rows of 16"),
    (r"row_shr:(\d+)", r"of the lane \1 below, within rows of 16"),
    (r"row_ror:(\d+)", r"of the lane \1 below, round the row of 16"),
    (r"row_bcast:(\d+)", r"lane \1 of each row, for the next"),
    (r"row_newbcast:(\d+)", r"lane \1 of each row, for all of it"),
    (r"row_share:(\d+)", r"lane \1 of each row, for all of it"),
    (r"row_xmask:(\d+)", r"of the lane whose number differs in these bits, within rows of 16"),
    (r"row_mirror", "lanes of each row backwards"),
    (r"row_half_mirror", "lanes of each half row backwards"),
    (r"wave_\w+:\d+", "of a neighbour in the wave"),
    (r"row_mask:\w+", "rows of 16 lanes that take part"),
    (r"bank_mask:\w+", "lanes of each row that take part, four a bit"),
    (r"bound_ctrl:\d", "lanes that are not there read as zero"),
    (r"op_sel:\S+", "which halves the lower operation takes"),
    (r"op_sel_hi:\S+", "which halves the upper operation takes"),
    (r"neg_lo:\S+", "what the lower operation negates"),
    (r"neg_hi:\S+", "what the upper operation negates"),
    (r"(?:dst|src[01])_sel:BYTE_(\d)", r"byte \1 only"),
    (r"(?:dst|src[01])_sel:WORD_(\d)", r"half \1 only"),
    (r"clamp", "the result is kept in its range"),
    (r"mul:([24])", r"the result times \1"),
    (r"div:2", "the result halved"),
    (r"offen", "each lane has an offset of its own"),
    (r"idxen", "each lane has an index of its own"),
    (r"lds", "into LDS"),
    (r"glc", "past the nearest cache, or returns the old value"),
    (r"slc", "streamed"),
    (r"nt", "used once: needn't stay cached"),
    (r"sc0", "seen by the workgroup, or returns the old value"),
    (r"sc1", "seen by the whole device"),
    (r"th:TH_LOAD_LU", "used for the last time: needn't stay cached"),
    (r"th:TH_(?:LOAD|STORE)_NT\w*", "used once: needn't stay cached"),
    (r"th:TH_ATOMIC_RETURN", "returns the old value"),
    (r"scope:SCOPE_CU", "seen by the compute unit"),
    (r"scope:SCOPE_SE", "seen by the shader engine"),
    (r"scope:SCOPE_DEV", "seen by the whole device"),
    (r"scope:SCOPE_SYS", "seen by the whole system"),
)
_OPERAND = [(re.compile(rf"(?<![\w.:]){pattern}(?![\w:])"), phrase) for pattern, phrase in _OPERANDS]
_INSTRUCTION = re.compile(r"\s*(?P<name>(?:s|v|ds|global|buffer|flat|scratch|tensor|image|exp)_\w+)(?P<operands>[^;]*)")
_FUSED = re.compile(r"(?<=\d)((?:b?f|i|u)\d+)$|(?<=\d)((?:b?f|i|u)\d+)(?=_)")
"""`32x32x8f16`, as shapes were written before the types had a word of their own."""
_COUNTER = re.compile(r"\b(\w+cnt)\((\d+)\)")
_SPECIAL = re.compile(r"(?<![\w.\[])(?:" + "|".join(sorted(_REGISTERS, key=len, reverse=True)) + r")(?![\w(])")
_ACCUMULATORS = re.compile(r"(?<!\w)a(?:\d+|\[\d+:\d+\])")
_LABEL = re.compile(r"\.L\w+")


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of AMD's assembly text; None for one that holds no instruction."""
    match = _INSTRUCTION.match(rows[line].split("//", 1)[0])
    if match is None:
        return None
    name, operands = match["name"], match["operands"]
    found = describe(name)
    notes = _pair(operands)
    notes += [
        f"`{counter}`: at most {count} {_COUNTERS[counter]}"
        for counter, count in _COUNTER.findall(operands)
        if counter in _COUNTERS
    ]
    notes += [f"`{written}`: {_REGISTERS[written]}" for written in dict.fromkeys(_SPECIAL.findall(operands))]
    if accumulators := _ACCUMULATORS.search(operands):
        notes.append(f"`{accumulators[0]}`: accumulation registers")
    for pattern, phrase in _OPERAND:
        notes += dict.fromkeys(f"`{found[0]}`: {found.expand(phrase)}" for found in pattern.finditer(operands))
    return Explanation(name, found.does, found.parts, tuple(notes), tuple(_LABEL.findall(operands)))


def describe(name: str) -> Explanation:
    """By the name alone, `v_pk_fma_f32`."""
    unit, _, rest = name.partition("_")
    parts = [(f"{unit}_", _UNITS[unit])] if unit in _UNITS and not rest.startswith(_TOGETHER) else []
    if unit == "v" and rest.startswith("dual_"):
        rest = rest.removeprefix("dual_")
        parts.append(("dual_", "one of two operations that are issued together"))
    if rest.startswith("pk_"):
        rest = rest.removeprefix("pk_")
        parts.append(("pk_", "on two numbers at once"))
    written = _FUSED.sub(lambda match: f"_{match[0]}", rest).replace("_", ".")
    whole = f"{unit}.{written}"
    found = LANGUAGE.describe(whole if unit not in _UNITS or LANGUAGE.split(whole)[0] in OPCODES else written)
    parts += [(modifier.replace(".", "_"), phrase) for modifier, phrase in found.parts]
    return Explanation(name, found.does, tuple(parts))


def _pair(operands: str) -> list[str]:
    """What the second of two operations of one instruction does."""
    second = operands.partition("::")[2].split()
    return [f"`{second[0]}`: {describe(second[0]).does or 'not described here'}"] if second else []
