from __future__ import annotations

import asyncio

import pytest

from tests.support.patience import PATIENCE
from tests.support.workbench import Workbench
from tile_lsp.ide.hover import hover
from tile_lsp.ide.inlay_hints import inlay_hints
from tile_lsp.model.stage import Stage

from .carets import HEADER, typed, write

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {
    "expressions": """
@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr):
#     ^^^^^ pointer<fp32>
    #        ^ int32
    #           ^^^^^ constexpr[64]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#   ^^^^^^^ tensor<64xint32>
    #                            ^^^^^ constexpr[64]
    #                                    ^^^^^^^^^^^^^^^^^^^ tensor<64xint32>
    é = tl.load(x_ptr + offsets, mask=offsets < n)
    #           ^^^^^^^^^^^^^^^ tensor<64xpointer<fp32>>
    #                                 ^^^^^^^^^^^ tensor<64xint1>
    half = é.to(tl.float16)[None, :]
    #      ^^^^^^^^^^^^^^^^ tensor<64xfp16>
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^ tensor<1x64xfp16>
    tl.store(x_ptr + offsets, tl.sum(half, axis=0))
    #                         ^^^^^^^^^^^^^^^^^^^^ tensor<64xfp16>
""",
    "constants": """
SIDE = tl.constexpr(32)


@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    WIDE: tl.constexpr = BLOCK * 2 + SIDE
    #                    ^^^^^^^^^ constexpr[128]
    #                                ^^^^ constexpr[32]
    #                    ^^^^^^^^^^^^^^^^ constexpr[160]
    small: tl.constexpr = WIDE // 80 if BLOCK > 8 else 1
    #                     ^^^^^^^^^^ constexpr[2]
    tl.store(x_ptr + small, 1.5)
""",
    "helpers": """
@triton.jit
def scaled(value, factor, TWICE: tl.constexpr):
    #                     ^^^^^ constexpr[False] | constexpr[True]
    if TWICE:
        value = value * 2
        #       ^^^^^^^^^ fp32
    return value * factor
    #      ^^^^^^^^^^^^^^ fp16 | fp32


@triton.jit
def k(x_ptr):
    x = tl.load(x_ptr)
    both = scaled(x, 3.0, True) + scaled(x.to(tl.float16), 2, False)
    #      ^^^^^^^^^^^^^^^^^^^^ fp32
    #                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ fp16
    tl.store(x_ptr, both)
""",
    "loops and tuples": """
@triton.jit
def pair(a, b):
    return a + b, a
    #      ^^^^^^^^ (int32, int32)


@triton.jit
def k(x_ptr, n):
    total = 0.0
    for i in range(n):
    #   ^ int32
        total += tl.load(x_ptr + i)
        #        ^^^^^^^^^^^^^^^^^^ fp32
    first, second = pair(n, 2)
    #               ^^^^^^^^^^ (int32, int32)
    while first > 0:
        first -= second
        #        ^^^^^^ int32
    tl.store(x_ptr, total)
    #               ^^^^^ fp32
""",
    "made by a call, under its own name": """
def k(x_ptr):
    x = tl.load(x_ptr)
    #   ^^^^^^^^^^^^^^ fp32
    tl.store(x_ptr, x)


k = triton.jit(k)
""",
    "layouts": """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def k(x_ptr):
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    #                                     ^^^^^^ (constexpr[1], constexpr[8])
#   ^^^^ constexpr[BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0])]
    at = gl.arange(0, 64, gl.SliceLayout(1, wide))
#   ^^ tensor<64xint32, SliceLayout(dim=1, parent=BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0]))>
    row = at[:, None]
    #        ^^^^^^^
    #           ^^^^ constexpr[None]
    kept: gl.constexpr = at.type.layout
    #                    ^^^^^^^ dtype tensor<64xint32, SliceLayout(dim=1, parent=BlockedLayout(size_per_thread=[1, 8], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0]))>
    gl.store(x_ptr + at, at)
""",  # noqa: E501
    "aggregates": """
from triton.language.core import _aggregate as aggregate


@aggregate
class Inner:
    count: tl.tensor

    def __init__(self, count):
        self.count = count


@aggregate
class State:
    acc: tl.tensor
    inner: Inner
    SIDE: tl.constexpr

    def __init__(self, acc, inner, SIDE):
        self.acc = acc
        self.inner = inner
        self.SIDE = SIDE


@triton.jit
def k(x_ptr, SIDE: tl.constexpr = 16):
    #              ^^^^^^^^^^^^ class triton.language.core.constexpr
    s = State(tl.zeros([SIDE], tl.float32), Inner(tl.program_id(0)), SIDE)
#   ^ State(acc: tensor<16xfp32>, inner: Inner, SIDE: constexpr[16])
    t = s.inner
#   ^ Inner(count: int32)
    n: tl.constexpr = s.SIDE * 2
#   ^ constexpr[32]
    tl.store(x_ptr, t.count + n)
""",
    "nested, in an indented block": """
def make(SIDE):
    if True:

        @triton.jit
        def k(x_ptr):
            at = tl.arange(0, SIDE.value)
            #    ^^^^^^^^^^^^^^^^^^^^^^^^ tensor<16xint32>
            tl.store(x_ptr + at, at)

    return k


kernel = make(tl.constexpr(16))
""",
}


