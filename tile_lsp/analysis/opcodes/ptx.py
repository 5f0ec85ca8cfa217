"""PTX, up to ISA 9.x, in our own words: instructions, their modifiers, directives, special registers."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from .table import Explanation, Language

_ARITHMETIC = {
    "abs": "Absolute value.",
    "add": "Adds two numbers.",
    "addc": "Adds two integers and the carry that an earlier `.cc` instruction left.",
    "bfe": "Extracts bits: from a position, so many, extended with zeros or the sign.",
    "bfi": "Inserts bits of one register into another at a position.",
    "bfind": "Finds the highest bit that is set (of a negative signed number: that is clear).",
    "bmsk": "Makes a mask of consecutive one bits from a position and a width.",
    "brev": "Reverses the bits.",
    "clz": "Counts the zero bits above the highest that is set.",
    "cnot": "1 if the operand is zero, else 0.",
    "copysign": "Takes the sign of the first operand and the rest of the second.",
    "cos": "Cosine.",
    "div": "Divides the first number by the second.",
    "dp2a": "Multiplies two 16-bit numbers by two bytes and adds the products to a 32-bit number.",
    "dp4a": "Multiplies four bytes by four bytes and adds the products to a 32-bit number.",
    "ex2": "2 to the power of a number.",
    "fma": "Multiplies two floats and adds a third, with one rounding.",
    "fns": "Finds the n-th bit that is set.",
    "lg2": "Logarithm to base 2.",
    "mad": "Multiplies two numbers and adds a third.",
    "mad24": "Multiplies two 24-bit integers and adds a third number.",
    "madc": "Multiplies two integers and adds a third and the carry that an earlier `.cc` instruction left.",
    "max": "The larger of two numbers.",
    "min": "The smaller of two numbers.",
    "mul": "Multiplies two numbers.",
    "mul24": "Multiplies two 24-bit integers.",
    "neg": "Negates a number.",
    "popc": "Counts the bits that are set.",
    "rcp": "Reciprocal.",
    "rem": "Remainder of an integer division.",
    "rsqrt": "Reciprocal of the square root.",
    "sad": "Absolute difference of two integers, added to a third.",
    "sin": "Sine.",
    "sqrt": "Square root.",
    "sub": "Subtracts the second number from the first.",
    "subc": "Subtracts two integers and the borrow that an earlier `.cc` instruction left.",
    "vabsdiff4": "Absolute differences of four pairs of bytes, with a third operand added.",
    "szext": "Cuts an integer to a number of bits and extends it again.",
    "tanh": "Hyperbolic tangent.",
    "testp": "Asks what kind of float a number is.",
}
_LOGIC = {
    "and": "Bitwise and.",
    "lop3": "Any bitwise function of three registers, chosen by its table of eight outcomes.",
    "not": "Inverts every bit.",
    "or": "Bitwise or.",
    "shf": "Shifts two registers as one 64-bit number and keeps one half: a funnel shift.",
    "shl": "Shifts left.",
    "shr": "Shifts right, filling with zeros or, of a signed number, the sign.",
    "xor": "Bitwise exclusive or.",
}
_COMPARE = {
    "selp": "Takes the first value where the predicate is true, else the second.",
    "set": "Compares two numbers and writes the outcome to a register.",
    "setp": "Compares two numbers and writes the outcome to a predicate.",
    "slct": "Takes the first value where the third is not negative, else the second.",
}
_MOVE = {
    "alloca": "Reserves room on the thread's stack.",
    "createpolicy": "Makes a cache policy, which loads and stores then name as their hint.",
    "cvt": "Converts a number to another type.",
    "cvt.pack": "Converts two integers to smaller ones and packs them into one register.",
    "cvta": "Converts an address of one memory to a generic address.",
    "cvta.to": "Converts a generic address to one of a certain memory.",
    "getctarank": "Finds which block of the cluster a shared memory address belongs to.",
    "isspacep": "Asks if a generic address lies in a certain memory.",
    "istypep": "Asks if a register holds a reference to a texture, sampler or surface.",
    "mapa": "Translates a shared memory address to that of another block of the cluster.",
    "mov": "Copies a value, or takes an address; with braces, splits or joins registers.",
    "prmt": "Builds a register from any four bytes of two others, chosen by a selector.",
    "stackrestore": "Sets the stack pointer back.",
    "stacksave": "Reads the stack pointer.",
}
_MEMORY = {
    "applypriority": "Gives a stretch of memory a priority in the cache.",
    "atom": "Updates memory atomically and returns what was there.",
    "cp.async": "Copies 4, 8 or 16 bytes from global to shared memory in the background.",
    "cp.async.bulk": "Starts a bulk copy of contiguous bytes in the background.",
    "cp.async.bulk.commit_group": "Makes a group of the bulk copies started so far, to be waited for together.",
    "cp.async.bulk.prefetch": "Starts a prefetch of contiguous bytes to the L2 cache.",
    "cp.async.bulk.prefetch.tensor": "Starts a prefetch of a box of a tensor to the L2 cache.",
    "cp.async.bulk.tensor": (
        "Starts a copy of a box of a tensor between global and shared memory by the tensor memory accelerator (TMA), "
        "as a tensor map says."
    ),
    "cp.async.bulk.wait_group": "Waits until at most so many groups of bulk copies are under way.",
    "cp.async.commit_group": "Makes a group of the copies started so far, to be waited for together.",
    "cp.async.mbarrier.arrive": "Lets a barrier be arrived at once the thread's copies started so far are done.",
    "cp.async.wait_all": "Waits until all copies that the thread started are done.",
    "cp.async.wait_group": "Waits until at most so many groups of copies are under way.",
    "cp.reduce.async.bulk": "Starts a bulk reduction of contiguous bytes into memory in the background.",
    "cp.reduce.async.bulk.tensor": "Starts a reduction of a box in shared memory into a tensor in global memory.",
    "discard": "Drops a stretch of memory from the cache without writing it back: its content is lost.",
    "fence": "Orders memory accesses: earlier ones are seen by others before later ones.",
    "fence.proxy": "Orders memory accesses that go different ways (generic, asynchronous, texture, tensor map).",
    "ld": "Loads from memory.",
    "ld.param": "Loads a parameter.",
    "ldu": "Loads from memory at an address that is the same for the whole warp.",
    "membar": "Memory fence: earlier accesses are seen by others before later ones.",
    "multimem.cp.async.bulk": "Starts a bulk copy to all places behind a multicast address.",
    "multimem.cp.reduce.async.bulk": "Starts a bulk reduction into all places behind a multicast address.",
    "multimem.ld_reduce": "Loads from all places behind a multicast address and reduces what they hold.",
    "multimem.red": "Reduces a value into all places behind a multicast address.",
    "multimem.st": "Stores to all places behind a multicast address.",
    "prefetch": "Brings memory into a cache ahead of its use.",
    "prefetchu": "Brings memory into the uniform cache ahead of its use.",
    "red": "Updates memory atomically and returns nothing.",
    "red.async": "Updates shared memory of another block of the cluster in the background, and counts it at a barrier.",
    "st": "Stores to memory.",
    "st.async": (
        "Stores to shared memory of another block of the cluster in the background, and counts it at a barrier."
    ),
    "st.bulk": "Fills a stretch of shared memory.",
    "st.param": "Stores an argument or a return value.",
    "tensormap.cp_fenceproxy": (
        "Copies a tensor map from shared to global memory and makes it visible to the tensor memory accelerator."
    ),
    "tensormap.replace": "Changes a field of a tensor map.",
}
_TEXTURE = {
    "suld": "Loads from a surface.",
    "suq": "Asks for a property of a surface.",
    "sured": "Updates a surface atomically.",
    "sust": "Stores to a surface.",
    "tex": "Samples a texture.",
    "tld4": "Loads one component of the four texels around a position.",
    "txq": "Asks for a property of a texture or sampler.",
}
_WARP = {
    "activemask": "The mask of lanes that execute this together.",
    "elect": "Chooses one lane: the predicate is true there alone.",
    "match": "Finds the lanes that hold the same value.",
    "redux": "Reduces a value over the lanes of the warp; all of them get the result.",
    "shfl": "Reads a register of another lane of the warp.",
    "vote": "Combines a predicate over the lanes of the warp.",
}
_TENSOR = {
    "ldmatrix": "Loads 8×8 matrices from shared memory, spread over the lanes of the warp as `mma` wants them.",
    "mma": (
        "Multiplies small matrices in the tensor core and adds a third: D = A × B + C. Each lane of the warp holds a "
        "part of each."
    ),
    "mma.sp": (
        "Multiplies a sparse matrix A (two of four elements, which ones in the metadata) by B in the tensor core and "
        "adds a third."
    ),
    "movmatrix": "Transposes an 8×8 matrix that is spread over the lanes of the warp.",
    "stmatrix": "Stores 8×8 matrices, spread over the lanes of the warp, to shared memory.",
    "wgmma.commit_group": "Makes a group of the multiplications started so far, to be waited for together.",
    "wgmma.fence": (
        "Orders register accesses before the multiplications that follow: needed before the first, and when registers "
        "changed."
    ),
    "wgmma.mma_async": (
        "Starts D = A × B + D by a warpgroup (four warps): B, and A if it is no register, by descriptor from shared "
        "memory; D in registers."
    ),
    "wgmma.mma_async.sp": "Starts D = A × B + D with a sparse A by a warpgroup (four warps).",
    "wgmma.wait_group": (
        "Waits until at most so many groups of multiplications are under way; then their registers may be read."
    ),
    "wmma.load": "Loads a matrix into fragments, spread over the lanes of the warp.",
    "wmma.mma": "Multiplies fragments and adds a third: D = A × B + C.",
    "wmma.store": "Stores a matrix that is spread over the lanes of the warp.",
    "tcgen05.alloc": (
        "Allocates columns of tensor memory and writes their address to shared memory; waits until there are some."
    ),
    "tcgen05.commit": "Lets a barrier be arrived at once all tensor core work that the thread started so far is done.",
    "tcgen05.cp": "Starts a copy from shared memory to tensor memory.",
    "tcgen05.dealloc": "Frees columns of tensor memory.",
    "tcgen05.fence::before_thread_sync": "Orders tensor core work before a synchronisation of threads that follows.",
    "tcgen05.fence::after_thread_sync": "Orders tensor core work after a synchronisation of threads that came before.",
    "tcgen05.wait::ld": "Waits until the thread's loads from tensor memory are done; then their registers may be read.",
    "tcgen05.wait::st": "Waits until the thread's stores to tensor memory are done.",
    "tcgen05.ld": "Starts a load from tensor memory into registers; each warp reaches its own quarter of the lanes.",
    "tcgen05.ld.red": "Starts a load from tensor memory into registers that also reduces what it loads.",
    "tcgen05.mma": (
        "Starts D = A × B + D in the fifth-generation tensor core: D in tensor memory, A in tensor or shared memory, B"
        " in shared memory. One thread starts it for all."
    ),
    "tcgen05.mma.sp": "Starts D = A × B + D with a sparse A in the fifth-generation tensor core.",
    "tcgen05.mma.ws": (
        "Starts D = A × B + D in the fifth-generation tensor core, with B held still in it (weight stationary)."
    ),
    "tcgen05.mma.ws.sp": (
        "Starts D = A × B + D with a sparse A, with B held still in the tensor core (weight stationary)."
    ),
    "tcgen05.relinquish_alloc_permit": "Promises that this block allocates no more tensor memory.",
    "tcgen05.shift": "Starts a shift of rows of tensor memory down by one.",
    "tcgen05.st": "Starts a store of registers to tensor memory.",
}
_BARRIER = {
    "bar": "Barrier of the block: threads wait for each other, or arrive without waiting.",
    "bar.warp": "Waits until the lanes of the mask have met.",
    "barrier": "Barrier of the block: threads wait for each other, or arrive without waiting.",
    "barrier.cluster": "Barrier of the cluster.",
    "clusterlaunchcontrol.query_cancel": "Reads the answer to a request to take over a block's work.",
    "clusterlaunchcontrol.try_cancel": (
        "Asks to cancel the launch of a cluster that has not begun, to take over its work."
    ),
    "griddepcontrol": "Orders grids that are launched to overlap (programmatic dependent launch).",
    "mbarrier.arrive": "Arrives at a barrier in shared memory: one of those it waits for in this phase.",
    "mbarrier.arrive_drop": "Arrives at a barrier in shared memory, and takes part no more in later phases.",
    "mbarrier.complete_tx": "Tells a barrier that bytes have arrived.",
    "mbarrier.expect_tx": "Tells a barrier how many bytes more to wait for in this phase.",
    "mbarrier.init": "Makes a barrier in shared memory for so many arrivals.",
    "mbarrier.inval": "Ends a barrier: its memory may be used for something else.",
    "mbarrier.pending_count": "How many arrivals a barrier's state still waits for.",
    "mbarrier.test_wait": "Asks if a phase of a barrier is over, without waiting.",
    "mbarrier.try_wait": "Asks if a phase of a barrier is over, and may wait a while for it; used in a loop.",
    "nanosleep": "Suspends the thread for about so many nanoseconds.",
    "setmaxnreg": "Changes how many registers the warps of a warpgroup have.",
}
_CONTROL = {
    "bra": "Jumps to a label.",
    "brkpt": "Breakpoint.",
    "brx.idx": "Jumps to the label at this index of a list.",
    "call": "Calls a function.",
    "exit": "Ends the thread.",
    "pmevent": "Triggers performance monitor events.",
    "ret": "Returns from the function; of a kernel, ends the thread.",
    "trap": "Stops the kernel with an error.",
}

OPCODES = _ARITHMETIC | _LOGIC | _COMPARE | _MOVE | _MEMORY | _TEXTURE | _WARP | _TENSOR | _BARRIER | _CONTROL

TYPES = {
    **{f"b{bits}": f"{bits} bits, of no particular type" for bits in (8, 16, 32, 64, 128, 1024)},
    **{f"u{bits}": f"unsigned {bits}-bit integer" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"s{bits}": f"signed {bits}-bit integer" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"f{bits}": f"{bits}-bit float" for bits in (16, 32, 64)},
    "b1": "single bits",
    "bf16": "bfloat16",
    "tf32": "tf32: a 32-bit float of which the tensor core uses 19 bits",
    "f16x2": "pair of 16-bit floats",
    "bf16x2": "pair of bfloat16",
    "f32x2": "pair of 32-bit floats",
    "u16x2": "pair of unsigned 16-bit integers",
    "s16x2": "pair of signed 16-bit integers",
    "e4m3": "8-bit float with 4 bits of exponent and 3 of mantissa",
    "e5m2": "8-bit float with 5 bits of exponent and 2 of mantissa",
    "e3m2": "6-bit float with 3 bits of exponent and 2 of mantissa",
    "e2m3": "6-bit float with 2 bits of exponent and 3 of mantissa",
    "e2m1": "4-bit float with 2 bits of exponent and 1 of mantissa",
    "e4m3x2": "pair of 8-bit floats (e4m3)",
    "e5m2x2": "pair of 8-bit floats (e5m2)",
    "e3m2x2": "pair of 6-bit floats (e3m2)",
    "e2m3x2": "pair of 6-bit floats (e2m3)",
    "e2m1x2": "pair of 4-bit floats (e2m1)",
    "e4m3x4": "four 8-bit floats (e4m3)",
    "e5m2x4": "four 8-bit floats (e5m2)",
    "e2m1x4": "four 4-bit floats (e2m1)",
    "ue8m0": "8-bit power of two",
    "ue4m3": "8-bit float without sign, with 4 bits of exponent and 3 of mantissa",
    "ue8m0x2": "pair of 8-bit powers of two",
    "pred": "predicate",
}
_SPACES = {
    "global": "global memory",
    "shared": "shared memory",
    "shared::cta": "shared memory of the own block",
    "shared::cluster": "shared memory of the cluster's blocks",
    "local": "local memory, the thread's own",
    "const": "constant memory",
    "param": "parameters",
    "param::entry": "the kernel's parameters",
    "param::func": "the function's parameters",
    "tensormap": "a tensor map",
}
_ORDER = {
    "relaxed": "atomic, but orders no other access",
    "acquire": "later accesses stay behind it",
    "release": "earlier accesses stay before it",
    "acq_rel": "no access moves past it, either way",
    "sc": "sequentially consistent",
    "weak": "not ordered with other threads' accesses",
    "volatile": "never left out or merged",
    "mmio": "memory-mapped input or output",
    "cta": "as the block sees it",
    "cluster": "as the cluster sees it",
    "gpu": "as the whole GPU sees it",
    "sys": "as the whole system sees it",
    "gl": "as the whole GPU sees it",
}
_CACHE = {
    "ca": "cached on all levels",
    "cg": "cached in L2, past L1",
    "cs": "streaming: not needed again soon",
    "lu": "last use: the line need not be kept",
    "cv": "fetched anew, never from a cache",
    "wb": "written back on all levels",
    "wt": "written through to memory",
    "nc": "through the read-only path: nobody writes this memory while the kernel runs",
    "L1": "to the L1 cache",
    "L2": "to the L2 cache",
    "L1::evict_normal": "usual priority in L1",
    "L1::evict_first": "first to leave L1",
    "L1::evict_last": "last to leave L1",
    "L1::evict_unchanged": "priority in L1 stays as it is",
    "L1::no_allocate": "takes no room in L1",
    "L2::evict_normal": "usual priority in L2",
    "L2::evict_first": "first to leave L2",
    "L2::evict_last": "last to leave L2",
    "L2::evict_unchanged": "priority in L2 stays as it is",
    "L2::cache_hint": "with the cache policy given as the last operand",
    "L2::64B": "prefetches 64 bytes to L2",
    "L2::128B": "prefetches 128 bytes to L2",
    "L2::256B": "prefetches 256 bytes to L2",
}
_ROUNDING = {
    "rn": "rounded to nearest, ties to even",
    "rz": "rounded towards zero",
    "rm": "rounded down",
    "rp": "rounded up",
    "rna": "rounded to nearest, ties away from zero",
    "rs": "rounded at random (stochastically)",
    "rni": "to the nearest whole number",
    "rzi": "to a whole number, towards zero",
    "rmi": "to a whole number, down",
    "rpi": "to a whole number, up",
    "approx": "approximated",
    "full": "approximated, over the full range",
    "ftz": "denormal numbers count as zero",
    "noftz": "denormal numbers are kept",
    "sat": "clamped: floats to 0…1, integers to their range",
    "satfinite": "what is too large becomes the largest finite number",
    "relu": "negative numbers become zero",
    "NaN": "NaN if an operand is NaN",
    "nan": "true if an operand is NaN",
    "num": "true if no operand is NaN",
    "xorsign": "with the product of the signs",
    "abs": "of absolute values",
    "cc": "leaves its carry for the next instruction",
    "oob": "what is out of bounds counts as zero",
    "scaled::n2::ue8m0": "scaled by a power of two",
}
_COMPARISONS = {
    "eq": "equal",
    "ne": "not equal",
    "lt": "less than",
    "le": "less than or equal",
    "gt": "greater than",
    "ge": "greater than or equal",
    "lo": "less than, unsigned",
    "ls": "less than or equal, unsigned",
    "hi": "greater than, unsigned",
    "hs": "greater than or equal, unsigned",
    "equ": "equal, or one is NaN",
    "neu": "not equal, or one is NaN",
    "ltu": "less than, or one is NaN",
    "leu": "less than or equal, or one is NaN",
    "gtu": "greater than, or one is NaN",
    "geu": "greater than or equal, or one is NaN",
    "and": "and the last predicate",
    "or": "or the last predicate",
    "xor": "differs from the last predicate",
}
_REDUCTIONS = {
    "add": "add",
    "min": "the smaller",
    "max": "the larger",
    "inc": "add 1, back to 0 beyond the operand",
    "dec": "subtract 1, back to the operand below 0",
    "and": "bitwise and",
    "or": "bitwise or",
    "xor": "bitwise exclusive or",
    "exch": "exchange",
    "cas": "exchange if it equals the operand",
}

_SURFACES = {
    "b": "unformatted",
    "p": "formatted",
    "trap": "out of bounds is an error",
    "clamp": "out of bounds goes to the edge",
    "zero": "out of bounds is dropped, or reads as zero",
}

MODIFIERS = {
    **TYPES,
    **_SPACES,
    **_ORDER,
    **_CACHE,
    **_ROUNDING,
    "sync": "the lanes named, or all, take part together",
    "aligned": "all threads of the warp execute it alike",
    "uni": "by all threads alike",
    "async": "asynchronous path",
    "to": "from a generic address",
    "v2": "two of them",
    "v4": "four of them",
    "v8": "eight of them",
    "trans": "transposed",
    "row": "row-major",
    "col": "column-major",
    "bulk_group": "waited for as part of a bulk group",
    "mbarrier::complete_tx::bytes": "the bytes that arrived are told to a barrier",
    "mbarrier::arrive::one": "arrives at a barrier once",
    "multicast::cluster": "to several blocks of the cluster",
    "tile": "a box as it lies in the tensor",
    "tile::gather4": "four rows, wherever they lie",
    "tile::scatter4": "four rows, wherever they lie",
    "im2col": "as columns for a convolution",
    "im2col::w": "as columns for a convolution, along the width",
    "cta_group::1": "for one block",
    "cta_group::2": "for a pair of blocks that work together",
    "wide": "result twice as wide as the operands",
    "lo": "low half of the product",
    "hi": "high half of the product",
    "read": "only until their sources have been read",
    "tensormap::generic": "what ordinary accesses wrote, as the tensor memory accelerator sees it",
    "alias": "the same memory under several addresses",
    "async.global": "asynchronous path, in global memory",
    "mbarrier_init": "of a barrier's initialisation",
    "idx": "by index",
    "all": "true in all lanes",
    "any": "true in any lane",
    "ballot": "the mask of lanes where it is true",
    "arrive": "arrives and goes on",
    "wait": "waits for the others",
    "red": "combines a predicate of all threads",
    "popc": "counts",
    "xor": "exclusive or",
    "block_scale": "with a scale for each block of elements",
    "unified": "in the unified address space",
    "sp::ordered_metadata": "A is sparse, with ordered metadata",
    "cluster_dims": "with the cluster's shape",
    "noinc": "counts as one of the arrivals expected",
    "noComplete": "without completing the phase",
    "expect_tx": "and first tells it how many bytes more to wait for",
    "parity": "the phase is named by its parity",
    "cbuf": "in a buffer",
}

OWN = {
    **dict.fromkeys(("setp", "set"), _COMPARISONS),
    **dict.fromkeys(("atom", "red", "redux", "cp.reduce", "multimem", "sured", "tcgen05.ld.red"), _REDUCTIONS),
    "bar": _REDUCTIONS | {"sync": "arrives and waits for the others", "cta": "of the block"},
    "bar.warp": {"sync": "the lanes of the mask take part"},
    "barrier": _REDUCTIONS | {"sync": "arrives and waits for the others", "cta": "of the block"},
    "barrier.cluster": {"arrive": "arrives and goes on", "wait": "waits for the others"},
    "shfl": {
        "up": "of a lane so many below",
        "down": "of a lane so many above",
        "bfly": "of the lane whose number differs in these bits (exclusive or)",
        "idx": "of the lane with this number",
    },
    "vote": {"uni": "equal in all lanes"},
    "match": {"all": "whether all lanes hold the same", "any": "the lanes that hold what this one does"},
    "bfind": {"shiftamt": "as the shift that would bring it to the top"},
    "bmsk": {"clamp": "positions beyond 32 count as 32", "wrap": "positions modulo 32"},
    "szext": {"clamp": "widths beyond 32 count as 32", "wrap": "width modulo 32"},
    "shf": {"l": "left", "r": "right", "clamp": "by at most 32", "wrap": "by the amount modulo 32"},
    "prmt": {
        "f4e": "four bytes forward from the selector",
        "b4e": "four bytes backward from the selector",
        "rc8": "one byte, four times",
        "rc16": "one half, twice",
        "ecl": "edge clamped left",
        "ecr": "edge clamped right",
    },
    "lop3": {"BoolOp": "and combined with a predicate", "or": "or the predicate", "and": "and the predicate"},
    "testp": {
        "finite": "finite",
        "infinite": "infinite",
        "number": "not NaN",
        "notanumber": "NaN",
        "normal": "normal",
        "subnormal": "denormal",
    },
    "fence": {"sc": "sequentially consistent", "mbarrier_init": "of a barrier's initialisation"},
    "cp.async": {"ca": "cached on all levels", "cg": "cached in L2, past L1"},
    "createpolicy": {
        "fractional": "for a fraction of the accesses",
        "range": "for a range of addresses",
        "cvt": "from an old form",
    },
    "griddepcontrol": {
        "wait": "waits for the grids that this one depends on",
        "launch_dependents": "lets grids that depend on this one be launched",
    },
    "setmaxnreg": {"inc": "asks for more", "dec": "gives registers back"},
    "mma": {
        "xor": "bits combined by exclusive or",
        "and": "bits combined by and",
        "popc": "and counted",
        "kind::mxf8f6f4": "8-, 6- and 4-bit floats with a scale for every 32",
        "kind::mxf4": "4-bit floats with a scale for every 32",
        "kind::mxf4nvf4": "4-bit floats with a scale for every 16 or 32",
        "kind::f8f6f4": "8-, 6- and 4-bit floats",
    },
    "tcgen05": {
        "kind::f16": "16-bit floats",
        "kind::tf32": "tf32",
        "kind::f8f6f4": "8-, 6- and 4-bit floats",
        "kind::i8": "8-bit integers",
        "kind::mxf8f6f4": "8-, 6- and 4-bit floats with a scale for every 32",
        "kind::mxf4": "4-bit floats with a scale for every 32",
        "kind::mxf4nvf4": "4-bit floats with a scale for every 16 or 32",
        "ashift": "rows of A shifted by one",
        "down": "by one row",
        "pack::16b": "two 16-bit elements packed into one register",
        "unpack::16b": "two 16-bit elements out of one register",
        "warpx4": "to all four warps' lanes",
        "warpx2::02_13": "to warps 0 and 2, and 1 and 3",
        "warpx2::01_23": "to warps 0 and 1, and 2 and 3",
    },
    "tensormap.replace": {
        "box_dim": "a length of the box",
        "element_stride": "a stride of elements",
        "elemtype": "the type of elements",
        "fill_mode": "what is filled in beyond the bounds",
        "global_address": "the address of the tensor",
        "global_dim": "a length of the tensor",
        "global_stride": "a stride of the tensor",
        "interleave_layout": "how it is interleaved",
        "rank": "the number of dimensions",
        "swizzle_mode": "how the box is swizzled in shared memory",
        "swizzle_atomicity": "the unit that is swizzled",
        "tile": "in its tiled form",
    },
    **dict.fromkeys(("suld", "sust", "sured"), _SURFACES),
    "tld4": {"r": "red", "g": "green", "b": "blue", "a": "alpha"},
    "istypep": {"texref": "a texture", "samplerref": "a sampler", "surfref": "a surface"},
    "vabsdiff4": {"add": "added to the third operand"},
}

PATTERNS = (
    ("", r"(\d)d", r"\1-dimensional"),
    ("mma", r"m(\d+)n(\d+)k(\d+)", r"A is \1×\3, B is \3×\2, D is \1×\2"),
    ("wmma", r"m(\d+)n(\d+)k(\d+)", r"A is \1×\3, B is \3×\2, D is \1×\2"),
    ("wgmma", r"m(\d+)n(\d+)k(\d+)", r"A is \1×\3, B is \3×\2, D is \1×\2"),
    ("ldmatrix", r"m(\d+)n(\d+)", r"\1×\2 matrices"),
    ("stmatrix", r"m(\d+)n(\d+)", r"\1×\2 matrices"),
    ("movmatrix", r"m(\d+)n(\d+)", r"\1×\2 matrix"),
    ("ldmatrix", r"x(\d)", r"\1 of them"),
    ("stmatrix", r"x(\d)", r"\1 of them"),
    ("tcgen05", r"(\d+)x(\d+)bx2", r"\1 lanes of \2 bits, at two places"),
    ("tcgen05", r"(\d+)x(\d+)b", r"\1 lanes of \2 bits"),
    ("tcgen05", r"x(\d+)", r"\1 times: that many columns"),
    ("tcgen05", r"collector::(\w+)::discard", r"\1 need not be kept in the tensor core"),
    ("tcgen05", r"collector::(\w+)::(?:use|lastuse)", r"\1 is still in the tensor core"),
    ("tcgen05", r"collector::(\w+)::fill", r"\1 is kept in the tensor core"),
    ("", r"scale_vec::(\d)X", r"\1 scales along K"),
    ("", r"block(\d+)", r"a scale for every \1 elements"),
)

_ROLES = ("D", "A", "B", "C")
ROLES = {
    "cvt": ("to", "from"),
    "set": ("result", "operands"),
    "slct": ("values", "condition"),
    "mma": _ROLES,
    "mma.sp": _ROLES,
    "wgmma.mma_async": _ROLES,
    "dp4a": ("first", "second"),
    "dp2a": ("first", "second"),
    "cvt.pack": ("to", "from", "third operand"),
}

LANGUAGE = Language(OPCODES, MODIFIERS, OWN, PATTERNS, ROLES, frozenset(TYPES))

DIRECTIVES = {
    ".address_size": "Width of addresses, in bits.",
    ".alias": "Another name for a function.",
    ".align": "Alignment, in bytes.",
    ".blocksareclusters": "The launch counts clusters, not blocks.",
    ".branchtargets": "The labels that an indexed jump may go to.",
    ".callprototype": "The signature of an indirect call.",
    ".calltargets": "The functions that an indirect call may reach.",
    ".common": "Shared by all modules that name it.",
    ".const": "A variable in constant memory.",
    ".entry": "A kernel.",
    ".explicitcluster": "Launched with a cluster shape only.",
    ".extern": "Defined in another module.",
    ".file": "A source file of the line information.",
    ".func": "A function.",
    ".global": "A variable in global memory.",
    ".hidden": "Not seen by other modules once linked.",
    ".language": "The language that it was compiled from.",
    ".loc": "The source line of what follows.",
    ".local": "A variable in the thread's own memory.",
    ".maxclusterrank": "At most so many blocks in a cluster.",
    ".maxnctapersm": "At most so many blocks on a multiprocessor (an old name of `.minnctapersm`).",
    ".maxnreg": "At most so many registers a thread.",
    ".maxntid": "At most so many threads in a block: the compiler may plan registers by it.",
    ".minnctapersm": "At least so many blocks shall fit on a multiprocessor: limits registers.",
    ".noreturn": "The function does not return.",
    ".param": "A parameter.",
    ".pragma": "A hint to the assembler.",
    ".reg": "Virtual registers; the assembler assigns real ones.",
    ".reqnctapercluster": "Exactly this many blocks in a cluster.",
    ".reqntid": "Exactly this many threads in a block.",
    ".section": "Debug information.",
    ".shared": "A variable in shared memory.",
    ".target": "The architecture that it is for, and what it uses of it.",
    ".unified": "In the unified address space.",
    ".version": "Version of the PTX language.",
    ".visible": "Seen by other modules.",
    ".weak": "Another definition may replace it.",
    ".minperctamemory": "By its name, the memory that a block needs at least.",
}
_DECLARED = {
    "ptr": "a pointer",
    "align": "aligned to so many bytes",
    "entry": "a kernel",
    "func": "a function",
    "visible": "seen by other modules",
    "reg": "virtual registers",
    **{name: _SPACES[name] for name in ("global", "shared", "local", "const", "param")},
}

SPECIAL_REGISTERS = {
    "tid": "index of the thread in its block",
    "ntid": "threads in a block",
    "ctaid": "index of the block in the grid",
    "nctaid": "blocks in the grid",
    "laneid": "lane of the thread in its warp",
    "warpid": "number of the warp; may change",
    "nwarpid": "the most warps there can be",
    "smid": "number of the multiprocessor; may change",
    "nsmid": "the most multiprocessors there can be",
    "gridid": "number of the grid",
    "clusterid": "index of the cluster in the grid",
    "nclusterid": "clusters in the grid",
    "cluster_ctaid": "index of the block in its cluster",
    "cluster_nctaid": "blocks in the cluster",
    "cluster_ctarank": "number of the block in its cluster",
    "cluster_nctarank": "blocks in the cluster",
    "is_explicit_cluster": "whether it was launched with clusters",
    "lanemask_eq": "mask of the own lane",
    "lanemask_le": "mask of the lanes below and the own",
    "lanemask_lt": "mask of the lanes below",
    "lanemask_ge": "mask of the lanes above and the own",
    "lanemask_gt": "mask of the lanes above",
    "clock": "cycle counter, 32 bits",
    "clock_hi": "cycle counter, its high half",
    "clock64": "cycle counter, 64 bits",
    "globaltimer": "nanosecond timer",
    "globaltimer_lo": "nanosecond timer, low half",
    "globaltimer_hi": "nanosecond timer, high half",
    "dynamic_smem_size": "bytes of dynamic shared memory",
    "total_smem_size": "bytes of shared memory of the block",
    "aggr_smem_size": "bytes of shared memory of the block, reserved ones included",
    "current_graph_exec": "the graph that launched it",
}

_INSTRUCTION = re.compile(
    r"\s*[{]?\s*(?:@(?P<predicate>!?%\w+|!?\w+)\s+)?(?P<name>[a-z][a-z0-9_]*(?:(?:\.|::)\w+)*)(?=[\s;]|$)(?P<operands>[^;]*)"
)
_DIRECTIVE = re.compile(r"\s*(\.[a-z_]+)\b(.*)")
_WORD = re.compile(r"\.([a-z]\w*(?:::\w+)*)")
_SPECIAL = re.compile(r"%([a-z]\w*?)(?:\.([xyzw]))?(?![\w.])")
_LABEL = re.compile(r"\$[\w$]+")
_REGISTERS = re.compile(r"%(\w+?)<(\d+)>")
_FLOAT_BITS = re.compile(r"\b0([fFdD])([0-9A-Fa-f]{8}(?:[0-9A-Fa-f]{8})?)\b")


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of PTX text; None for one that says nothing: a brace, a label, a comment."""
    text = rows[line].split("//", 1)[0]
    if match := _DIRECTIVE.match(text):
        return _directive(match[1], match[2])
    return instruction(text)


