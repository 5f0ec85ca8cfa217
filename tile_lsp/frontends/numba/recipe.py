"""Which steps lead to which stage of a Numba kernel, and what each step reads.

| step                  | makes                                        | reads                               |
|-----------------------|----------------------------------------------|-------------------------------------|
| worker: infer         | types, typed IR, remarks on doubles          | version, arguments                  |
| worker: codegen       | `ptx`, `cubin`, `lined`, `places`            | the inference entry, target, options |
| its part `llvm`       | `llvm`, `llvm-places`                        | the inference entry, two options    |
| engine's disassembler | `disassembly`                                | cubin                               |
| LLVM (`../llvm.py`)   | `llvm-sliced`, `llvm-remarks`, `llvm-ptx`    | `llvm`                              |

`cubin` is what runs. `lined` is the same compiled with line tables, whose lines are numbers into `places`. Where it
holds its PTX too, `ptx` is empty.
"""

from __future__ import annotations

from collections.abc import Mapping

from tile_lsp.frontends import llvm
from tile_lsp.model.job import Config, Scalar
from tile_lsp.model.stage import Stage

STAGES = (
    Stage.TYPES,
    Stage.TYPED,
    Stage.LLVM,
    Stage.LLVM_REMARKS,
    Stage.PTX,
    Stage.PTX_LLVM,
    Stage.CUBIN,
    Stage.SASS,
    Stage.RESOURCES,
)

_BLOBS: dict[Stage, tuple[str, ...]] = {
    Stage.TYPES: (),
    Stage.TYPED: (),
    **{stage: (*blobs, "llvm-places") for stage, blobs in llvm.BLOBS.items()},
    Stage.PTX: ("ptx", "lined", "places"),
    Stage.CUBIN: ("cubin",),
    Stage.SASS: ("cubin", "disassembly", "lined", "places"),
    Stage.RESOURCES: ("cubin",),
}


def blobs_for(stage: Stage) -> tuple[str, ...]:
    """Names of the blobs that a stage's reader needs; none for what inference itself yields."""
    return _BLOBS[stage]


LLVM = "llvm"
"""The part of code generation that ends with LLVM IR."""
_PARTS = dict.fromkeys((llvm.SOURCE, "llvm-places", llvm.SLICED, llvm.REMARKS, llvm.PTX), LLVM)
_LOWERED = frozenset({"fastmath", "launch_bounds"})
"""Options that lowering reads; the target it does not."""


def part_of(blob: str) -> str:
    return _PARTS.get(blob, "")


def part_fields(part: str, config: Config) -> Mapping[str, Scalar]:
    """Of the part `LLVM`."""
    return {name: value for name, value in config.hints if name in _LOWERED}


def codegen_fields(config: Config) -> Mapping[str, Scalar]:
    """All of it: libNVVM and the linker read the target and each option."""
    fields: dict[str, Scalar] = dict(config.hints)
    if config.target is not None:
        fields["target"] = config.target
    return fields
