"""SASS, from Ampere (sm_80) to Blackwell (sm_120), in our own words.

NVIDIA names the opcodes and says little more; what is here is what their names, the PTX that they are made from, and
public measurements agree on. What isn't known well enough is left out, and hovers say so.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from tile_lsp.analysis import sass

from .table import Explanation, Language

_FLOAT = {
    "FADD": "Adds two 32-bit floats.",
    "FADD2": "Adds two pairs of 32-bit floats, each pair in two neighbouring registers.",
    "FADD32I": "Adds a 32-bit float and one that is written in the instruction.",
    "FCHK": (
        "Sets a predicate if dividing these two 32-bit floats needs the slow path, because one is too large, too small"
        " or special."
    ),
    "FFMA": "Multiplies two 32-bit floats and adds a third, with one rounding.",
    "FFMA2": "Multiplies and adds two pairs of 32-bit floats, each pair in two neighbouring registers.",
    "FFMA32I": "Multiplies and adds 32-bit floats, one of which is written in the instruction.",
    "FHADD": "Adds a 16-bit float and a 32-bit one.",
    "FMNMX": (
        "The smaller of two 32-bit floats where the predicate operand is true (`PT`), the larger where it is false "
        "(`!PT`)."
    ),
    "FMNMX3": (
        "The smallest of three 32-bit floats where the predicate operand is true (`PT`), the largest where it is false"
        " (`!PT`)."
    ),
    "FMUL": "Multiplies two 32-bit floats.",
    "FMUL2": "Multiplies two pairs of 32-bit floats, each pair in two neighbouring registers.",
    "FMUL32I": "Multiplies a 32-bit float by one that is written in the instruction.",
    "FRND": "Rounds a float to a whole number and keeps it a float.",
    "FSEL": "Takes the first 32-bit value where the predicate operand is true, else the second.",
    "FSET": "Compares two 32-bit floats and writes the outcome to a register.",
    "FSETP": (
        "Compares two 32-bit floats, combines the outcome with the last predicate, and writes it and its opposite to "
        "the first two."
    ),
    "FSWZADD": "Adds 32-bit floats with signs that depend on the lane, as differences between neighbours need it.",
    "MUFU": "Approximates a function of a 32-bit float in the special function unit.",
}
_HALF = {
    "HADD2": "Adds two pairs of 16-bit floats; with `.F32` it widens, as a conversion from 16 to 32 bits does.",
    "HADD2_32I": "Adds a pair of 16-bit floats and one that is written in the instruction.",
    "HFMA2": (
        "Multiplies two pairs of 16-bit floats and adds a third; with constants only, a way to load a register on this"
        " pipe."
    ),
    "HFMA2_32I": "Multiplies and adds pairs of 16-bit floats, one of which is written in the instruction.",
    "HMNMX2": (
        "The smaller of each pair of 16-bit floats where the predicate operand is true (`PT`), the larger where it is "
        "false (`!PT`)."
    ),
    "HMUL2": "Multiplies two pairs of 16-bit floats.",
    "HMUL2_32I": "Multiplies a pair of 16-bit floats by one that is written in the instruction.",
    "HSET2": "Compares two pairs of 16-bit floats and writes the outcomes to a register.",
    "HSETP2": "Compares two pairs of 16-bit floats and writes the outcomes to two predicates.",
    "VHMNMX": "The smallest or largest of pairs of 16-bit floats.",
}
_DOUBLE = {
    "DADD": "Adds two 64-bit floats, each in two registers.",
    "DFMA": "Multiplies two 64-bit floats and adds a third, with one rounding.",
    "DMUL": "Multiplies two 64-bit floats, each in two registers.",
    "DSETP": "Compares two 64-bit floats, combines the outcome with the last predicate, and writes it to predicates.",
}
_TENSOR = {
    "BMMA": "Multiplies small matrices of single bits in the tensor core; the whole warp takes part.",
    "DMMA": (
        "Multiplies small matrices of 64-bit floats in the tensor core and adds a third; the whole warp takes part."
    ),
    "HGMMA": (
        "Starts a multiplication of matrices of 16-bit or tf32 floats by a warpgroup (four warps): B, and A if it is "
        "no register, come from shared memory by descriptor, the sum stays in registers. Runs on its own until waited "
        "for."
    ),
    "HMMA": (
        "Multiplies small matrices of 16-bit or tf32 floats in the tensor core and adds a third: each lane of the warp"
        " holds a part of each matrix."
    ),
    "IGMMA": "Starts a multiplication of matrices of 8-bit integers by a warpgroup (four warps), out of shared memory.",
    "IMMA": "Multiplies small matrices of integers in the tensor core and adds a third; the whole warp takes part.",
    "LDSM": (
        "Loads 8×8 matrices of 16-bit elements from shared memory, spread over the lanes as the tensor core wants them."
    ),
    "LDTM": "Loads from tensor memory into registers; the whole warp takes part.",
    "MOVM": "Transposes an 8×8 matrix of 16-bit elements that is spread over the lanes of the warp.",
    "OMMA": "Multiplies small matrices of 4-bit floats in the tensor core and adds a third; the whole warp takes part.",
    "QGMMA": "Starts a multiplication of matrices of 8-bit floats by a warpgroup (four warps), out of shared memory.",
    "QMMA": (
        "Multiplies small matrices of 8-bit or narrower floats in the tensor core and adds a third; the whole warp "
        "takes part."
    ),
    "STSM": "Stores 8×8 matrices of 16-bit elements, spread over the lanes of the warp, to shared memory.",
    "STTM": "Stores registers to tensor memory; the whole warp takes part.",
    "UTCATOMSWS": "Updates the table of tensor memory columns that are in use: how columns are allocated and freed.",
    "UTCBAR": "Lets a barrier in shared memory be arrived at once all tensor core work started so far is done.",
    "UTCCP": "Copies from shared memory to tensor memory, in the background.",
    "UTCHMMA": (
        "Starts a multiplication of matrices of 16-bit or tf32 floats in the fifth-generation tensor core: operands by"
        " descriptor from shared or tensor memory, the sum in tensor memory. One thread starts it for all."
    ),
    "UTCIMMA": (
        "Starts a multiplication of matrices of 8-bit integers in the fifth-generation tensor core, with the sum in "
        "tensor memory."
    ),
    "UTCOMMA": (
        "Starts a multiplication of matrices of block-scaled 4-bit floats in the fifth-generation tensor core, with "
        "the sum in tensor memory."
    ),
    "UTCQMMA": (
        "Starts a multiplication of matrices of 8-bit or narrower floats in the fifth-generation tensor core, with the"
        " sum in tensor memory."
    ),
    "UTCSHIFT": "Shifts rows of tensor memory down, in the background.",
    "WARPGROUP": "Orders a warpgroup's matrix multiplications.",
}
_INTEGER = {
    "BMSK": "Makes a mask of consecutive one bits from a position and a width.",
    "BREV": "Reverses the bits of a register.",
    "FLO": "Finds the highest bit that is set (of a negative signed number: that is clear).",
    "IABS": "Absolute value of a 32-bit integer.",
    "IADD": "Adds two integers.",
    "IADD3": "Adds three integers; the predicates after the result take the carries.",
    "IADD32I": "Adds an integer and one that is written in the instruction.",
    "IDP": "Multiplies vectors of small integers packed in registers and adds the products up.",
    "IMAD": "Multiplies two integers and adds a third.",
    "IMNMX": (
        "The smaller of two integers where the predicate operand is true (`PT`), the larger where it is false (`!PT`)."
    ),
    "IMUL": "Multiplies two integers.",
    "ISCADD": "Shifts an integer left and adds another.",
    "ISETP": (
        "Compares two integers, combines the outcome with the last predicate, and writes it and its opposite to the "
        "first two."
    ),
    "LEA": "Shifts the first operand left and adds the second: the address of an array's element.",
    "LOP3": "Any bitwise function of three registers, chosen by its table of eight outcomes.",
    "LOP": "Bitwise function of two registers.",
    "POPC": "Counts the bits that are set.",
    "SGXT": "Cuts an integer to a number of bits and extends it again.",
    "SHF": "Shifts two registers as one 64-bit number and keeps one half.",
    "SHL": "Shifts left.",
    "SHR": "Shifts right.",
    "VABSDIFF": "Absolute difference of two integers, with a third added.",
    "VABSDIFF4": "Absolute differences of four pairs of bytes, with a third operand added.",
    "VIADD": "Adds two 32-bit integers.",
    "VIADDMNMX": "Adds two integers and takes the smaller or larger of the sum and a third, by the predicate operand.",
    "VIMNMX": (
        "The smaller of two integers where the predicate operand is true (`PT`), the larger where it is false (`!PT`)."
    ),
    "VIMNMX3": (
        "The smallest of three integers where the predicate operand is true (`PT`), the largest where it is false "
        "(`!PT`)."
    ),
}
_CONVERT = {
    "F2F": "Converts a float to a float of another width.",
    "F2FP": "Converts floats to narrower ones and packs them into one register, or unpacks such a register.",
    "F2I": "Converts a float to an integer.",
    "F2IP": "Converts floats to small integers and packs them into one register.",
    "I2F": "Converts an integer to a float.",
    "I2FP": "Converts a 32-bit integer to a 32-bit float, on the ordinary arithmetic pipe.",
    "I2I": "Converts an integer to another width, saturating.",
    "I2IP": "Converts integers to smaller ones, saturating, and packs them into one register.",
}
_MOVE = {
    "B2R": "Copies the state of barriers to a register.",
    "BMOV": "Moves between a convergence barrier (`B0`…) and a register.",
    "CS2R": "Copies a special register, or zero, to a register (with no width: a pair).",
    "MOV": "Copies a register, a constant or a number.",
    "MOV32I": "Loads a register with a number.",
    "P2R": "Packs predicates into a register.",
    "PLOP3": "Any function of three predicates, chosen by its table of eight outcomes.",
    "PRMT": "Builds a register from any four bytes of two others, chosen by the selector.",
    "PSETP": "Combines predicates.",
    "R2B": "Copies a register to barriers.",
    "R2P": "Unpacks a register into predicates.",
    "R2UR": "Copies a register that is equal in all lanes to a uniform register.",
    "S2R": "Copies a special register to a register. Takes some tens of cycles: the result is waited for.",
    "S2UR": "Copies a special register to a uniform register. Takes some tens of cycles: the result is waited for.",
    "SEL": "Takes the first value where the predicate operand is true, else the second.",
    "SHFL": "Reads a register of another lane of the warp.",
}
_MEMORY = {
    "ARRIVES": "Arrives at a barrier object (mbarrier) in shared memory once copies are done.",
    "ATOM": "Updates memory atomically and returns what was there (generic address).",
    "ATOMG": "Updates global memory atomically and returns what was there.",
    "ATOMS": "Updates shared memory atomically and returns what was there.",
    "CCTL": "Controls the caches: invalidates, writes back or prefetches.",
    "CCTLL": "Controls the cache of local memory.",
    "CCTLT": "Controls the texture cache.",
    "ERRBAR": "Waits until errors of earlier memory accesses would have been reported.",
    "FENCE": "Orders memory accesses between the ordinary path and the asynchronous one (bulk copies, tensor cores).",
    "LD": "Loads from memory (generic address: global, shared or local).",
    "LDC": "Loads from constant memory, where kernel parameters are.",
    "LDCU": "Loads from constant memory, or read-only global memory, into uniform registers.",
    "LDG": "Loads from global memory.",
    "LDGDEPBAR": (
        "Ties the asynchronous copies started so far to a scoreboard, so that they can be waited for: commits a group."
    ),
    "LDGMC": "Loads from multicast memory, reduced over the devices that hold it.",
    "LDGSTS": "Copies from global to shared memory in the background, past the registers.",
    "LDL": "Loads from local memory: the thread's own stack, where spilled registers go.",
    "LDS": "Loads from shared memory.",
    "MAPA": "Translates a shared memory address to that of another block of the cluster.",
    "MEMBAR": "Memory fence: earlier accesses are seen by others before later ones.",
    "QSPC": "Asks which memory a generic address belongs to.",
    "RED": "Updates global memory atomically and returns nothing.",
    "REDG": "Updates global memory atomically and returns nothing.",
    "REDAS": "Updates shared memory of another block of the cluster in the background, and arrives at its barrier.",
    "ST": "Stores to memory (generic address: global, shared or local).",
    "STAS": "Stores to shared memory of another block of the cluster in the background, and arrives at its barrier.",
    "STG": "Stores to global memory.",
    "STL": "Stores to local memory: the thread's own stack, where spilled registers go.",
    "STS": "Stores to shared memory.",
    "SYNCS": "Works on a barrier object (mbarrier) in shared memory.",
    "UBLKCP": "Starts a bulk copy of contiguous bytes; its modifiers say to which memory and from which.",
    "UBLKPF": "Starts a bulk prefetch of contiguous bytes to the L2 cache.",
    "UBLKRED": "Starts a bulk reduction of contiguous bytes of shared memory into memory.",
    "UTMACCTL": "Controls the cache of tensor maps.",
    "UTMACMDFLUSH": "Commits the bulk copies started so far, so that they can be waited for.",
    "UTMALDG": (
        "Starts a copy of a box of a tensor from global to shared memory by the tensor memory accelerator (TMA), as "
        "its tensor map says; a barrier is told the bytes that arrived."
    ),
    "UTMAPF": "Starts a prefetch of a box of a tensor to the L2 cache.",
    "UTMAREDG": "Starts a reduction of a box in shared memory into a tensor in global memory.",
    "UTMASTG": (
        "Starts a copy of a box from shared memory to a tensor in global memory by the tensor memory accelerator (TMA)."
    ),
}
_TEXTURE = {
    "SULD": "Loads from a surface.",
    "SUATOM": "Updates a surface atomically and returns what was there.",
    "SURED": "Updates a surface atomically.",
    "SUST": "Stores to a surface.",
    "TEX": "Samples a texture.",
    "TLD": "Loads a texel.",
    "TLD4": "Loads one component of the four texels around a position.",
    "TMML": "Asks which level of detail a texture would be sampled at.",
    "TXD": "Samples a texture with given derivatives.",
    "TXQ": "Asks for a property of a texture.",
}
_WARP = {
    "CREDUX": "Reduces a register over the lanes of the warp into a uniform register.",
    "ELECT": "Chooses one active lane of the warp: the predicate is true there alone.",
    "MATCH": "Finds the lanes of the warp that hold the same value.",
    "REDUX": "Reduces an integer over the lanes of the warp into a uniform register.",
    "VOTE": "Combines a predicate over the lanes of the warp.",
    "VOTEU": "Combines a predicate over the lanes of the warp into a uniform register or predicate.",
}
_CONTROL = {
    "ACQBULK": "Waits for the grid that this one depends on (programmatic dependent launch).",
    "BAR": "Barrier of the block: threads wait for each other, or arrive without waiting.",
    "BPT": "Breakpoint or trap: stops the kernel with an error.",
    "BRA": "Jumps to a label.",
    "BREAK": "Takes threads off a convergence barrier: they will not meet the others there.",
    "BRX": "Jumps to an address from a register: a jump table.",
    "BRXU": "Jumps to an address from a uniform register: a jump table.",
    "BSSY": "Prepares a convergence barrier: threads that part from here on meet again at the label.",
    "BSYNC": "Waits at a convergence barrier until the threads that parted have met again.",
    "CALL": "Calls a function.",
    "CGAERRBAR": "Waits until errors of earlier accesses within the cluster would have been reported.",
    "DEPBAR": "Waits until a scoreboard has counted down to a number, as of asynchronous copies still under way.",
    "ENDCOLLECTIVE": "Ends a stretch of code that only part of the warp runs together.",
    "EXIT": "Ends the thread.",
    "JMP": "Jumps to an absolute address.",
    "JMX": "Jumps to an absolute address from a register.",
    "JMXU": "Jumps to an absolute address from a uniform register.",
    "KILL": "Kills the thread.",
    "LEPC": "Loads the address of the program into registers.",
    "NANOSLEEP": "Suspends the warp for about so many nanoseconds.",
    "NOP": "Does nothing; also fills the space after a kernel's end.",
    "PMTRIG": "Triggers a performance monitor.",
    "PREEXIT": "Lets grids that depend on this one be launched (programmatic dependent launch).",
    "RET": "Returns from a function.",
    "RPCMOV": "Moves between the return address and a register.",
    "UCGABAR_ARV": "Arrives at the barrier of the cluster.",
    "UCGABAR_WAIT": "Waits at the barrier of the cluster.",
    "UGETNEXTWORKID": "Asks to cancel the launch of a cluster that has not begun, to take over its work.",
    "USETMAXREG": "Gives registers of this warp back, or asks for more.",
    "UVIRTCOUNT": "Updates a counter of a resource that blocks of the multiprocessor share.",
    "WARPSYNC": "Waits until lanes of the warp have met.",
    "YIELD": "Lets other threads of the warp, which parted from these, go on.",
}
_UNIFORM_MEANINGS = {
    "UBMSK": "BMSK",
    "UBREV": "BREV",
    "UF2F": "F2F",
    "UF2FP": "F2FP",
    "UF2I": "F2I",
    "UFADD": "FADD",
    "UFFMA": "FFMA",
    "UFLO": "FLO",
    "UFMNMX": "FMNMX",
    "UFMUL": "FMUL",
    "UFRND": "FRND",
    "UFSEL": "FSEL",
    "UFSET": "FSET",
    "UFSETP": "FSETP",
    "UI2F": "I2F",
    "UI2FP": "I2FP",
    "UI2I": "I2I",
    "UI2IP": "I2IP",
    "UIABS": "IABS",
    "UIADD3": "IADD3",
    "UIMAD": "IMAD",
    "UIMNMX": "IMNMX",
    "UISETP": "ISETP",
    "ULDC": "LDC",
    "ULEA": "LEA",
    "ULEPC": "LEPC",
    "ULOP": "LOP",
    "ULOP3": "LOP3",
    "UMOV": "MOV",
    "UP2UR": "P2R",
    "UPLOP3": "PLOP3",
    "UPOPC": "POPC",
    "UPRMT": "PRMT",
    "UPSETP": "PSETP",
    "UR2UP": "R2P",
    "USEL": "SEL",
    "USGXT": "SGXT",
    "USHF": "SHF",
    "USHL": "SHL",
    "USHR": "SHR",
    "UVIADD": "VIADD",
    "UVIMNMX": "VIMNMX",
}
"""Opcodes of the uniform data path, which works on one value for the whole warp, and the one that does it a lane."""

_PER_LANE = _FLOAT | _HALF | _DOUBLE | _TENSOR | _INTEGER | _CONVERT | _MOVE | _MEMORY | _TEXTURE | _WARP | _CONTROL
OPCODES = _PER_LANE | {
    opcode: f"{_PER_LANE[meaning]} Once for the whole warp, on uniform registers."
    for opcode, meaning in _UNIFORM_MEANINGS.items()
}

_COMPARISONS = {
    "EQ": "equal",
    "NE": "not equal",
    "LT": "less than",
    "LE": "less than or equal",
    "GT": "greater than",
    "GE": "greater than or equal",
    "EQU": "equal, or one is NaN",
    "NEU": "not equal, or one is NaN",
    "LTU": "less than, or one is NaN",
    "LEU": "less than or equal, or one is NaN",
    "GTU": "greater than, or one is NaN",
    "GEU": "greater than or equal, or one is NaN",
    "NUM": "neither is NaN",
    "NAN": "one is NaN",
}
_COMBINING = {
    "AND": "the outcome and the last predicate",
    "OR": "the outcome or the last predicate",
    "XOR": "the outcome differs from the last predicate",
}
_COMPARE = _COMPARISONS | _COMBINING
_ATOMIC = {
    "ADD": "add",
    "MIN": "the smaller",
    "MAX": "the larger",
    "INC": "add 1, back to 0 beyond the operand",
    "DEC": "subtract 1, back to the operand below 0",
    "AND": "bitwise and",
    "OR": "bitwise or",
    "XOR": "bitwise exclusive or",
    "EXCH": "exchange",
    "CAS": "exchange if it equals the operand",
    "CAST": "exchange if it equals the operand",
    "SPIN": "tries again until it succeeds",
    "POPC": "by the number of active lanes",
}
_LOADS = {
    "U8": "one byte, unsigned",
    "S8": "one byte, signed",
    "U16": "16 bits, unsigned",
    "S16": "16 bits, signed",
    "32": "32 bits",
    "64": "64 bits, two registers",
    "128": "128 bits, four registers",
    "256": "256 bits, eight registers",
    "ENL2": "a form for 256 bits",
}
_SUMS = {
    "F32": "summed in 32-bit floats",
    "F16": "summed in 16-bit floats",
    "BF16": "operands are bfloat16, not 16-bit floats",
    "TF32": "operands are tf32: 32-bit floats of which 19 bits are used",
}
_SHUFFLES = {
    "IDX": "of the lane with this number",
    "UP": "of a lane so many below",
    "DOWN": "of a lane so many above",
    "BFLY": "of the lane whose number differs in these bits (exclusive or)",
}
_LEVELS = {
    "GPU": "as the whole GPU sees it",
    "SYS": "as the whole system sees it",
    "CTA": "within the block",
    "SM": "within the multiprocessor",
}

MODIFIERS = {
    "E": "64-bit address",
    "U8": "unsigned 8-bit integer",
    "S8": "signed 8-bit integer",
    "U4": "unsigned 4-bit integer",
    "S4": "signed 4-bit integer",
    "U16": "unsigned 16-bit integer",
    "S16": "signed 16-bit integer",
    "U32": "unsigned 32-bit integer",
    "S32": "signed 32-bit integer",
    "U64": "unsigned 64-bit integer",
    "S64": "signed 64-bit integer",
    "F16": "16-bit float",
    "U8x4": "four unsigned 8-bit integers",
    "S8x4": "four signed 8-bit integers",
    "ISAT": "clamped to the range of the type",
    "U16x2": "pair of unsigned 16-bit integers",
    "S16x2": "pair of signed 16-bit integers",
    "16x2": "pair of 16-bit integers",
    "F16x2": "pair of 16-bit floats",
    "BF16": "bfloat16",
    "BF16_V2": "pair of bfloat16",
    "F32": "32-bit float",
    "F64": "64-bit float",
    "TF32": "tf32: a 32-bit float of which the tensor core uses 19 bits",
    "E4M3": "8-bit float with 4 bits of exponent and 3 of mantissa",
    "E5M2": "8-bit float with 5 bits of exponent and 2 of mantissa",
    "E8": "8-bit power of two (scale)",
    "E2M3": "6-bit float with 2 bits of exponent and 3 of mantissa",
    "E3M2": "6-bit float with 3 bits of exponent and 2 of mantissa",
    "E2M1": "4-bit float with 2 bits of exponent and 1 of mantissa",
    "32": "32 bits",
    "64": "64 bits",
    "128": "128 bits",
    "FTZ": "denormal numbers count as zero",
    "SAT": "clamped to 0…1",
    "SATFINITE": "what is too large becomes the largest finite number",
    "RELU": "negative numbers become zero",
    "RN": "rounded to nearest",
    "RZ": "rounded towards zero",
    "RM": "rounded down",
    "RP": "rounded up",
    "RNA": "rounded to nearest, ties away from zero",
    "RS": "rounded at random (stochastically)",
    "TRUNC": "rounded towards zero",
    "FLOOR": "rounded down",
    "CEIL": "rounded up",
    "NTZ": "NaN becomes zero",
    "NAN": "NaN if an operand is NaN",
    "HI": "high half of the result",
    "X": "with carry in",
    "LUT": "the function is given as a table of its outcomes",
    "EX": "second half of a 64-bit comparison: takes the first half's outcome as its last operand",
    "RELIABLE": "a form that always reconverges",
    "RECONVERGENT": "threads that parted meet again here",
    "STRONG": "ordered with other threads' accesses to the place",
    "WEAK": "not ordered with other threads' accesses",
    "CONSTANT": "through the read-only path: nobody writes this memory while the kernel runs",
    "EF": "evict first: not needed again soon",
    "EU": "priority in the cache stays as it is",
    "EL": "evict last: keep in the cache",
    "LU": "last use: the line need not be kept",
    "NA": "takes no room in the L1 cache",
    "PRIVATE": "private to the thread",
    "MMIO": "memory-mapped input or output",
    "LTC64B": "prefetches 64 bytes to the L2 cache",
    "LTC128B": "prefetches 128 bytes to the L2 cache",
    "LTC256B": "prefetches 256 bytes to the L2 cache",
    "BYPASS": "past the L1 cache",
    "ACCESS": "for accesses alone",
    "ZFILL": "the rest is filled with zeros",
    "WS": "with B held still in the tensor core (weight stationary)",
    "2CTA": "for a pair of blocks that work together",
    "MULTICAST": "to several blocks of the cluster",
    "T": "transposed",
    "MMA": "a form of the instruction that runs on another pipe",
    **_LEVELS,
}

OWN = {
    **dict.fromkeys(("LD", "LDG", "LDS", "LDL", "LDC", "LDCU", "ULDC", "ST", "STG", "STS", "STL", "LDGSTS"), _LOADS),
    **dict.fromkeys(
        (
            "FSET",
            "FSETP",
            "DSETP",
            "ISETP",
            "HSET2",
            "HSETP2",
            "UISETP",
            "UFSET",
            "UFSETP",
            "PSETP",
            "UPSETP",
        ),
        _COMPARE,
    ),
    **dict.fromkeys(
        ("ATOM", "ATOMG", "ATOMS", "RED", "REDG", "REDAS", "SUATOM", "SURED", "LDGMC", "UTMAREDG"), _ATOMIC
    ),
    **{
        opcode: _ATOMIC
        | {"SUM": "sum", "MINABS": "the smallest absolute value", "MAXABS": "the largest absolute value"}
        for opcode in ("REDUX", "CREDUX")
    },
    "HSET2": _COMPARE | {"BF": "outcomes as 1.0 and 0.0", "BM": "outcomes as masks"},
    "FSET": _COMPARE | {"BF": "outcome as 1.0 or 0.0"},
    "SHFL": _SHUFFLES,
    "MUFU": {
        "RCP": "reciprocal",
        "RSQ": "reciprocal of the square root",
        "SQRT": "square root",
        "EX2": "2 to the power",
        "LG2": "logarithm to base 2",
        "SIN": "sine",
        "COS": "cosine",
        "TANH": "hyperbolic tangent",
        "RCP64H": "reciprocal, of the high half of a 64-bit float",
        "RSQ64H": "reciprocal of the square root, of the high half of a 64-bit float",
    },
    "IMAD": {
        "MOV": "used as a move: 0 × 0 + the last operand",
        "IADD": "used as an addition: the first operand × 1",
        "SHL": "used as a shift left: the multiplier is a power of two",
        "WIDE": "64-bit result and addend, in pairs of registers",
        "HI": "high 32 bits of the product",
    },
    "UIMAD": {"WIDE": "64-bit result and addend, in pairs of registers", "HI": "high 32 bits of the product"},
    "IDP": {
        "4A": "four products of bytes",
        "2A": "two products of a 16-bit number and a byte",
        "LO": "low half",
        "HI": "high half",
    },
    "LEA": {"HI": "high half of a 64-bit address", "SX32": "the 32-bit index extended with its sign"},
    "ULEA": {"HI": "high half of a 64-bit address", "SX32": "the 32-bit index extended with its sign"},
    "SHF": {"L": "left", "R": "right", "W": "by the amount modulo 32", "HI": "keeps the high half"},
    "USHF": {"L": "left", "R": "right", "W": "by the amount modulo 32", "HI": "keeps the high half"},
    "SGXT": {"U32": "with zeros", "W": "by the width modulo 32"},
    "USGXT": {"U32": "with zeros", "W": "by the width modulo 32"},
    "FLO": {"SH": "as the shift that would bring it to the top"},
    "UFLO": {"SH": "as the shift that would bring it to the top"},
    "BMSK": {"C": "clamped", "W": "by the amounts modulo 32"},
    "PRMT": {
        "F4E": "four bytes forward from the selector",
        "B4E": "four bytes backward from the selector",
        "RC8": "one byte, four times",
        "ECL": "edge clamped left",
        "ECR": "edge clamped right",
        "RC16": "one half, twice",
    },
    "F2FP": {
        "PACK_AB": "two numbers packed into one register",
        "PACK_AB_MERGE_C": "two numbers packed into one half of the register, its other half from the last operand",
        "UNPACK_B": "two numbers unpacked from one operand",
        "UNPACK_B_MERGE_C": "two numbers unpacked from one operand, merged with the last",
    },
    "HADD2": {"F32": "32-bit result, of one of the halves"},
    "HGMMA": _SUMS,
    "HMMA": _SUMS
    | {
        "SP": "A is sparse: two of four elements",
        "1688": "m16n8k8",
        "16816": "m16n8k16",
        "16832": "m16n8k32",
        "884": "m8n8k4",
    },
    "IMMA": {
        "SP": "A is sparse: two of four elements",
        "ROW": "row-major",
        "COL": "column-major",
        "8816": "m8n8k16",
        "16816": "m16n8k16",
        "16832": "m16n8k32",
        "16864": "m16n8k64",
        "8832": "m8n8k32",
    },
    "QMMA": {
        "SP": "A is sparse: two of four elements",
        "SF": "with scales a block",
        "16832": "m16n8k32",
        "16816": "m16n8k16",
        "16864": "m16n8k64",
    },
    "OMMA": {
        "SP": "A is sparse: two of four elements",
        "SF": "with scales a block",
        "16864": "m16n8k64",
        "168128": "m16n8k128",
    },
    "DMMA": {"884": "m8n8k4", "8x8x4": "m8n8k4", "16x8x4": "m16n8k4", "16x8x8": "m16n8k8", "16x8x16": "m16n8k16"},
    "LDSM": {
        "MT1616": "16×16 matrices, transposed",
        "16": "16-bit elements",
        "8": "8-bit elements",
        "M88": "8×8 matrices",
        "MT88": "8×8 matrices, transposed",
        "2": "two matrices",
        "4": "four matrices",
        "1": "one matrix",
    },
    "STSM": {
        "16": "16-bit elements",
        "8": "8-bit elements",
        "M88": "8×8 matrices",
        "MT88": "8×8 matrices, transposed",
        "2": "two matrices",
        "4": "four matrices",
        "1": "one matrix",
    },
    "MOVM": {
        "16": "16-bit elements",
        "MT88": "8×8 matrix, transposed",
        "M832": "8×32 matrix",
        "U4TO8": "4-bit elements widened to 8 bits",
    },
    "BAR": {
        "SYNC": "arrives and waits for the others",
        "ARV": "arrives and goes on",
        "RED": "waits, and combines a predicate of all threads",
        "DEFER_BLOCKING": "the warp is held back only when it next needs to be",
        "POPC": "how many predicates are true",
        "AND": "whether all are true",
        "OR": "whether one is true",
        "SCAN": "only looks",
    },
    "BRA": {
        "U": "by all threads of the warp alike",
        "DIV": "only if threads of the warp have parted",
        "CONV": "only if the threads of the warp are together",
        "INC": "counts the depth of calls up",
        "DEC": "counts the depth of calls down",
        "ANY": "if it holds for any lane",
        "ALL": "if it holds for all lanes",
    },
    "CALL": {
        "REL": "at a distance from here",
        "ABS": "at an absolute address",
        "NOINC": "leaves the depth of calls alone",
    },
    "RET": {
        "REL": "at a distance from here",
        "ABS": "at an absolute address",
        "NODEC": "leaves the depth of calls alone",
    },
    "BPT": {"TRAP": "trap", "INT": "interrupt", "DRAIN": "once the pipes are empty"},
    "EXIT": {"KEEPREFCOUNT": "keeps the reference count"},
    "VOTE": {
        "ALL": "true in all lanes",
        "ANY": "true in any lane, or the mask of those where it is",
        "EQ": "equal in all lanes",
    },
    "VOTEU": {
        "ALL": "true in all lanes",
        "ANY": "true in any lane, or the mask of those where it is",
        "EQ": "equal in all lanes",
    },
    "MATCH": {"ALL": "whether all lanes hold the same", "ANY": "the lanes that hold what this one does"},
    "WARPSYNC": {
        "ALL": "all lanes",
        "EXCLUSIVE": "one group at a time",
        "COLLECTIVE": "for the code up to the label that only part of the warp runs together",
    },
    "WARPGROUP": {
        "ARRIVE": "registers are ready for the multiplications that follow",
        "DEPBAR": "waits until so many groups of multiplications are left",
        "LE": "at most",
    },
    "DEPBAR": {"LE": "at most"},
    "MEMBAR": {
        "SC": "sequentially consistent",
        "ALL": "all kinds of memory",
        "VC": "the constant cache",
        "GPU": "before all of the GPU",
        "SYS": "before the whole system",
        "CTA": "before the block",
    },
    "FENCE": {
        "VIEW": "of what the other path sees",
        "ASYNC": "asynchronous path",
        "S": "shared memory",
        "T": "tensor memory",
        "G": "global memory",
    },
    "CCTL": {
        "DML2": "lower the priority in L2",
        "RML2": "drop from L2 without writing back",
        "IV": "invalidate a line",
        "IVALL": "invalidate all",
        "IVALLP": "invalidate all that is private",
        "WB": "write back a line",
        "WBALL": "write back all",
        "PF1": "prefetch to L1",
        "PF2": "prefetch to L2",
        "RS": "reset",
        "C": "of the constant cache",
        "D": "of the data cache",
        "U": "of the uniform cache",
        "I": "of the instruction cache",
        "LDCU": "as `LDCU` reads it",
        "DEEP": "on all levels",
    },
    "UTMACCTL": {"IV": "forget a tensor map, which memory has anew", "PF": "prefetch a tensor map"},
    "UTMALDG": {"IM2COL": "as columns for a convolution", "MULTICAST": "to several blocks of the cluster"},
    "SYNCS": {
        "ARRIVE": "arrives",
        "TRANS64": "on a 64-bit barrier that also counts bytes (transactions)",
        "A1T0": "one arrival, no bytes",
        "ART0": "arrivals from a register, no bytes",
        "A0TR": "no arrival, bytes from a register",
        "A0T1": "no arrival, one more byte is expected",
        "A0TX": "no arrival, bytes are expected",
        "RED": "returns nothing; also at another block's barrier",
        "EXCH": "writes a new value: initialises",
        "PHASECHK": "asks whether the phase of this parity is over",
        "TRYWAIT": "waits a while for it",
        "CCTL": "cache control",
        "IV": "invalidates the barrier",
        "CAS": "exchange if equal",
        "OPTOUT": "and takes part no more in later phases",
        "UNIFORM": "once for the warp",
    },
    "NANOSLEEP": {"SYNCS": "or until a barrier's phase is over"},
    "USETMAXREG": {
        "DEALLOC": "gives registers back",
        "TRY_ALLOC": "asks for more; a predicate says whether they came",
        "CTAPOOL": "to or from those of the block",
    },
    "UTCATOMSWS": {
        "FIND_AND_SET": "finds free columns and marks them",
        "ALIGN": "aligned",
        "AND": "clears those that are freed",
    },
    "UVIRTCOUNT": {"DEALLOC": "gives it up", "SMPOOL": "the multiprocessor's own"},
    "UTCCP": {
        "T": "to tensor memory",
        "S": "from shared memory",
        "4x32dp128bit": "32 rows of 128 bits, four times",
        "128dp256bit": "128 rows of 256 bits",
        "4dp256bit": "four rows of 256 bits",
        "128dp128bit": "128 rows of 128 bits",
    },
    "CS2R": {"32": "one register"},
    "P2R": {"B1": "into byte 1", "B2": "into byte 2", "B3": "into byte 3"},
    "R2P": {"B1": "from byte 1", "B2": "from byte 2", "B3": "from byte 3"},
    "R2UR": {"BROADCAST": "of one lane for all", "FILL": "what `MOV.SPILL` put aside comes back"},
    "F2F": {"F64": "64-bit float"},
    "ARRIVES": {
        "LDGSTSBAR": "when the thread's copies (`LDGSTS`) so far are done",
        "64": "on a 64-bit barrier",
        "ARVCNT": "as one of the arrivals expected",
        "TRANSCNT": "counted as its bytes are",
    },
    "B2R": {"RESULT": "what the barrier combined", "BAR": "which have been arrived at"},
    "BMMA": {
        "168256": "m16n8k256",
        "168128": "m16n8k128",
        "88128": "m8n8k128",
        "XOR": "exclusive or",
        "AND": "and",
        "POPC": "of which the bits set are counted",
    },
    "QSPC": {"S": "shared memory", "L": "local memory", "G": "global memory"},
    "VABSDIFF4": {"ACC": "added to the third operand"},
    "SULD": {"D": "unformatted", "BA": "byte address", "TRAP": "out of bounds is an error"},
    "SUST": {"D": "unformatted", "BA": "byte address", "TRAP": "out of bounds is an error"},
    "TEX": {"LL": "of a given level of detail"},
    "TLD4": {"R": "red", "G": "green", "B": "blue", "A": "alpha"},
    **{
        opcode: {"S": "shared memory", "G": "global memory", "L2": "to the L2 cache"}
        for opcode in ("UBLKCP", "UBLKPF", "UTMAPF")
    },
    "UBLKRED": _ATOMIC | {"S": "shared memory", "G": "global memory"},
    "UP2UR": {"B1": "into byte 1", "B2": "into byte 2", "B3": "into byte 3"},
    "UTCSHIFT": {"DOWN": "down"},
    "UGETNEXTWORKID": {
        "SELFCAST": "the answer goes to the own block",
        "BROADCAST": "the answer goes to all blocks of the cluster",
    },
    "ATOMS": _ATOMIC | {"ARRIVE": "arrives at a barrier"},
    "FMNMX": {"XORSIGN": "with the product of the signs"},
    "POPC": {"INC": "counts up"},
    "MOV": {
        "64": "two registers",
        "SPILL": "puts a uniform register aside in an ordinary one, because they ran out",
    },
    "LDTM": {"x1": "one register"},
}


PATTERNS = (
    ("HGMMA", r"(\d+)x(\d+)x(\d+)", r"m\1n\2k\3: \1×\3 by \3×\2"),
    ("QGMMA", r"(\d+)x(\d+)x(\d+)", r"m\1n\2k\3: \1×\3 by \3×\2"),
    ("IGMMA", r"(\d+)x(\d+)x(\d+)", r"m\1n\2k\3: \1×\3 by \3×\2"),
    ("LDTM", r"x(\d+)", r"\1 registers a lane"),
    ("STTM", r"x(\d+)", r"\1 registers a lane"),
    ("LDTM", r"(\d+)dp(\d+)bit_t(\d+)_t(\d+)", r"\1 rows of \2 bits, by lanes \3 to \4"),
    ("STTM", r"(\d+)dp(\d+)bit_t(\d+)_t(\d+)", r"\1 rows of \2 bits, by lanes \3 to \4"),
    ("LDTM", r"(\d+)dp(\d+)bit", r"\1 rows of \2 bits"),
    ("STTM", r"(\d+)dp(\d+)bit", r"\1 rows of \2 bits"),
    ("UTMALDG", r"(\d)D", r"a box of a \1-dimensional tensor"),
    ("UTMASTG", r"(\d)D", r"a box of a \1-dimensional tensor"),
    ("UTMAREDG", r"(\d)D", r"a box of a \1-dimensional tensor"),
    ("UTMAPF", r"(\d)D", r"a box of a \1-dimensional tensor"),
    ("TEX", r"(\dD|CUBE)", r"\1 texture"),
    ("SULD", r"(\d)D", r"\1-dimensional"),
    ("SUST", r"(\d)D", r"\1-dimensional"),
)

LANGUAGE = Language(OPCODES, MODIFIERS, OWN, PATTERNS)

SPECIAL_REGISTERS = {
    "SR_TID": "index of the thread in its block",
    "SR_CTAID": "index of the block in the grid",
    "SR_NTID": "threads in a block",
    "SR_NCTAID": "blocks in the grid",
    "SR_LANEID": "lane of the thread in its warp",
    "SR_CLOCKLO": "clock, low half",
    "SR_CLOCKHI": "clock, high half",
    "SR_CLOCK": "clock",
    "SR_GLOBALTIMERLO": "nanosecond timer, low half",
    "SR_GLOBALTIMERHI": "nanosecond timer, high half",
    "SR_GRIDID": "number of the grid",
    "SR_VIRTUALSMID": "number of the multiprocessor",
    "SR_SMID": "number of the multiprocessor",
    "SR_WARPID": "number of the warp",
    "SR_EQMASK": "mask of the own lane",
    "SR_LTMASK": "mask of the lanes below",
    "SR_LEMASK": "mask of the lanes below and the own",
    "SR_GTMASK": "mask of the lanes above",
    "SR_GEMASK": "mask of the lanes above and the own",
    "SR_CgaCtaId": "number of the block in its cluster",
    "SR_CgaSize": "blocks in the cluster",
    "SR_SWINHI": "start of the shared memory window, high half",
    "SR_SWINLO": "start of the shared memory window, low half",
    "SR_LWINHI": "start of the local memory window, high half",
    "SR_REGALLOC": "registers allocated",
    "SR_CTA_SMEM_SIZE": "bytes of shared memory of the block",
    "SRZ": "zero",
}

_PARAMETERS = {7: 0x160, 8: 0x160, 9: 0x210, 10: 0x380, 11: 0x380, 12: 0x380}
"""Generation → where in constant bank 0 the kernel's parameters begin."""
_LAUNCH = {
    **{
        at + 4 * index: f"{what}, {axis}"
        for at, what in ((0x0, "threads in a block"), (0xC, "blocks in the grid"))
        for index, axis in enumerate("xyz")
    },
    0x28: "where the thread's stack begins",
    0x118: "descriptor of global memory, which loads and stores name",
    0x208: "descriptor of global memory, which loads and stores name",
}
"""Up to Hopper, what stands in constant bank 0 before the parameters."""
_LAUNCH_BLACKWELL = {
    **{
        at + 4 * index: f"{what}, {axis}"
        for at, what in ((0x360, "threads in a block"), (0x370, "blocks in the grid"))
        for index, axis in enumerate("xyz")
    },
    0x358: "descriptor of global memory, which loads and stores name",
    0x37C: "where the thread's stack begins",
}

