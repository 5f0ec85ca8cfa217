"""What triton itself makes of layouts: run in its interpreter, prints a JSON list of `[type, bases]`."""

from __future__ import annotations

import json
import sys

from triton._C.libtriton import gluon_ir, ir
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend
from triton.experimental.gluon.language._layouts import (
    BlockedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
    SliceLayout,
    SwizzledSharedLayout,
)
from triton.experimental.gluon.language.amd._layouts import AMDMFMALayout, AMDWMMALayout

ROWS = BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
COLUMNS = BlockedLayout([2, 1], [16, 2], [1, 4], [0, 1])
LINE = BlockedLayout([8], [32], [4], [0])
CUBE = BlockedLayout([1, 1, 4], [2, 4, 4], [2, 1, 2], [2, 0, 1])
AMPERE = NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
HOPPER = NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
WIDE = NVMMADistributedLayout([3, 0], [4, 2], [16, 128, 16])
LINEAR = DistributedLinearLayout(
    [[0, 1], [8, 0]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [[0, 8], [16, 0]], [], [32, 16]
)
MFMA = AMDMFMALayout(3, [32, 32, 8], True, [2, 2])
SMALL = AMDMFMALayout(3, [16, 16, 16], False, [4, 1])
CASES = [
    (DotOperandLayout(0, MFMA, 4), (128, 64)),
    (DotOperandLayout(1, MFMA, 4), (64, 128)),
    (DotOperandLayout(0, SMALL, 8), (64, 64)),
    (DotOperandLayout(1, SMALL, 4), (64, 64)),
    (ROWS, (128, 32)),
    (ROWS, (16, 16)),
    (ROWS, (2, 4)),
    (ROWS, (64, 256)),
    (COLUMNS, (64, 64)),
    (LINE, (1024,)),
    (LINE, (4096,)),
    (LINE, (128,)),
    (CUBE, (4, 16, 32)),
    (CUBE, (8, 2, 8)),
    (SliceLayout(0, ROWS), (32,)),
    (SliceLayout(1, ROWS), (128,)),
    (SliceLayout(1, ROWS), (8,)),
    (SliceLayout(0, SliceLayout(2, CUBE)), (16,)),
    (SliceLayout(1, AMPERE), (64,)),
    (AMPERE, (64, 64)),
    (AMPERE, (16, 16)),
    (AMPERE, (128, 32)),
    (HOPPER, (64, 64)),
    (HOPPER, (128, 128)),
    (WIDE, (128, 256)),
    (DotOperandLayout(0, AMPERE, 2), (64, 32)),
    (DotOperandLayout(1, AMPERE, 2), (32, 64)),
    (DotOperandLayout(0, AMPERE, 4), (128, 64)),
    (DotOperandLayout(0, HOPPER, 2), (64, 64)),
    (DotOperandLayout(0, ROWS, 0), (64, 16)),
    (DotOperandLayout(1, ROWS, 0), (16, 64)),
    (LINEAR, (32, 16)),
    (LINEAR, (64, 64)),
    (LINEAR, (8, 4)),
    (AMDMFMALayout(3, [32, 32, 8], True, [2, 2]), (128, 128)),
    (AMDMFMALayout(3, [32, 32, 8], False, [2, 2]), (128, 128)),
    (AMDMFMALayout(3, [16, 16, 16], True, [1, 4]), (64, 128)),
    (AMDMFMALayout(3, [16, 16, 16], False, [4, 1]), (64, 64)),
]
SHARED = [
    (SwizzledSharedLayout(8, 1, 8, [1, 0]), (64, 64)),
    (SwizzledSharedLayout(8, 2, 4, [1, 0]), (128, 32)),
    (SwizzledSharedLayout(4, 1, 16, [0, 1]), (64, 32)),
    (SwizzledSharedLayout(1, 1, 1, [0]), (256,)),
    (SwizzledSharedLayout(1, 1, 1, [2, 1, 0]), (4, 8, 16)),
    (NVMMASharedLayout(128, 16, 2), (64, 64)),
    (NVMMASharedLayout(128, 16, 2), (128, 128)),
    (NVMMASharedLayout(64, 16, 2), (64, 32)),
    (NVMMASharedLayout(32, 16, 2), (64, 64)),
    (NVMMASharedLayout(128, 8, 2), (64, 256)),
    (NVMMASharedLayout(128, 16, 2, transposed=True), (128, 64)),
]


def wmma() -> list[tuple[object, tuple[int, int]]]:
    """In the form of the newest release."""
    found: list[tuple[object, tuple[int, int]]] = []
    for version, width in ((1, 16), (2, 8)):
        for transposed in (False, True):
            made = AMDWMMALayout(version, transposed, [[0, 1], [1, 0]], instr_shape=[16, 16, 16])
            found += [(made, (64, 64)), (made, (16, 16))]
            found += [(DotOperandLayout(0, made, width), (64, 32)), (DotOperandLayout(1, made, width), (32, 64))]
    return found


def main() -> None:
    context = ir.context()
    ir.load_dialects(context)
    for target in (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)):
        make_backend(target).load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    half = builder.get_half_ty()
    found = []
    for layout, shape in CASES + (wmma() if sys.argv[1:] == ["shared"] else []):
        # An assertion about attributes of another number of warps ends the process: what it says is in its order.
        attribute = layout._to_ir(builder)
        made = builder.to_linear_layout(attribute, list(shape))
        bases = {
            "register": made.reg_bases,
            "lane": made.lane_bases,
            "warp": made.warp_bases,
            "block": made.block_bases,
        }
        found.append([str(builder.get_distributed_ty(half, list(shape), attribute)), bases])
    for layout, shape in SHARED if sys.argv[1:] == ["shared"] else ():
        attribute = layout._to_ir(builder)
        made = builder.to_linear_layout(attribute, list(shape))
        written = str(builder.get_shared_mem_desc_ty(half, list(shape), attribute, list(shape)))
        found.append([written, {"offset": made.offset_bases, "block": made.block_bases}])
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