def instruction(text: str) -> Explanation | None:
    """One instruction, as in a listing or in inline assembly."""
    match = _INSTRUCTION.match(text)
    if match is None:
        return None
    found = LANGUAGE.describe(match["name"])
    operands = match["operands"]
    notes = []
    if predicate := match["predicate"]:
        name, truth = predicate.removeprefix("!"), "false" if predicate.startswith("!") else "true"
        notes.append(f"runs in threads where `{name}` is {truth}")
    notes += _special(operands) + _floats(operands)
    return Explanation(found.name, found.does, found.parts, tuple(notes), tuple(_LABEL.findall(operands)))


def _special(operands: str) -> list[str]:
    notes = (
        f"`{match[0]}`: {SPECIAL_REGISTERS[match[1]]}{f', {match[2]}' if match[2] else ''}"
        for match in _SPECIAL.finditer(operands)
        if match[1] in SPECIAL_REGISTERS
    )
    return list(dict.fromkeys(notes))


def _floats(operands: str) -> list[str]:
    """Floats are written as their bits."""
    notes = (
        f"`{match[0]}` is {struct.unpack('>f' if match[1] in 'fF' else '>d', bytes.fromhex(match[2]))[0]:.9g}"
        for match in _FLOAT_BITS.finditer(operands)
        if len(match[2]) == (8 if match[1] in "fF" else 16)
    )
    return list(dict.fromkeys(notes))


def _directive(name: str, rest: str) -> Explanation | None:
    parts = []
    for word in _WORD.findall(rest):
        phrase = TYPES.get(word) or _DECLARED.get(word) or DIRECTIVES.get(f".{word}", "").rstrip(".")
        if phrase:
            parts.append((f".{word}", phrase))
    notes = []
    if match := _REGISTERS.search(rest):
        notes.append(f"`%{match[1]}0` to `%{match[1]}{int(match[2]) - 1}`")
    pragma = rest.strip().strip('";')
    if name == ".pragma" and pragma in _PRAGMAS:
        notes.append(_PRAGMAS[pragma])
    does = DIRECTIVES.get(name, "")
    if name == ".b8" or name[1:] in TYPES:
        does = f"Data: {TYPES[name[1:]]}."
    return Explanation(name, does, tuple(parts), tuple(notes), tuple(_LABEL.findall(rest)))


_PRAGMAS = {
    "nounroll": "the loop that follows is not unrolled",
    "enable_smem_spilling": "registers may be spilled to shared memory",
}