@pytest.mark.parametrize("case", CASES)
async def test_each_range_has_its_type(bench: Workbench, case: str):
    shown, expected = await typed(bench, f"types_{case[:6].strip().replace(',', '')}.py", CASES[case].lstrip("\n"))
    assert shown == expected


async def test_what_a_launch_finds_out_is_said(bench: Workbench):
    text = """\
# tile-lsp: x_ptr=*fp16:16 n=1 m=48 k=i32
@triton.jit
def k(x_ptr, n, m, k):
    tl.store(x_ptr + n, m + k)
"""
    await write(bench, "facts.py", text)
    records = {r.name: r for r in bench.kernel("facts.py").inference.types if r.kind == "param"}
    assert records["x_ptr"].facts == (("divisible by", "16"),)
    assert (records["n"].type, records["n"].facts) == ("constexpr[1]", (("specialised", "equal to 1"),))
    assert records["m"].facts == (("divisible by", "16"),)
    assert records["k"].facts == ()


async def test_branches_that_constants_rule_out_are_known(bench: Workbench):
    text = """\
# tile-lsp: WIDE=False
@triton.jit
def k(x_ptr, WIDE: tl.constexpr):
    if WIDE:
        x = 1.0
        y = x
    else:
        y = 2.0
    tl.store(x_ptr, y if not WIDE else x)
    return
    tl.store(x_ptr, 3.0)
"""
    await write(bench, "inactive.py", text)
    view = bench.kernel("inactive.py")
    lines = bench.text("inactive.py").split("\n")
    ranges = [view.positions.resolve(place).span for place in view.inference.inactive]
    shown = [lines[s.line - 1][s.column : s.end_column] for s in sorted(ranges)]
    assert shown == ["x = 1.0", "y = x", "x", "tl.store(x_ptr, 3.0)"]


async def test_a_comment_moves_types_and_runs_nothing(bench: Workbench):
    text = "# tile-lsp: x_ptr=*fp32\n@triton.jit\ndef k(x_ptr):\n    x = tl.load(x_ptr)\n    tl.store(x_ptr, x)\n"
    whole = await write(bench, "moved.py", text)
    bench.ran()
    await bench.edit("moved.py", whole.replace("    x = tl", "\n    # a remark\n    x  =  tl"))
    assert bench.ran() == {}
    assert bench.types_of("moved.py", "x") == {"fp32"}


async def test_a_hover_tells_the_layouts_of_what_a_name_became(bench: Workbench):
    text = """\
# tile-lsp: a_ptr=*fp16:16 c_ptr=*fp32:16 SIDE=64 num_warps=4 target=sm_80
@triton.jit
def k(a_ptr, c_ptr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    where = at[:, None] * SIDE + at[None, :]
    a = tl.load(a_ptr + where)
    acc = tl.dot(a, a)
    tl.store(c_ptr + where, acc)
"""
    await write(bench, "layouts.py", text)
    await bench.show("layouts.py", Stage.TTGIR)
    bench.session.select_job(bench.path("layouts.py"), "k", 0)
    number, line = next((i, row) for i, row in enumerate(bench.text("layouts.py").split("\n"), 1) if "acc = " in row)
    shown = hover(bench.session.snapshot(), bench.path("layouts.py"), number, line.index("acc"))
    words = str(shown.markup)
    assert "tensor<64x64xfp32>" in words
    assert "#ttg.nvidia_mma<" in words
    assert "warpsPerCTA" in words
    assert "64×64 over 4 warps of 32 threads: 32 elements a thread; 2 neighbours along dimension 1" in words