_SPECIAL = re.compile(r"\bSR(?:Z|_\w+)(?:\.([XYZ]))?")
_CONSTANT = re.compile(r"\bc\[0x0\]\[(?:\w+\+)?0x([0-9a-f]+)\]")
_TARGET = re.compile(r"\s*\.target sm_(\d+)")
_HEAD = 40
"""Rows at the top of a listing among which its target is named."""


class Parameter(NamedTuple):
    """A place in constant bank 0 that a line reads."""

    written: str
    offset: int
    """In the kernel's parameters, in bytes."""
    size: int


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of a listing; None for one that holds no instruction."""
    parsed = sass.parse_line(rows[line]).instruction
    if parsed is None:
        return None
    name = ".".join((parsed.opcode, *parsed.modifiers))
    found = LANGUAGE.describe(name)
    notes = [
        *_predicate(parsed.predicate),
        *_function(parsed),
        *_operands(parsed.operands),
        *_launch(rows, line),
        *_note(parsed.note),
        scheduling(rows, line, parsed.control),
    ]
    return Explanation(name, found.does, found.parts, tuple(notes), parsed.labels)


def parameters(rows: Sequence[str], line: int) -> tuple[Parameter, ...]:
    """The kernel parameters that a row reads out of constant bank 0."""
    parsed = sass.parse_line(rows[line]).instruction
    target = next((match for row in rows[:_HEAD] if (match := _TARGET.match(row))), None)
    base = _PARAMETERS.get(int(target[1]) // 10) if target else None
    if base is None or parsed is None:
        return ()
    loads = parsed.opcode in ("LDC", "LDCU", "ULDC", "UMOV", "MOV")
    size = next((int(word) // 8 for word in parsed.modifiers if loads and word in ("64", "128")), 4)
    found = ((match[0], int(match[1], 16)) for match in _CONSTANT.finditer(rows[line]))
    return tuple(dict.fromkeys(Parameter(text, at - base, size) for text, at in found if at >= base))


def _predicate(text: str) -> list[str]:
    if not text:
        return []
    name, truth = text.removeprefix("!"), "false" if text.startswith("!") else "true"
    if name in ("PT", "UPT"):
        return ["never runs: its predicate is `!PT`"] if truth == "false" else []
    return [
        f"runs only if `{name}` is {truth}" if name.startswith("U") else f"runs in threads where `{name}` is {truth}"
    ]


def _function(instruction: sass.Instruction) -> list[str]:
    """The table of a `LOP3.LUT` as an expression of its operands."""
    operands = instruction.operands
    if instruction.opcode not in ("LOP3", "ULOP3") or len(operands) < 6 or not operands[-2].startswith("0x"):
        return []
    table, names = int(operands[-2], 16), [operand.removesuffix(".reuse") for operand in operands[-5:-2]]
    zeros = tuple(index for index, name in enumerate(names) if name in ("RZ", "URZ"))
    expression = boolean(table, zeros)
    if not expression:
        return [f"table `{operands[-2]}`"]
    for letter, name in zip("abc", names, strict=True):
        expression = re.sub(rf"\b{letter}\b", name, expression)
    return [f"table `{operands[-2]}`: `{expression}`"]


@functools.cache
def boolean(table: int, zeros: tuple[int, ...] = ()) -> str:
    """The shortest expression of `a`, `b`, `c` for a table of outcomes; `zeros`: operands known to be 0.

    Bit `4a + 2b + c` of the table is the outcome. Empty if there is no short one.
    """
    care = 0xFF
    for index in zeros:
        care &= ~_INPUTS[index][1]
    return next((text for text, outcomes in _expressions() if (outcomes ^ table) & care == 0), "")


_INPUTS = (("a", 0xF0), ("b", 0xCC), ("c", 0xAA))


@functools.cache
def _expressions() -> tuple[tuple[str, int], ...]:
    """Expressions with their tables, the shortest first."""

    def combine(left: Sequence[tuple[str, int]], right: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        found = []
        for first, one in left:
            for second, other in right:
                found += [
                    (f"{first} & {second}", one & other),
                    (f"{first} | {second}", one | other),
                    (f"{first} ^ {second}", one ^ other),
                ]
        return found

    plain = list(_INPUTS)
    inverted = [(f"~{text}", ~table & 0xFF) for text, table in plain]
    literals = plain + inverted
    pairs = combine(plain, plain) + combine(plain, inverted) + combine(inverted, plain) + combine(inverted, inverted)
    grouped = [(f"({text})", table) for text, table in pairs]
    triples = combine(grouped, literals)
    a, b, c = (table for _, table in _INPUTS)
    whole = [
        ("a ? b : c", a & b | ~a & c),
        ("b ? a : c", b & a | ~b & c),
        ("b ? c : a", b & c | ~b & a),
        ("c ? a : b", c & a | ~c & b),
        ("c ? b : a", c & b | ~c & a),
        ("a ? c : b", a & c | ~a & b),
        ("at least two of a, b, c", a & b | a & c | b & c),
    ]
    return (("0", 0), ("~0", 0xFF), *literals, *pairs, *whole, *triples)


_OPERANDS = (
    (r"\bg?desc\[\w+\]\.tnspA\.tnspB\b", "both matrices are transposed"),
    (r"\.tnspA\b", "A is transposed"),
    (r"\.tnspB\b", "B is transposed"),
    (r"\bgdesc\[(\w+)\]", r"`\g<0>`: descriptors of the matrices in shared memory, from `\1` on"),
    (r"\bidesc\[(\w+)\]", r"`\g<0>`: which types and shape are multiplied"),
    (r"\btmem\[[^]]*\]", r"`\g<0>`: an address in tensor memory"),
    (r"\bgsb(\d)\b", r"`\g<0>`: counted by the warpgroup's scoreboard \1 until it is done"),
    (r"\b(U?R\d+)\.H0_H0\b", r"`\g<0>`: the low half, twice"),
    (r"\b(U?R\d+)\.H1_H1\b", r"`\g<0>`: the high half, twice"),
    (r"\b(U?R\d+)\.X(4|8|16)\b", r"`\g<0>`: times \2"),
    (r"\b(U?R\w+)(?:\.\w+)*\.reuse\b", r"`\1` is kept in the operand cache for the next instruction"),
)


def _operands(operands: Sequence[str]) -> list[str]:
    text = ", ".join(operands)
    notes = []
    for match in _SPECIAL.finditer(text):
        name, _, axis = match[0].partition(".")
        if meaning := SPECIAL_REGISTERS.get(name):
            notes.append(f"`{match[0]}`: {meaning}" + (f", {axis.lower()}" if axis else ""))
    notes += [match.expand(note) for pattern, note in _OPERANDS for match in re.finditer(pattern, text)]
    zeros = list(dict.fromkeys(re.findall(r"\bU?RZ\b", text)))
    if zeros:
        notes.append(f"{' and '.join(f'`{name}`' for name in zeros)}: reads as zero, drops what is written to it")
    always = list(dict.fromkeys(re.findall(r"(?<!!)\bU?PT\b", text)))
    if always:
        notes.append(f"{' and '.join(f'`{name}`' for name in always)}: always true, drops what is written to it")
    return list(dict.fromkeys(notes))


def _launch(rows: Sequence[str], line: int) -> list[str]:
    """What the launch put into constant bank 0, as far as it is known."""
    target = next((match for row in rows[:_HEAD] if (match := _TARGET.match(row))), None)
    if target is None:
        return []
    known = _LAUNCH if int(target[1]) < 100 else _LAUNCH_BLACKWELL
    found = ((match[0], known.get(int(match[1], 16))) for match in _CONSTANT.finditer(rows[line]))
    return [f"`{written}`: {meaning}" for written, meaning in found if meaning]


def _note(note: str) -> list[str]:
    if note == "SpillRefill":
        return ["spilled: it is here only because registers ran out"]
    return []


_TOLD = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@\S+\s+)?(\S+).*/\* B[\d-]{6}:R([\d-]):W([\d-]):\S+ \*/")
_FURTHEST = 2000
"""Rows to look back for what set a scoreboard."""


def scheduling(rows: Sequence[str], line: int, control: sass.Control) -> str:
    """The control code in words. A scoreboard waited for is traced to what last set it, above in the listing."""
    said = []
    if control.waits:
        setters = _setters(rows, line, set(control.waits))
        waited = (f"{barrier}{f' ({setters[barrier]})' if barrier in setters else ''}" for barrier in control.waits)
        said.append(f"waits for scoreboard{'s' if len(control.waits) > 1 else ''} {', '.join(waited)}")
    if control.write_barrier is not None:
        said.append(f"holds scoreboard {control.write_barrier} until its result is there")
    if control.read_barrier is not None:
        said.append(f"holds scoreboard {control.read_barrier} until its operands have been read")
    cycles = "1 cycle" if control.stall == 1 else f"{control.stall} cycles"
    said.append(f"the warp's next instruction follows after {cycles} or more")
    if control.may_yield:
        said.append("another warp may go first")
    return f"`{control.text()}`: {'; '.join(said)}"


def _setters(rows: Sequence[str], line: int, wanted: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for row in reversed(rows[max(line - _FURTHEST, 0) : line]):
        if row.lstrip().startswith(".type"):
            break
        if match := _TOLD.match(row):
            for barrier, kind in ((match[4], ""), (match[3], "operands of ")):
                if barrier != "-" and int(barrier) in wanted and int(barrier) not in found:
                    found[int(barrier)] = f"{kind}`{match[2]}` at `{match[1]}`"
            if len(found) == len(wanted):
                break
    return found
