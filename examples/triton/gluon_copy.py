"""A Gluon kernel: layouts are chosen by hand, and data goes through shared memory on its way."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.language.target_info import is_hip


# tile-lsp: in_ptr=*fp32:16 out_ptr=*fp32:16 n=i32:16 BLOCK=1024 num_warps=4 target=sm_90
@gluon.jit
def copy(in_ptr, out_ptr, n, BLOCK: gl.constexpr):
    lanes: gl.constexpr = 64 if is_hip() else 32
    wide: gl.constexpr = gl.BlockedLayout([4], [lanes], [4], [0])
    narrow: gl.constexpr = gl.BlockedLayout([1], [lanes], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, wide)
    x = gl.load(in_ptr + offsets, mask=offsets < n)
    staged = gl.allocate_shared_memory(gl.float32, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]), x)
    y = staged.load(narrow)
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, narrow)
    gl.store(out_ptr + at, y * 2.0, mask=at < n)