async def test_a_result_whose_operation_has_a_region_has_a_layout(bench: Workbench):
    text = """\
@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


# tile-lsp: x_ptr=*fp32:16 target=sm_80
@triton.jit
def k(x_ptr):
    at = tl.arange(0, 128)
    most = tl.associative_scan(tl.load(x_ptr + at), 0, larger)
    tl.store(x_ptr + at, most + 1)
"""
    await write(bench, "regions.py", text)
    await bench.show("regions.py", Stage.TTGIR, "k")
    bench.session.select_job(bench.path("regions.py"), "k", 0)
    number, line = next((i, row) for i, row in enumerate(bench.text("regions.py").split("\n"), 1) if "most = " in row)
    shown = hover(bench.session.snapshot(), bench.path("regions.py"), number, line.index("most"))
    assert "128 over 4 warps of 32 threads" in str(shown.markup)


@pytest.mark.parametrize(
    ("name", "said"),
    [("offs", "8 neighbours are of one thread: 32 bytes"), ("mask", ": 8 bytes"), ("x", ": 16 bytes"), ("y", ": 32 b")],
)
async def test_bytes_in_a_hover_are_those_of_the_value_and_not_of_what_it_is_made_from(
    bench: Workbench, name: str, said: str
):
    text = """\
# tile-lsp: x_ptr=*fp16:16 n=i32:16 BLOCK=1024 num_warps=4 target=sm_90
@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = x.to(tl.float32) * 2.0
    tl.store(x_ptr + offs, y, mask=mask)
"""
    await write(bench, f"bytes_of_{name}.py", text)
    path = bench.path(f"bytes_of_{name}.py")
    await bench.show(f"bytes_of_{name}.py", Stage.TTGIR)
    bench.session.select_job(path, "k", 0)
    rows = enumerate(bench.text(f"bytes_of_{name}.py").split("\n"), 1)
    number, line = next((number, row) for number, row in rows if row.startswith(f"    {name} = "))
    assert said in str(hover(bench.session.snapshot(), path, number, line.index(name)).markup)


async def test_a_module_of_a_package_is_had_by_name(bench: Workbench):
    bench.write("kit/__init__.py", "import torch\nfrom kit.host import run\n")
    bench.write("kit/host.py", "import torch\n\n\ndef run():\n    return torch.zeros(1)\n")
    bench.write("kit/device.py", HEADER + "@triton.jit\ndef row(axis):\n    return tl.program_id(axis).to(tl.int64)\n")
    text = """\
from kit import device as d, run


# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    at = d.row(0)
    tl.store(x_ptr + at, 1.0)
"""
    await write(bench, "by_name.py", text)
    assert not bench.kernel("by_name.py").faults
    assert bench.types_of("by_name.py", "at") == {"int64"}


async def test_relative_imports_may_leave_the_outermost_package(bench: Workbench):
    bench.write("space/lib.py", HEADER + "@triton.jit\ndef twice(v):\n    return v * 2\n")
    bench.write("space/inner/__init__.py", "")
    text = """\
from ..lib import twice


# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    x = twice(tl.load(x_ptr))
    tl.store(x_ptr, x)
"""
    await write(bench, "space/inner/use.py", text)
    assert not bench.kernel("space/inner/use.py").faults
    assert bench.types_of("space/inner/use.py", "x") == {"fp32"}


async def test_torch_is_not_another_vendors(bench: Workbench):
    text = """\
import torch

SIDE = tl.constexpr(16 if hasattr(torch, "npu") else 32)


# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    at = tl.arange(0, SIDE)
    tl.store(x_ptr + at, 1.0)
"""
    await write(bench, "vendors.py", text)
    assert bench.types_of("vendors.py", "at") == {"tensor<32xint32>"}


@pytest.mark.parametrize("imported", ["from packaging import version", "import packaging.version as version"])
async def test_code_that_compares_versions_chooses_the_branch_of_this_one(bench: Workbench, imported: str):
    text = f"""\
{imported}

if version.parse(triton.__version__) >= version.parse("3.1"):
    root = tl.math.sqrt
else:
    root = tl.math.no_longer_there


# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    x = root(tl.load(x_ptr))
    tl.store(x_ptr, x)
"""
    await write(bench, "branch.py", text)
    assert not bench.kernel("branch.py").faults
    assert bench.types_of("branch.py", "x") == {"fp32"}


