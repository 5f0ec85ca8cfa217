"""Which steps lead to which stage of a Triton kernel, and what each step reads.

| step                  | makes                              | reads                                            |
|-----------------------|------------------------------------|--------------------------------------------------|
| worker: infer         | types, `typed` (TTIR)              | version, arguments, the options that reach TTIR  |
| worker: codegen       | `ttgir` `llvm` `ptx` or `amdgcn`   | the inference entry, target, options             |
| ptxas of the wheel    | `cubin`                            | PTX, target, fusion of multiply and add          |
| engine's disassembler | `disassembly`                      | cubin                                            |
| LLVM (`../llvm.py`)   | `llvm-sliced` `llvm-remarks` `llvm-ptx` | `llvm`                                      |
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tile_lsp.frontends import llvm
from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from . import artifacts, targets
from .hints import HINTS

STAGES = (
    Stage.TYPES,
    Stage.TTIR,
    Stage.TTGIR,
    Stage.LLVM,
    Stage.LLVM_REMARKS,
    Stage.PTX,
    Stage.PTX_LLVM,
    Stage.CUBIN,
    Stage.SASS,
    Stage.AMDGCN,
    Stage.RESOURCES,
    Stage.REMARKS,
)

#: What only one vendor's targets have.
_NVIDIA = frozenset({Stage.PTX, Stage.PTX_LLVM, Stage.CUBIN, Stage.SASS})
_AMD = frozenset({Stage.AMDGCN})

_BLOBS: dict[Stage, tuple[str, ...]] = {
    Stage.TYPES: (),
    Stage.TTIR: ("typed",),
    Stage.TTGIR: ("ttgir",),
    **llvm.BLOBS,
    Stage.PTX: ("ptx",),
    Stage.CUBIN: ("cubin",),
    Stage.SASS: ("cubin", "disassembly", "ptx"),
    Stage.AMDGCN: ("amdgcn",),
    Stage.RESOURCES: ("cubin", "usage"),
    Stage.REMARKS: ("remarks",),
}

#: In code that asks what it is compiled for: its types may differ from target to target.
_TARGET_WORDS = (
    *("target_info", "current_target", "get_device", "is_cuda", "is_hip", "is_nvidia", "is_amd", "is_hopper"),
    *("is_blackwell", "capability", "torch.cuda", "torch.version", "torch.xpu", "get_available", "multiprocessor"),
    *("check_shared", "__CUDA_ARCH__"),
)
_DEVICE = re.compile(r"\b(?:driver|device)\b")
_SMALL_FLOATS = re.compile(r"fp8|float8|e4m3|e5m2|dot_scaled|mxfp")
_DESCRIPTORS = re.compile(r"descriptor|tensordesc|block_ptr")
#: Gluon's layouts are of a number of warps; kernels may ask for it too.
_ASKS_WARPS = re.compile(r"gluon|num_warps\s*\(|num_threads\s*\(|num_ctas\s*\(")
_WARPS = frozenset({"num_warps", "num_ctas", "maxnreg"})


def stages_for(target: str | None) -> tuple[Stage, ...]:
    """Those that there are for a target; all of them without one."""
    others = _NVIDIA if targets.is_amd(target) else _AMD if target is not None else frozenset()
    return tuple(stage for stage in STAGES if stage not in others)


def blobs_for(stage: Stage, target: str | None = None) -> tuple[str, ...]:
    """Names of the blobs that a stage's reader needs; none for what inference itself yields."""
    if stage is Stage.RESOURCES and targets.is_amd(target):
        return ("amdgcn", "usage")
    return _BLOBS[stage]


def inference_fields(
    config: Config, closure: Closure | None = None, arguments: Sequence[Argument] = ()
) -> Mapping[str, Scalar]:
    """The options that reach TTIR, and as much of the target as this kernel can tell apart."""
    asks = _asked_by(closure) if closure is not None else _Asks()
    specs = "\n".join(argument.spec for argument in arguments)
    warps = asks.warps or _ASKS_WARPS.search(specs) is not None
    fields: dict[str, Scalar] = {
        name: value
        for name, value in config.hints
        if (name in HINTS and HINTS[name].typed) or (warps and name in _WARPS)
    }
    target = config.target
    if target is None or targets.check_target(target) is not None:
        return fields
    if targets.is_amd(target) or warps or asks.target:
        fields["target"] = target
    elif asks.small_floats or _SMALL_FLOATS.search(specs):
        fields["target"] = targets.class_of(target)
    elif (asks.descriptors or _DESCRIPTORS.search(specs)) and int(target.removeprefix("sm_")) >= 90:
        fields["target"] = "sm_90"
    return fields


