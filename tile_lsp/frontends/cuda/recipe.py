"""Which steps lead to which stage of a CUDA C++ kernel, and what each step reads.

| step                  | makes                                    | reads                                        |
|-----------------------|------------------------------------------|----------------------------------------------|
| worker: infer         | diagnostics, types                       | version, arguments, target where it matters  |
| worker: codegen       | `ptx`, `cubin`, `log`, `warnings`        | the inference entry, target, options         |
| engine's disassembler | `disassembly`                            | cubin                                        |
| clang                 | `llvm`                                   | `clang-text`, `clang-files`, `clang-options` |
| LLVM (`../llvm.py`)   | `llvm-sliced`, `llvm-remarks`, `llvm-ptx` | `llvm`                                      |

NVRTC makes PTX and cubin in one go, from the text: no typed form of it is kept between the steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tile_lsp.frontends import llvm
from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Config, Scalar
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from .hints import HINTS

STAGES = (
    Stage.TYPES,
    Stage.LLVM,
    Stage.PTX,
    Stage.CUBIN,
    Stage.SASS,
    Stage.RESOURCES,
    Stage.REMARKS,
    *llvm.STAGES,
)

#: Why there is no LLVM IR where there is no clang.
NO_LLVM = (
    "NVRTC shows no LLVM IR: what it gives is PTX, machine code, and code for link-time optimisation, which is "
    "encrypted. Clang would give its own, and there is none on PATH."
)
_CLANG = ("clang-text", "clang-files", "clang-options")
_BLOBS: dict[Stage, tuple[str, ...]] = {
    Stage.TYPES: (),
    **llvm.BLOBS,
    Stage.PTX: ("ptx",),
    Stage.CUBIN: ("cubin",),
    Stage.SASS: ("cubin", "disassembly", "ptx"),
    Stage.RESOURCES: ("cubin",),
    Stage.REMARKS: ("log", "warnings", "cubin"),
}
#: Words with two underscores that mean the same for every architecture. Any other may be there for some of them only.
_EVERYWHERE_TEXT = """
__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __launch_bounds__
__forceinline__ __noinline__ __inline__ __align__ __syncthreads __syncwarp __ldg __threadfence
__threadfence_block __threadfence_system __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync
__ballot_sync __any_sync __all_sync __activemask __popc __popcll __clz __clzll __ffs __ffsll __brev __mul24
__umul24 __fmaf_rn __fadd_rn __fmul_rn __fdividef __expf __logf __sinf __cosf __powf __float2int_rn
__int2float_rn __float_as_int __int_as_float __float_as_uint __uint_as_float __saturatef
__cvta_generic_to_shared __restrict __inline __volatile__ __cplusplus __CUDACC__ __CUDACC_RTC__
__builtin_assume __grid_constant__ __syncthreads_count __syncthreads_and __syncthreads_or __trap
__longlong_as_double __double_as_longlong
"""
_EVERYWHERE = frozenset(_EVERYWHERE_TEXT.split())
_WORD = re.compile(r"__\w+")


def blobs_for(stage: Stage) -> tuple[str, ...]:
    """Names of the blobs that a stage's reader needs; none for what inference itself yields."""
    return _BLOBS[stage]


def tool_for(blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
    """The run that makes a blob, None where the worker makes it, or why there is none."""
    if blob != llvm.SOURCE:
        return llvm.tool_for(blob, config.target, optimized=True)
    if not generated.get("clang"):
        return Fault(
            FaultKind.ENVIRONMENT, NO_LLVM, help="apt-get install clang, or another clang on PATH", code="llvm"
        )
    arguments = ("@{clang-options}", "-ivfsoverlay", "{clang-files}", "-o", "{llvm}", "{clang-text}")
    return ToolRun("clang", arguments, _CLANG, (llvm.SOURCE,))


def inference_fields(config: Config, closure: Closure | None) -> Mapping[str, Scalar]:
    """Options that diagnostics may depend on, and the target where the text can tell one from another."""
    fields = {name: value for name, value in config.hints if HINTS[name].inferred}
    if config.target is not None and closure is not None and reads_target(closure):
        fields["target"] = config.target
    return fields


def reads_target(closure: Closure) -> bool:
    """True if some text says a word, or includes a header, that is not the same for every architecture."""
    return any(
        member.text.startswith("#include")
        or "asm" in member.text
        or not _EVERYWHERE.issuperset(_WORD.findall(member.text))
        for module in closure.modules
        for member in module.members
    )


def codegen_fields(config: Config) -> Mapping[str, Scalar]:
    """All of it."""
    fields: dict[str, Scalar] = dict(config.hints)
    if config.target is not None:
        fields["target"] = config.target
    return fields