async def test_torch_has_triton_and_its_compiler_hands_on_modules_of_tritons(bench: Workbench):
    text = """\
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch.utils._triton import has_triton

if has_triton():
    # tile-lsp: x_ptr=*fp32
    @triton.jit
    def k(x_ptr):
        x = libdevice.tanh(tl.load(x_ptr)) + tl_math.abs(libdevice.rsqrt(2.0))
        tl.store(x_ptr, x)
"""
    await write(bench, "inductor.py", text)
    assert not bench.kernel("inductor.py").faults
    assert bench.types_of("inductor.py", "x") == {"fp32"}


async def test_a_kernel_may_ask_torch_itself(bench: Workbench):
    text = """\
import torch


@triton.jit
def side():
    LEAST: tl.constexpr = torch.finfo(torch.float16).min
    return LEAST


# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    if tl.constexpr(torch.version.hip is not None):
        x = 0
    else:
        x = tl.load(x_ptr) + side()
    tl.store(x_ptr, x)
"""
    await write(bench, "asked.py", text)
    assert not bench.kernel("asked.py", "k").faults
    assert "fp32" in bench.types_of("asked.py", "x", "k")


async def test_of_several_guesses_that_fail_the_one_that_got_further_is_told(bench: Workbench):
    text = """\
import not_here_at_all as somewhere


@triton.autotune(somewhere.configs(), key=[])
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, at.no_such_thing)
"""
    await write(bench, "further.py", text)
    (fault,) = bench.kernel("further.py").faults
    assert "no_such_thing" in fault.message


GLUON = """\
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

copy_in = getattr(tma, "async_load", tma.async_copy_global_to_shared)


@gluon.jit
def offsets_of(x, y, XBLOCK: ttgl.constexpr, YBLOCK: ttgl.constexpr, layout: ttgl.constexpr):
    rows = ttgl.arange(0, XBLOCK, layout=ttgl.SliceLayout(dim=1, parent=layout))
    columns = ttgl.arange(0, YBLOCK, ttgl.SliceLayout(0, layout))
    return x * rows[:, None] + y * columns[None, :]


@gluon.jit
def block(in_ptr, out_ptr, x, y, XBLOCK: ttgl.constexpr, YBLOCK: ttgl.constexpr, wide: ttgl.constexpr,
          staging: ttgl.constexpr):
    at = offsets_of(x, y, XBLOCK, YBLOCK, wide)
    value = ttgl.load(in_ptr + at)
    staged = ttgl.allocate_shared_memory(in_ptr.dtype.element_ty, [XBLOCK, YBLOCK], staging)
    staged.store(value)
    ttgl.store(out_ptr + at, staged.load(wide))


@gluon.jit
def by_descriptor(in_desc):
    staged = ttgl.allocate_shared_memory(in_desc.dtype, in_desc.block_type.shape, in_desc.layout)
    bar = ttgl.allocate_shared_memory(ttgl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    copy_in(in_desc, [0, 0], bar, staged)
    mbarrier.wait(bar, phase=0)
"""


async def test_layouts_and_descriptors_that_nobody_gives_fit_their_use(bench: Workbench):
    await write(bench, "laid.py", GLUON)
    for kernel in ("block", "by_descriptor"):
        assert not bench.kernel("laid.py", kernel).faults
        assert (await bench.show("laid.py", Stage.SASS, kernel)).text
    (value,) = bench.types_of("laid.py", "value", "block")
    assert "threads_per_warp=[4, 8], warps_per_cta=[4, 1]" in value
    (staged,) = bench.types_of("laid.py", "staged", "by_descriptor")
    assert "NVMMASharedLayout(swizzle_byte_width=128" in staged
    bench.session.override(bench.path("laid.py"), "block", "# tile-lsp: target=gfx942 num_warps=8")
    await bench.session.inferred(bench.path("laid.py"))
    (value,) = bench.types_of("laid.py", "value", "block")
    assert "threads_per_warp=[8, 8], warps_per_cta=[8, 1]" in value
    assert "s_endpgm" in (await bench.show("laid.py", Stage.AMDGCN, "block")).text


