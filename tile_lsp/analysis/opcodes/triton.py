"""Triton's IRs (TTIR, TTGIR) and the MLIR dialects that they use, in our own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .table import Explanation, Language
from .tileir import OPCODES as TILEIR
from .tileir import shaped

_ARITH = {
    "arith.bitcast": TILEIR["bitcast"],
    "arith.ceildivsi": "Divides signed integers, rounded up.",
    "arith.cmpf": "Compares floats, element by element.",
    "arith.cmpi": "Compares integers, element by element.",
    "arith.constant": "A constant; `dense` stands for all elements alike.",
    "arith.divsi": "Divides signed integers, rounded towards zero.",
    "arith.divui": "Divides unsigned integers.",
    "arith.extf": "Widens floats.",
    "arith.extsi": "Widens integers, with their sign.",
    "arith.extui": "Widens integers, with zeros.",
    "arith.floordivsi": "Divides signed integers, rounded down.",
    "arith.fptosi": "Converts floats to signed integers, rounded towards zero.",
    "arith.fptoui": "Converts floats to unsigned integers, rounded towards zero.",
    "arith.index_cast": "Converts between integers and `index`.",
    "arith.maximumf": "The larger float; NaN if one is NaN.",
    "arith.maxnumf": "The larger float; of a number and NaN, the number.",
    "arith.maxsi": "The larger integer, signed.",
    "arith.maxui": "The larger integer, unsigned.",
    "arith.minimumf": "The smaller float; NaN if one is NaN.",
    "arith.minnumf": "The smaller float; of a number and NaN, the number.",
    "arith.minsi": "The smaller integer, signed.",
    "arith.minui": "The smaller integer, unsigned.",
    "arith.remf": "Remainder of a division of floats.",
    "arith.remsi": "Remainder of a division of signed integers.",
    "arith.remui": "Remainder of a division of unsigned integers.",
    "arith.select": "Takes each element from the first value where the condition is true, else from the second.",
    "arith.shrsi": "Shifts right, filling with the sign.",
    "arith.shrui": "Shifts right, filling with zeros.",
    "arith.sitofp": "Converts signed integers to floats.",
    "arith.truncf": "Narrows floats.",
    "arith.trunci": "Cuts integers to fewer bits.",
    "arith.uitofp": "Converts unsigned integers to floats.",
    **{
        f"arith.{name}": TILEIR[name].replace("two tiles of ", "")
        for name in ("addf", "addi", "andi", "divf", "mulf", "muli", "negf", "ori", "shli", "subf", "subi", "xori")
    },
}
_MATH = {
    "math.absf": TILEIR["absf"],
    "math.absi": TILEIR["absi"],
    "math.ceil": TILEIR["ceil"],
    "math.erf": "Error function of each element.",
    "math.floor": TILEIR["floor"],
    "math.fma": "Multiplies floats and adds a third, with one rounding.",
    **{f"math.{name}": TILEIR[name] for name in ("cos", "exp", "exp2", "log", "log2", "rsqrt", "sin", "sqrt", "tanh")},
}
_CONTROL = {
    "cf.assert": "Stops the kernel with a message if a condition is false.",
    "cf.br": "Jumps to a block.",
    "cf.cond_br": "Jumps to one of two blocks by a condition.",
    "gpu.barrier": "All threads of the block wait for each other.",
    "nvvm.barrier0": "All threads of the block wait for each other.",
    "scf.condition": "Goes on with the loop if a condition is true.",
    "scf.for": "A loop over a range, with the values that it carries from round to round.",
    "scf.if": "Runs one of two blocks by a condition; its results are what the block yields.",
    "scf.while": "A loop, as long as a condition is true.",
    "scf.yield": "The results of the block that it ends; of a loop, the values for the next round.",
    "ub.poison": "A value that nobody may use.",
}
_TT = {
    "tt.addptr": "Moves pointers by so many elements.",
    "tt.assert": "Stops the kernel with a message if a condition is false.",
    "tt.atomic_cas": "Replaces what is in memory if it equals the value given, atomically, and returns what was there.",
    "tt.atomic_rmw": "Updates memory atomically and returns what was there.",
    "tt.bitcast": TILEIR["bitcast"],
    "tt.broadcast": "Repeats a tensor along its axes of length 1.",
    "tt.call": "Calls a function.",
    "tt.cat": "Joins two tensors; in which order the elements come is open.",
    "tt.clampf": "Clamps floats between two others.",
    "tt.descriptor_gather": "Loads rows of a tensor, picked by an index, by its descriptor.",
    "tt.descriptor_load": (
        "Loads a block of a tensor by its descriptor: the tensor memory accelerator does it where there is one."
    ),
    "tt.descriptor_reduce": "Reduces a block into a tensor by its descriptor.",
    "tt.descriptor_scatter": "Stores rows of a tensor, picked by an index, by its descriptor.",
    "tt.descriptor_store": "Stores a block of a tensor by its descriptor.",
    "tt.dot": "Multiplies matrices and adds a third: A × B + C.",
    "tt.dot_scaled": "Multiplies matrices that have a scale for each block of elements, and adds a third.",
    "tt.elementwise_inline_asm": "Runs PTX on each element.",
    "tt.expand_dims": "Adds an axis of length 1.",
    "tt.extern_elementwise": "Calls a function of a library on each element.",
    "tt.fp_to_fp": "Converts floats to another float type.",
    "tt.func": "A kernel or function.",
    "tt.gather": "Picks elements along an axis by an index.",
    "tt.get_num_programs": "How many programs the grid has along an axis.",
    "tt.get_program_id": "Index of this program in the grid, along an axis.",
    "tt.histogram": "Counts how often each number occurs.",
    "tt.int_to_ptr": "Takes an integer for an address.",
    "tt.join": "Joins two tensors along a new last axis.",
    "tt.load": "Loads through pointers; where the mask is false, takes the other value.",
    "tt.make_range": "The numbers from start to end, without the end.",
    "tt.make_tensor_descriptor": "Describes a tensor in memory, for loads and stores of whole blocks.",
    "tt.make_tensor_ptr": "A pointer to a block of a tensor in memory.",
    "tt.mulhiui": "High half of the product of unsigned integers.",
    "tt.precise_divf": "Divides floats, rounded as IEEE 754 says.",
    "tt.precise_sqrt": "Square root, rounded as IEEE 754 says.",
    "tt.print": "Prints.",
    "tt.ptr_to_int": "Takes an address for an integer.",
    "tt.reduce": "Reduces a tensor along an axis by the operation in its body.",
    "tt.reduce.return": "The result of one step of a reduction.",
    "tt.reshape": "The same elements in another shape.",
    "tt.return": "Ends the kernel or function.",
    "tt.scan": "Running reduction along an axis by the operation in its body.",
    "tt.scan.return": "The result of one step of a scan.",
    "tt.splat": "A tensor all of whose elements are one number.",
    "tt.split": "Splits a tensor along its last axis into two.",
    "tt.store": "Stores through pointers, where the mask is true.",
    "tt.trans": "Puts the axes in another order: a transposition.",
    "tt.unsplat": "The only element of a tensor.",
}
_TTG = {
    "ttg.async_commit_group": "Makes a group of the asynchronous copies started so far.",
    "ttg.async_copy_global_to_local": "Starts a copy from global to shared memory.",
    "ttg.async_wait": "Waits until at most so many groups of asynchronous copies are under way.",
    "ttg.barrier": "All threads wait for each other, for the memories named.",
    "ttg.convert_layout": (
        "Spreads a tensor over the threads in another way; goes through shared memory or lanes where it must."
    ),
    "ttg.global_scratch_alloc": "Reserves scratch space in global memory.",
    "ttg.local_alloc": "Reserves shared memory, and stores a tensor there if one is given.",
    "ttg.local_dealloc": "Frees shared memory.",
    "ttg.local_load": "Loads a tensor from shared memory.",
    "ttg.local_store": "Stores a tensor to shared memory.",
    "ttg.memdesc_index": "One buffer of several in shared or tensor memory.",
    "ttg.memdesc_reinterpret": "Takes shared memory for another type and shape.",
    "ttg.memdesc_reshape": "The same shared memory in another shape.",
    "ttg.memdesc_subslice": "A part of a buffer in shared or tensor memory.",
    "ttg.memdesc_subview": "A part of a buffer in shared or tensor memory.",
    "ttg.memdesc_trans": "The same shared memory with its axes in another order.",
    "ttg.warp_return": "Ends what this group of warps does.",
    "ttg.warp_specialize": "Runs several pieces of code at once, each in warps of its own.",
    "ttg.warp_specialize.partitions": "The pieces of code for the other warps.",
    "ttg.warp_yield": "Ends what the default group of warps does, with its results.",
}
_TTNG = {
    "ttng.arrive_barrier": "Arrives at a barrier in shared memory.",
    "ttng.async_tma_copy_global_to_local": (
        "Starts a copy of a block from global to shared memory by the tensor memory accelerator."
    ),
    "ttng.async_tma_copy_local_to_global": (
        "Starts a copy of a block from shared to global memory by the tensor memory accelerator."
    ),
    "ttng.async_tma_gather": (
        "Starts a copy of rows, picked by an index, to shared memory by the tensor memory accelerator."
    ),
    "ttng.async_tma_scatter": "Starts a copy of rows to places picked by an index by the tensor memory accelerator.",
    "ttng.async_tma_reduce": "Starts a reduction of a block into global memory by the tensor memory accelerator.",
    "ttng.async_tma_store_wait": (
        "Waits until at most so many stores of the tensor memory accelerator still read shared memory."
    ),
    "ttng.barrier_expect": "Tells a barrier how many bytes to wait for.",
    "ttng.cluster_arrive": "Arrives at the barrier of the cluster.",
    "ttng.cluster_wait": "Waits at the barrier of the cluster.",
    "ttng.fence_async_shared": "Makes stores to shared memory visible to the asynchronous path.",
    "ttng.init_barrier": "Makes a barrier in shared memory for so many arrivals.",
    "ttng.inval_barrier": "Ends a barrier in shared memory.",
    "ttng.reinterpret_tensor_descriptor": "Takes memory for a tensor descriptor.",
    "ttng.tc_gen5_commit": "Lets a barrier be arrived at once the tensor core work started so far is done.",
    "ttng.tc_gen5_mma": "Starts A × B + D in the fifth-generation tensor core, with D in tensor memory.",
    "ttng.tc_gen5_mma_scaled": (
        "Starts A × B + D, with a scale for each block of elements, in the fifth-generation tensor core."
    ),
    "ttng.tensormap_create": "Writes a tensor map.",
    "ttng.tensormap_fenceproxy_acquire": "Makes a new tensor map visible to the tensor memory accelerator.",
    "ttng.tmem_alloc": "Reserves tensor memory, and stores a tensor there if one is given.",
    "ttng.tmem_copy": "Starts a copy from shared to tensor memory.",
    "ttng.tmem_load": "Loads a tensor from tensor memory.",
    "ttng.tmem_store": "Stores a tensor to tensor memory.",
    "ttng.tmem_subslice": "A part of a buffer in tensor memory.",
    "ttng.wait_barrier": "Waits until a phase of a barrier is over.",
    "ttng.warp_group_dot": "Multiplies matrices by warpgroups, and may run on its own until waited for.",
    "ttng.warp_group_dot_wait": "Waits until at most so many multiplications of warpgroups are under way.",
}
_OTHER = {"module": "A module: kernels with what they need, and what they are compiled for."}
OPCODES = _ARITH | _MATH | _CONTROL | _TT | _TTG | _TTNG | _OTHER

_COMPARISONS = {
    "eq": "equal",
    "ne": "not equal",
    **{
        f"{sign}{name}": f"{phrase}, {of}"
        for sign, of in (("s", "signed"), ("u", "unsigned"))
        for name, phrase in (
            ("lt", "less than"),
            ("le", "less than or equal"),
            ("gt", "greater than"),
            ("ge", "greater than or equal"),
        )
    },
}
_FLOAT_COMPARISONS = {
    f"{sign}{name}": f"{phrase}{of}"
    for sign, of in (("o", "; false if one is NaN"), ("u", "; true if one is NaN"))
    for name, phrase in (
        ("eq", "equal"),
        ("ne", "not equal"),
        ("lt", "less than"),
        ("le", "less than or equal"),
        ("gt", "greater than"),
        ("ge", "greater than or equal"),
    )
}
WORDS = {
    "nsw": "does not overflow as signed integers",
    "nuw": "does not overflow as unsigned integers",
    "fastmath": "what a compiler may take for granted of floats",
    "evictionPolicy": "how long the cache keeps it",
    "evict_first": "not needed again soon",
    "evict_last": "keep",
    "cacheModifier": "which caches it goes through",
    "isVolatile": "never left out or merged",
    "inputPrecision": "how floats of 32 bits are multiplied",
    "tf32": "as tf32",
    "ieee": "exactly",
    "acq_rel": "no access moves past it, either way",
    "acquire": "later accesses stay behind it",
    "release": "earlier accesses stay before it",
    "relaxed": "atomic, but orders no other access",
    "gpu": "as the whole GPU sees it",
    "cta": "as the block sees it",
    "sys": "as the whole system sees it",
    "axis": "the axis",
    "fadd": "adds floats",
    "add": "adds",
    "max": "the larger, signed",
    "min": "the smaller, signed",
    "umax": "the larger, unsigned",
    "umin": "the smaller, unsigned",
    "exch": "exchanges",
    "public": "a kernel",
    "iter_args": "values carried from round to round, and what they begin with",
    "step": "in steps of",
    "dense": "all elements alike",
    "isAsync": "runs on its own until waited for",
    "mutable": "may be written",
}
LANGUAGE = Language(OPCODES, WORDS, {"arith.cmpi": _COMPARISONS, "arith.cmpf": _FLOAT_COMPARISONS})

_OPERATION = re.compile(
    r"\s*\}?\s*(?:[%\w.$,:#\s]+? = )?\"?(?P<name>[a-z]\w*(?:\.[a-z]\w*)+|module)\"?(?=[\s(@{]|$)(?P<rest>.*)"
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"(?<![%\w.@#!])([A-Za-z_]\w*)\b")
_TENSOR = re.compile(r"\btensor<([^<>,]*(?:<\w+>)?)(?:, (#\w+))?>")
_LAYOUT = re.compile(r"(#\w+) = (#[\w.]+)<(.*)>\s*$")
_LAYOUTS = {
    "#ttg.blocked": "each thread holds a block of neighbours",
    "#ttg.nvidia_mma": "as the tensor core returns its results",
    "#ttg.dot_op": "as the tensor core takes its operands",
    "#ttg.slice": "a layout without one of its axes",
    "#ttg.linear": "given bit by bit",
    "#ttg.swizzled_shared": "in shared memory, swizzled against bank conflicts",
    "#ttg.nvmma_shared": "in shared memory, as the tensor memory accelerator and the tensor core want it",
    "#ttg.shared_memory": "shared memory",
    "#ttng.tensor_memory": "tensor memory",
    "#ttng.tensor_memory_encoding": "how a tensor lies in tensor memory",
}
_MOST_TYPES = 4


def explain(rows: Sequence[str], line: int) -> Explanation | None:
    """A row (from 0) of TTIR or TTGIR; None for one that begins no operation and names no layout."""
    text = rows[line].split("//", 1)[0]
    if match := _LAYOUT.match(text):
        does = _LAYOUTS.get(match[2], "")
        return Explanation(match[1], f"A layout: {does}." if does else "", notes=(f"`{match[3]}`",))
    match = _OPERATION.match(text)
    if match is None:
        return None
    name, rest = match["name"], _QUOTED.sub('""', match["rest"])
    said, _, types = rest.partition(" : ")
    words = dict.fromkeys(_WORD.findall(said))
    parts = tuple((word, phrase) for word in words if (phrase := LANGUAGE.phrase(name, word)))
    notes: dict[str, str] = {}
    for found in _TENSOR.finditer(types or rest):
        if described := shaped(found[1]):
            notes[found[0]] = described + (f", laid out as `{found[2]}`" if found[2] else "")
    shown = tuple(f"`{written}`: {words_}" for written, words_ in notes.items())[:_MOST_TYPES]
    return Explanation(name, OPCODES.get(name, ""), parts, shown)