class _Asks(NamedTuple):
    """What a closure's types may depend on beside its arguments."""

    target: bool = False
    warps: bool = False
    small_floats: bool = False
    descriptors: bool = False


#: By version: a kernel's fields are asked for with each look at the cache.
_known: OrderedDict[str, _Asks] = OrderedDict()


def _asked_by(closure: Closure) -> _Asks:
    found = _known.get(closure.version)
    if found is None:
        text = "\n".join(member.text for module in closure.modules for member in module.members)
        target = any(word in text for word in _TARGET_WORDS) or _DEVICE.search(text) is not None
        patterns = (_ASKS_WARPS, _SMALL_FLOATS, _DESCRIPTORS)
        found = _known[closure.version] = _Asks(target, *(pattern.search(text) is not None for pattern in patterns))
        if len(_known) > 1024:
            _known.popitem(last=False)
    return found


def codegen_fields(config: Config) -> Mapping[str, Scalar]:
    """Everything: each option and the target are read by some pass."""
    fields: dict[str, Scalar] = dict(config.hints)
    if config.target is not None:
        fields["target"] = config.target
    return fields


def tool_for(blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
    """The run that makes a blob; None where the worker makes it; a fault where there is no such thing.

    `generated`: what the kernel takes (`shared`, `shared_limit`, `tensor_memory`, `threads`, `threads_limit`), and
    `assembler` with `assembler_arguments` (JSON).
    """
    target = config.target or ""
    if blob in ("ptx", "cubin") and targets.is_amd(target):
        return _user(f"{target} is AMD's: its stage amdgcn is there in place of PTX and SASS", "stage")
    if blob == "usage" and (message := _too_much(target, generated)):
        return _user(message, "resources")
    if blob == "amdgcn" and not targets.is_amd(target):
        return _user(f"{target} is NVIDIA's: it has PTX and SASS in place of amdgcn", "stage")
    if blob != "cubin":
        return llvm.tool_for(blob, target, optimized=True)
    if message := _too_much(target, generated):
        return _user(message, "resources")
    arguments = json.loads(str(generated.get("assembler_arguments") or "[]"))
    return ToolRun(
        str(generated.get("assembler") or "triton-ptxas"),
        (*arguments, "{ptx}", "-o", "{cubin}"),
        ("ptx",),
        ("cubin",),
        artifacts.told,
    )


def _too_much(target: str, generated: Mapping[str, Scalar]) -> str | None:
    """What a launch would refuse, in its numbers; triton itself compiles it without a word."""
    shared, limit = _number(generated.get("shared")), _number(generated.get("shared_limit"))
    if limit and shared > limit:
        return (
            f"{shared} bytes of shared memory, and a block of {target} has {limit}: {_REFUSED}. "
            "Smaller tiles or fewer num_stages take less"
        )
    threads, most = _number(generated.get("threads")), _number(generated.get("threads_limit"))
    if most and threads > most:
        return f"{threads} threads, and a block has {most}: {_REFUSED}. Fewer num_warps take less"
    tensor = _number(generated.get("tensor_memory"))
    if tensor > _TENSOR_MEMORY:
        return f"{tensor} columns of tensor memory, and {target} has {_TENSOR_MEMORY}: {_REFUSED}"
    return None


def passed_over(fault: Fault) -> str | None:
    """What triton's autotuner takes for infinitely slow: out of resources, refused by ptxas, a static assertion."""
    if fault.kind is not FaultKind.USER or fault.code not in _PASSED_OVER:
        return None
    if _REFUSED in fault.message:
        return fault.message.replace(_REFUSED, _NOT_TAKEN)
    return f"{fault.message}\nSo {_NOT_TAKEN}."


_PASSED_OVER = frozenset({"resources", "CompileTimeAssertionFailure", "triton-ptxas", "triton-ptxas-blackwell"})
_REFUSED = "a launch would be refused"
_NOT_TAKEN = "autotuning passes over this config"


_TENSOR_MEMORY = 512


def _number(value: Scalar) -> int:
    return value if isinstance(value, int) else 0


def _user(message: str, code: str) -> Fault:
    return Fault(FaultKind.USER, message, code=code)