async def test_a_launch_in_another_file_tells_constants(bench: Workbench):
    await write(
        bench,
        "apart/kernels.py",
        "@triton.jit\ndef fill(x_ptr, value, SIDE: tl.constexpr):\n    tl.store(x_ptr + tl.arange(0, SIDE), value)\n",
    )
    bench.write("apart/other.py", "def fill(x):\n    return fill[1](x, 2, SIDE=8)\n")
    launch = "from kernels import fill as f\n\n\ndef run(x):\n    f[(1,)](x, 2.0, SIDE={}, num_warps=2)\n"
    bench.write("apart/ops.py", launch.format(512))
    bench.session.files_changed([bench.path("apart/ops.py"), bench.path("apart/other.py")])
    await bench.edit("apart/kernels.py", bench.text("apart/kernels.py") + "\n")

    def told() -> tuple[str, str, object]:
        job = bench.kernel("apart/kernels.py").job
        (side,) = [one for one in job.arguments if one.argument.name == "SIDE"]
        return side.argument.spec, side.detail, dict(job.job.config.hints).get("num_warps")

    assert told() == ("512", "ops.py:5", 2)
    await bench.open("apart/ops.py")
    await bench.edit("apart/ops.py", launch.format(64))
    await bench.session.inferred(bench.path("apart/kernels.py"))
    assert told()[0] == "64"


async def test_what_a_file_near_calls_is_no_kernel(bench: Workbench):
    bench.write(
        "users.py",
        HEADER
        + """\
from lent import begin as start, put
from elsewhere import alone


@triton.jit
def k(out):
    put(out, 1, 2)
    alone(out)


def run(out):
    start[(1,)](out)
""",
    )
    text = """\
@triton.jit
def put(out, at, value):
    tl.store(out + at, value)


@triton.jit
def begin(out):
    tl.store(out, 0)


@triton.jit
def alone(out):
    tl.store(out, 1)
"""
    await write(bench, "lent.py", text)
    kernels = bench.session.snapshot().files[bench.path("lent.py")].kernels
    assert [kernel.name for kernel in kernels] == ["begin", "alone"]


async def test_heuristics_ask_whether_there_is_an_array(bench: Workbench):
    text = """\
import torch


@triton.heuristics({
    "LOADED": lambda args: isinstance(args["count"], torch.Tensor),
    "BIASED": lambda args: args["bias"] is not None,
})
@triton.jit
def k(x_ptr, count, bias, LOADED: tl.constexpr, BIASED: tl.constexpr):
    n = tl.load(count) if LOADED else count
    if BIASED:
        tl.static_assert(False, "not with a bias")
        n += tl.load(bias)
    tl.store(x_ptr, n)
"""
    await write(bench, "asked.py", text)
    assert not bench.kernel("asked.py").faults
    (bias,) = [one for one in bench.kernel("asked.py").job.arguments if one.argument.name == "bias"]
    assert (bias.argument.spec, bias.detail) == ("None", "what was assumed first does not compile")


async def test_what_mended_one_config_is_tried_first_for_the_next(bench: Workbench):
    text = """\
@triton.autotune([triton.Config({"SIDE": side}) for side in (16, 32, 64, 128)], key=[])
@triton.jit
def k(x_ptr, SIDE: tl.constexpr, COUNT: tl.constexpr):
    tl.static_assert(COUNT % 4 == 2)
    tl.store(x_ptr + tl.arange(0, SIDE), COUNT)
"""
    bench.ran()
    await write(bench, "mended.py", text)

    def counts() -> list[str]:
        arguments = [a.argument for job in bench.kernel("mended.py").jobs for a in job.arguments]
        return [argument.spec for argument in arguments if argument.name == "COUNT"]

    async with asyncio.timeout(PATIENCE):
        while counts() != ["2"] * 4:  # noqa: ASYNC110  other configs are nobody's to wait for
            await asyncio.sleep(0.05)
    # The first config goes through the guesses; each of the others takes two.
    assert bench.ran()["inferences"] < 20 + 2 * 3


FUNCTION = (
    HEADER
    + """
@triton.jit
def half(x):
    return x.to(tl.float16)


@triton.jit
def through(x, fn: tl.constexpr):
    return fn(x)


@triton.jit
def k(x, fn: tl.constexpr):
    y = through(tl.load(x), fn)
    tl.store(x, y)
"""
)


@pytest.mark.parametrize(("launch", "expected"), [("", "fp32"), ("\n\ndef f(x):\n    k[(1,)](x, half)\n", "fp16")])
async def test_a_function_that_is_only_passed_on(bench: Workbench, launch: str, expected: str):
    name = f"passed{len(launch)}.py"
    bench.write(name, FUNCTION + launch)
    await bench.open(name)
    assert not bench.kernel(name, "k").faults
    assert bench.types_of(name, "y", "k") == {expected}


