"""Thread maps as words and tables."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tile_lsp.analysis.layouts import types_in
from tile_lsp.ide.thread_map import facts, table, thread_map
from tile_lsp.ide.thread_map_svg import legend, svg

MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"


def shown(text: str, **aliases: str) -> str:
    (typed,) = types_in(text)
    found = thread_map(typed, {f"#{name}": layout for name, layout in aliases.items()})
    assert svg(found).startswith("<svg ")
    return "\n".join([*facts(found), table(found)])


def test_rows_of_a_blocked_layout():
    blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
    assert shown("%x = tt.load %p : tensor<4x32xf16, #blocked>", blocked=blocked) == snapshot("""\
4×32 over 4 warps of 32 threads: 4 elements a thread
4 neighbours along dimension 1 are of one thread: 8 bytes
the same is held by 4 warps each
0  0-3:T0   4-7:T1   8-11:T2   12-15:T3   16-19:T4   20-23:T5   24-27:T6   28-31:T7
1  0-3:T8   4-7:T9   8-11:T10  12-15:T11  16-19:T12  20-23:T13  24-27:T14  28-31:T15
2  0-3:T16  4-7:T17  8-11:T18  12-15:T19  16-19:T20  20-23:T21  24-27:T22  28-31:T23
3  0-3:T24  4-7:T25  8-11:T26  12-15:T27  16-19:T28  20-23:T29  24-27:T30  28-31:T31\
""")


def test_a_line():
    blocked = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    assert shown(f"%x = tt.load %p : tensor<1024x!tt.ptr<f32>, {blocked}>") == snapshot("""\
1024 over 4 warps of 32 threads: 8 elements a thread
4 neighbours are of one thread
  0  0-3:T0       4-7:T1       8-11:T2      12-15:T3     16-19:T4     20-23:T5     24-27:T6     28-31:T7
 32  32-35:T8     36-39:T9     40-43:T10    44-47:T11    48-51:T12    52-55:T13    56-59:T14    60-63:T15
 64  64-67:T16    68-71:T17    72-75:T18    76-79:T19    80-83:T20    84-87:T21    88-91:T22    92-95:T23
 96  96-99:T24    100-103:T25  104-107:T26  108-111:T27  112-115:T28  116-119:T29  120-123:T30  124-127:T31
128  128-131:T32  132-135:T33  136-139:T34  140-143:T35  144-147:T36  148-151:T37  152-155:T38  156-159:T39
160  160-163:T40  164-167:T41  168-171:T42  172-175:T43  176-179:T44  180-183:T45  184-187:T46  188-191:T47
192  192-195:T48  196-199:T49  200-203:T50  204-207:T51  208-211:T52  212-215:T53  216-219:T54  220-223:T55
224  224-227:T56  228-231:T57  232-235:T58  236-239:T59  240-243:T60  244-247:T61  248-251:T62  252-255:T63
  …\
""")


def test_what_several_threads_hold():
    assert shown("tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>", mma=MMA) == snapshot("""\
64 over 4 warps of 32 threads: 4 elements a thread
the same is held by 4 lanes each
the same is held by 2 warps each
 0  0:T0    1:T4    2:T8    3:T12   4:T16   5:T20   6:T24   7:T28
 8  8:T0    9:T4    10:T8   11:T12  12:T16  13:T20  14:T24  15:T28
16  16:T64  17:T68  18:T72  19:T76  20:T80  21:T84  22:T88  23:T92
24  24:T64  25:T68  26:T72  27:T76  28:T80  29:T84  30:T88  31:T92
32  32:T0   33:T4   34:T8   35:T12  36:T16  37:T20  38:T24  39:T28
40  40:T0   41:T4   42:T8   43:T12  44:T16  45:T20  46:T24  47:T28
48  48:T64  49:T68  50:T72  51:T76  52:T80  53:T84  54:T88  55:T92
56  56:T64  57:T68  58:T72  59:T76  60:T80  61:T84  62:T88  63:T92\
""")


def test_swizzled_shared_memory():
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
    assert shown(f"!ttg.memdesc<8x32xf16, {shared}, #smem, mutable>") == snapshot("""\
8×32 in shared memory: 512 bytes
8 neighbours along dimension 1 follow each other
swizzled: rows exchange their parts, so that one column lies in different banks
0  0-7:@0    8-15:@8    16-23:@16   24-31:@24
1  0-7:@40   8-15:@32   16-23:@56   24-31:@48
2  0-7:@80   8-15:@88   16-23:@64   24-31:@72
3  0-7:@120  8-15:@112  16-23:@104  24-31:@96
4  0-7:@128  8-15:@136  16-23:@144  24-31:@152
5  0-7:@168  8-15:@160  16-23:@184  24-31:@176
6  0-7:@208  8-15:@216  16-23:@192  24-31:@200
7  0-7:@248  8-15:@240  16-23:@232  24-31:@224\
""")


def test_buffers_of_shared_memory():
    shared = "#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>"
    assert shown(f"!ttg.memdesc<3x2x16xf16, {shared}, #smem, mutable>") == snapshot("""\
3 buffers of 2×16 in shared memory: 768 bytes
16 neighbours along dimension 1 follow each other
0  0-15:@0
1  0-15:@16\
""")


def test_what_has_no_picture_says_so():
    (typed,) = types_in("tensor<64xf32, #ttg.padded_shared<[32:+4] {order = [0], shape = [64]}>>")
    with pytest.raises(ValueError, match="there is no picture of padded_shared layouts"):
        thread_map(typed, {})
    (typed,) = types_in("tensor<64xf32, #gone>")
    with pytest.raises(ValueError, match="no layout is called #gone"):
        thread_map(typed, {})


def read(text: str, **aliases: str) -> tuple[str, ...]:
    (typed,) = types_in(text)
    return legend(thread_map(typed, {f"#{name}": layout for name, layout in aliases.items()}))


def test_a_picture_says_how_it_is_to_be_read_and_what_it_leaves_out():
    assert read("tensor<128x256xf32, #mma>", mma=MMA) == snapshot(
        (
            "a box is what a thread holds side by side, T33 is lane 1 of warp 1; a colour is a warp",
            "drawn: rows 0–63 of 128, columns 0–127 of 256",
        )
    )
    assert read("tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>", mma=MMA) == snapshot(
        (
            "a box is what a thread holds side by side, T33 is lane 1 of warp 1; a colour is a warp",
            "of several threads that hold the same, the first is named",
        )
    )
    shared = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
    assert read(f"!ttg.memdesc<8x32xf16, {shared}, #smem, mutable>") == snapshot(
        ("a box is what lies side by side in memory, @64 begins 64 elements in; equal colours are the same banks",)
    )
    blocked = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    assert read(f"tensor<8192xf32, {blocked}>") == snapshot(
        (
            "a box is what a thread holds side by side, T33 is lane 1 of warp 1; a colour is a warp",
            "drawn: elements 0–4095 of 8192",
        )
    )