#: Texts whose kernel `k` is made only where a question about the compiler is answered as it should be.
PREPARED = {
    "a stand-in for where there is none": """
try:
    import triton
    import triton.language as tl
except ImportError:
    from unittest.mock import MagicMock

    triton = tl = MagicMock()


@triton.heuristics({"HAS": lambda given: given["y_ptr"] is not None})
@triton.jit
def k(x_ptr, y_ptr, HAS: tl.constexpr):
    x = tl.load(y_ptr) if HAS else 0.0
    tl.store(x_ptr, x)
""",
    "a library that is asked": """
from somewhere import is_triton_available, package_available

if is_triton_available() and package_available("triton"):
    import triton
    import triton.language as tl

    @triton.jit
    def k(x_ptr):
        x = tl.load(x_ptr)
        tl.store(x_ptr, x)
""",
}


@pytest.mark.parametrize("case", PREPARED)
async def test_files_that_are_prepared_for_the_compiler_to_be_missing(bench: Workbench, case: str):
    name = f"prepared_{case.split()[1]}.py"
    bench.write(name, PREPARED[case])
    await bench.open(name)
    assert not bench.kernel(name).faults
    assert bench.types_of(name, "x") == {"fp32"}


async def test_a_default_that_triton_assigns_has_no_place_and_is_no_fault(bench: Workbench):
    await write(
        bench,
        "defaults.py",
        """
@triton.jit
def k(x_ptr, y_ptr: tl.tensor = None, SIDE: tl.constexpr = 16):
    at = tl.arange(0, SIDE)
    if y_ptr is not None:
        at += tl.load(y_ptr)
    tl.store(x_ptr + at, 1.0)
""",
    )
    assert not bench.kernel("defaults.py").faults
    assert bench.types_of("defaults.py", "at") == {"tensor<16xint32>"}


async def test_a_constant_that_no_hint_has_room_for_has_none(bench: Workbench):
    text = """\
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def k(x_ptr):
    LANES: gl.constexpr = 4 * 8
    WIDE: gl.constexpr = gl.BlockedLayout([1], [LANES], [4], [0])
    at = gl.arange(0, 128, WIDE)
    gl.store(x_ptr + at, at)
"""
    await write(bench, "hints.py", text)
    hints = inlay_hints(bench.session.snapshot(), bench.path("hints.py"), 1, 20)
    assert [hint.label for hint in hints] == [
        ": constexpr[32]",
        ": tensor<128xint32, BlockedLayout(size_per_thread=[1], thre…",
    ]


PRUNED = """
def prune(configs, given, **constants):
    return {kept}


@triton.autotune([triton.Config({{"BLOCK": size}}) for size in (16, 256)], key=["n"], prune_configs_by={{"early_config_prune": prune}})
@triton.jit
def k(x_ptr, n, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK) < n)
    tl.store(x_ptr + tl.arange(0, BLOCK), x)


def f(x, n):
    k[(1,)](x, n, SIDE=64)
"""  # noqa: E501


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("configs", [(), ()]),
        ('[c for c in configs if c.kwargs["BLOCK"] <= constants["SIDE"]]', [(), ("dropped by", "early_config_prune")]),
        (
            '[c for c in configs if c.kwargs["BLOCK"] <= given["n"]]',
            [("kept or not by", "early_config_prune")] * 2,
        ),
        ("[c for c in configs if c.num_warps == 4][:1]", [(), ("dropped by", "early_config_prune")]),
    ],
    ids=["all", "by a constant", "by what a launch passes", "the first"],
)
async def test_configs_that_pruning_drops_are_told(bench: Workbench, kept: str, expected: list[tuple[str, ...]]):
    name = f"pruned{len(kept)}.py"
    await write(bench, name, PRUNED.format(kept=kept))
    for index, facts in enumerate(expected):
        bench.session.select_job(bench.path(name), "k", index)
        await bench.session.inferred(bench.path(name))
        kernel = bench.kernel(name, "k")
        assert not kernel.faults
        (block,) = [one for one in kernel.inference.types if (one.name, one.kind) == ("BLOCK", "param")]
        assert block.constant == ("16", "256")[index]
        assert block.facts == ((facts,) if facts else ())
