from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workbench import Workbench, workbench
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from .carets import faulty, write

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {
    "name": """
@triton.jit
def k(x_ptr):
    tl.store(x_ptr, yy)
    #               ^^ error: yy is not defined
""",
    "shapes": """
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    a = tl.arange(0, 16)
    b = tl.arange(0, 32) + a
    #   ^^^^^^^^^^^^^^^^^^^^ error: Cannot make_shape_compatible: incompatible dimensions at index 0: 32 and 16
    tl.store(x_ptr + a, b)
""",
    "in a helper": """
@triton.jit
def inner(a, b):
    return tl.dot(a, b)
    #      ^^^^^^^^^^^^ error: input and other must have equal reduction dimensions


@triton.jit
def outer(a):
    return inner(a, a)
    #      ^^^^^^^^^^^ called from here


@triton.jit
def k(x_ptr):
    x = tl.zeros((32, 64), tl.float16)
    tl.store(x_ptr, tl.sum(outer(x)))
    #                      ^^^^^^^^ called from here
""",
    "assertion": """
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 4096, "BLOCK is too small")
    # ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: BLOCK is too small
    tl.store(x_ptr, 1.0)
""".replace("    # ^^", "#   ^^^^"),
    "recursion": """
@triton.jit
def even(n):
    return odd(n - 1)
    #      ^^^^^^^^^^ called from here


@triton.jit
def odd(n):
    return even(n - 1)
    #      ^^^^^^^^^^^ error: recursion is not supported: this calls a function that is still being compiled


@triton.jit
def k(x_ptr, n):
    tl.store(x_ptr, even(n))
    #               ^^^^^^^ called from here
""",
    "attribute of the language": """
@triton.jit
def k(x_ptr):
    tl.store(x_ptr, tl.sigmoyd(1.0))
    #               ^^^^^^^^^^ error: module 'triton.language' has no attribute 'sigmoyd'
""",
    "what MLIR prints": """
@triton.jit
def add(a, b):
    return (a + b).to(tl.int32)


@triton.jit
def k(x_ptr):
    x = tl.arange(0, 16).to(tl.int64)
    tl.store(x_ptr, tl.reduce(x, 0, add))
    #               ^^^^^^^^^^^^^^^^^^^^ error: 'tt.reduce' op type mismatch on combine operation. {}
""".replace("{}", "Expected argument 0 to have type 'i64' but got 'i32'"),
    "statement": """
@triton.jit
def k(x_ptr):
    try:
#   ^^^^ error: unsupported AST node type: Try
        tl.store(x_ptr, 1.0)
    finally:
        pass
""",
}


@pytest.mark.parametrize("case", [case for case in CASES if case != "statement"])
async def test_a_fault_stands_at_its_exact_range_with_its_callers(bench: Workbench, case: str):
    shown, expected = await faulty(bench, f"fault_{case.replace(' ', '_')}.py", CASES[case].lstrip("\n"))
    assert shown == expected


async def code_fault(bench: Workbench, name: str, text: str, kernel: str = "k", stage: Stage = Stage.SASS) -> Fault:
    await write(bench, name, text)
    shown = await bench.session.artifact(bench.path(name), kernel, stage)
    assert isinstance(shown, Fault), shown
    return shown


def marked(bench: Workbench, name: str, fault: Fault) -> str:
    """The line that a fault is shown at."""
    place = bench.kernel(name).positions.chain(fault.chain)[0]
    return bench.text(name).split("\n")[place.span.line - 1].strip()


async def test_what_a_kernel_calls_of_a_library_that_is_not_there_is_told_at_the_call(bench: Workbench):
    text = """\
import torch
import torch._inductor.runtime.triton_helpers as helpers


# tile-lsp: x_ptr=*fp32
@triton.jit
def by_module(x_ptr):
    x = helpers.promote_to_tensor(1.0)
    tl.store(x_ptr, x)


# tile-lsp: x_ptr=*fp32
@triton.jit
def by_attribute(x_ptr):
    y = torch.ops.higher_order(1.0)
    tl.store(x_ptr, y)
"""
    await write(bench, "called.py", text)
    for kernel, name in (("by_module", "helpers.promote_to_tensor"), ("by_attribute", "torch.ops")):
        (fault,) = bench.kernel("called.py", kernel).faults
        assert fault.message.startswith(f"`{name}"), fault
        assert "is not there: torch is not installed" in fault.message
        place = bench.kernel("called.py", kernel).positions.chain(fault.chain)[0]
        assert name in bench.text("called.py").split("\n")[place.span.line - 1]


async def test_a_number_of_any_length_is_the_compilers_to_refuse(bench: Workbench):
    text = f"""\
# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    most: tl.constexpr = 0x{"f" * 9000}
    tl.store(x_ptr, most)
"""
    await write(bench, "long.py", text)
    (fault,) = bench.kernel("long.py").faults
    assert fault.kind is FaultKind.USER
    assert "internal error" not in fault.message


INVALID = """\
# tile-lsp: x_ptr=*fp32:16
@triton.jit
def k(x_ptr):
    i = tl.arange(0, 64)
    x = tl.inline_asm_elementwise("neg.f32 $0, $1;", "=r,r", [tl.load(x_ptr + i)], tl.float32, True, pack=7)
    tl.store(x_ptr + i, x)
"""


async def test_what_is_not_valid_though_all_types_are_known_comes_back_to_its_line(bench: Workbench):
    fault = await code_fault(bench, "invalid.py", INVALID)
    assert fault.message == "number of input elements 64 must be a multiple of the op's packed_element attribute, 7"
    assert marked(bench, "invalid.py", fault).startswith("x = tl.inline_asm_elementwise")
    assert bench.kernel("invalid.py").inference.types  # which are true all the same


async def test_what_is_not_valid_is_told_unasked_without_a_target(bench: Workbench, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    python = bench.session.settings.python
    async with workbench(tmp_path, {}, python=python, idle_delay=0.0) as other:
        await write(other, "invalid.py", INVALID)
        await other.session.settled()
        (item,) = diagnostics(other.session.snapshot())[other.path("invalid.py")]
        assert "packed_element attribute" in item.message
        assert other.text("invalid.py").split("\n")[item.span.line - 1].startswith("    x = tl.inline_asm")
        await write(other, "valid.py", INVALID.replace("pack=7", "pack=1"))
        await other.session.settled()
        assert not diagnostics(other.session.snapshot())[other.path("valid.py")]
        assert other.session.stats().codegens == 1  # of the invalid one, which ended before any code


async def test_a_pass_that_crashes_says_which_and_why(bench: Workbench):
    text = """\
# tile-lsp: a=*fp16:16 o=*fp32:16 K=i32:16 M=64 target=sm_90
@triton.jit
def k(a, o, K, M: tl.constexpr):
    i = tl.arange(0, M)
    acc = tl.zeros([M, M], dtype=tl.float32)
    for k in tl.range(0, K, M, warp_specialize=True):
        x = tl.load(a + i[:, None] * K + i[None, :] + k)
        acc = tl.dot(x, tl.trans(x), acc)
    tl.store(o + i[:, None] * M + i[None, :], acc)
"""
    fault = await code_fault(bench, "crashing.py", text, stage=Stage.TTGIR)
    assert fault.message.startswith("triton's own pass NVGPUWarpSpecialization failed: ")


async def test_a_ptxas_error_comes_back_to_its_line(bench: Workbench):
    text = """\
@triton.jit
def k(x_ptr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("bogus.f32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(x_ptr + at, y)
"""
    fault = await code_fault(bench, "ptxas.py", text)
    assert fault.kind is FaultKind.USER
    assert "bogus" in fault.message
    assert "/tmp" not in fault.message
    assert marked(bench, "ptxas.py", fault).startswith("y = tl.inline_asm")


SMEM = """\
# tile-lsp: x_ptr=*fp32:16 SIDE=256 num_warps=8
@triton.jit
def k(x_ptr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    a = tl.load(x_ptr + at[:, None] * SIDE + at[None, :]).to(tl.float16)
    b = tl.load(x_ptr + at[:, None] + at[None, :] * SIDE).to(tl.float16)
    tl.store(x_ptr + at[:, None] * SIDE + at[None, :], tl.dot(a, b).to(tl.float16))
"""


async def test_more_shared_memory_than_there_is_is_said_and_the_ir_is_still_shown(bench: Workbench):
    fault = await code_fault(bench, "smem.py", SMEM)
    assert fault.kind is FaultKind.USER
    assert "shared memory" in fault.message
    assert "232448" in fault.message
    assert "ttg.local_alloc" in (await bench.show("smem.py", Stage.TTGIR)).text
    assert (await bench.show("smem.py", Stage.PTX)).text


TUNED = """\
# tile-lsp: x_ptr=*fp32:16
@triton.autotune([{configs}], key=[])
@triton.jit
def k(x_ptr, SIDE: tl.constexpr):
    tl.static_assert(SIDE != 32, "no side of 32")
    at = tl.arange(0, SIDE)
    a = tl.load(x_ptr + at[:, None] * SIDE + at[None, :]).to(tl.float16)
    b = tl.load(x_ptr + at[:, None] + at[None, :] * SIDE).to(tl.float16)
    tl.store(x_ptr + at[:, None] * SIDE + at[None, :], tl.dot(a, b).to(tl.float16))
"""
REFUSED, NOT_TAKEN = "a launch would be refused", "autotuning passes over this config"


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        ((64, 256), {"error": 0, "information": 1}),
        ((64, 32, 256), {"error": 0, "information": 2}),
        ((32, 64), {"error": 0, "information": 1}),
        ((256,), {"error": 1, "information": 0}),
        ((32, 256), {"error": 2, "information": 0}),
    ],
)
async def test_a_config_that_autotuning_passes_over_is_no_error(bench: Workbench, sides: tuple, told: dict):
    configs = ", ".join(f'triton.Config({{"SIDE": {side}}}, num_warps=8)' for side in sides)
    name = f"tuned_{'_'.join(map(str, sides))}.py"
    await write(bench, name, TUNED.format(configs=configs))
    for job in bench.kernel(name).jobs:
        await bench.session.artifact(bench.path(name), "k", Stage.RESOURCES, job.job)
    found = diagnostics(bench.session.snapshot())[bench.path(name)]
    assert {one: sum(item.severity == one for item in found) for one in told} == told
    for item in found:
        passed_over = item.severity == "information"
        assert (NOT_TAKEN in item.message) is passed_over
        assert not passed_over or REFUSED not in item.message


async def test_what_ptxas_says_is_told_once_for_each_cause_and_line(bench: Workbench):
    text = """\
@triton.jit
def k(x_ptr):
    at = tl.arange(0, 4096)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("bogus.f32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=False, pack=1)
    z = tl.inline_asm_elementwise("mov.f32 $0, none;", "=r,r", [y], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(x_ptr + at, z)
"""
    fault = await code_fault(bench, "ptxas_twice.py", text)
    found = diagnostics(bench.session.snapshot())[bench.path("ptxas_twice.py")]
    assert len(found) == len(fault.each) == len({(item.span, item.message) for item in found})
    by_line = {bench.text("ptxas_twice.py").split("\n")[item.span.line - 1].split("=")[0].strip() for item in found}
    assert by_line == {"y", "z"}
    assert len(found) <= 4
    assert all("32 times in the PTX, first in line " in item.message for item in found)


IMPORTS = "import triton\nimport triton.language as tl\n"


async def test_an_import_that_python_refuses_since_it_leads_back_is_told_where_it_stands(bench: Workbench):
    bench.write("back.py", f"{IMPORTS}from circle import SCALE\n\n\n@triton.jit\ndef twice(x):\n    return x * SCALE\n")
    text = """\
from back import twice
SCALE = tl.constexpr(2)

# tile-lsp: x_ptr=*fp32
@triton.jit
def k(x_ptr):
    tl.store(x_ptr, twice(1.0))
"""
    await write(bench, "circle.py", text)
    (fault,) = bench.kernel("circle.py").faults
    assert fault.message.startswith(
        "ImportError: cannot import name 'SCALE' from partially initialized module 'circle'"
    )
    places = bench.kernel("circle.py").positions.chain(fault.chain)
    assert [(Path(place.path).name, place.span.line) for place in places] == [("back.py", 3), ("circle.py", 5)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SCALE = tl.constexpr(2)\nfrom {other} import twice", "from {other} import SCALE\n{twice}"),
        # Those who launch the kernel import the other one first.
        ("from {other} import twice\nSCALE = tl.constexpr(2)", "{twice}\nfrom {other} import SCALE\nWIDE = SCALE"),
        ("import {other}\nfrom {other} import twice\nSCALE = tl.constexpr(2)", "import {other}\n{twice}"),
    ],
)
async def test_imports_in_a_circle_that_python_bears(bench: Workbench, first: str, second: str):
    name = f"ring_{len(first)}_{len(second)}"
    twice = "@triton.jit\ndef twice(x):\n    return x * SCALE\n"
    if "WIDE" in second:
        twice = twice.replace("SCALE", "WIDE")
    elif "from" not in second:
        twice = twice.replace("SCALE", f"{name}.SCALE")
    bench.write(f"{name}_other.py", IMPORTS + second.format(other=name, twice=twice))
    kernel = "\n\n# tile-lsp: x_ptr=*fp32\n@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, twice(1.0) * SCALE)\n"
    await write(bench, f"{name}.py", first.format(other=f"{name}_other") + kernel)
    assert not bench.kernel(f"{name}.py").faults


@pytest.mark.parametrize(
    ("comment", "word", "message"),
    [
        ("num_wraps=8", "num_wraps", "did you mean `num_warps`?"),
        ("num_warps=64", "64", "1024 threads"),
        ("num_warps=3", "3", "a power of two"),
        ("BLOK=64", "BLOK", "did you mean `BLOCK`?"),
        ("BLOCK=*fp32", "*fp32", "is a constexpr: give it a value"),
        ("x_ptr=*fp33", "fp33", "did you mean `fp32`?"),
        ("x_ptr=*fp32:8", ":8", "write :16"),
        ("target=sm_91", "sm_91", "does not compile for sm_91"),
        ("target=sm_88", "sm_88", "sm_87 and sm_89 are near"),
        ("target=sm_90a", "sm_90a", "write sm_90"),
    ],
)
async def test_a_wrong_word_of_a_comment_is_marked(bench: Workbench, comment: str, word: str, message: str):
    text = f"# tile-lsp: {comment}\n@triton.jit\ndef k(x_ptr, BLOCK: tl.constexpr):\n    tl.store(x_ptr, BLOCK)\n"
    await write(bench, "words.py", text)
    (problem,) = bench.session.snapshot().files[bench.path("words.py")].problems
    line = bench.text("words.py").split("\n")[problem.span.line - 1]
    assert line[problem.span.column : problem.span.end_column] == word
    assert message in problem.message


async def test_an_option_that_this_version_lacks_is_said(bench: Workbench):
    text = "# tile-lsp: waves_per_eu=2 target=sm_90\n@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, 1.0)\n"
    await write(bench, "unread.py", text)
    shown = await bench.session.artifact(bench.path("unread.py"), "k", Stage.SASS)
    # It is another backend's option: read there, without effect here.
    assert not isinstance(shown, Fault)


async def test_an_api_that_is_gone_says_what_to_use(bench: Workbench):
    text = """\
@triton.jit
def k(x_ptr):
    p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (64,), (0,))
    tl.store(p, tl.load(p))
"""
    await write(bench, "gone.py", text)
    faults = bench.kernel("gone.py").faults
    if bench.release < (3, 9):
        assert not faults
    else:
        (fault,) = faults
        assert "tensor descriptor" in f"{fault.message} {fault.help}"
        assert marked(bench, "gone.py", fault).startswith("p = tl.make_block_ptr")


async def test_a_function_that_moved_says_where_to(bench: Workbench):
    text = "@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, tl.tanh(tl.load(x_ptr)))\n"
    await write(bench, "moved_function.py", text)
    (fault,) = bench.kernel("moved_function.py").faults
    assert "from triton.language.extra import libdevice" in (fault.help or "")
    assert "tl.tanh" in marked(bench, "moved_function.py", fault)


WORDLESS = {
    "for these arguments it does not hold": """
# tile-lsp: x_ptr=*fp32:16 BLOCK=64
@triton.jit
def k(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 4096)
    tl.store(x_ptr, 1.0)
""",
    "JIT functions do not support **meta parameters": """
@triton.jit
def k(x_ptr, **meta):
    tl.store(x_ptr, meta["BLOCK"])
""",
    "'tuple_type' object has no attribute": """
# tile-lsp: x_ptr=*fp32:16
@triton.jit
def k(x_ptr):
    at = (x_ptr,)
    tl.store(x_ptr, tl.load(at))
""",
    "arange's arguments must be of type tl.constexpr": """
@triton.jit
def k(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, n), 1.0)
""",
}


@pytest.mark.parametrize("message", WORDLESS)
async def test_a_fault_says_what_is_wrong_and_what_mends_it(bench: Workbench, message: str):
    if "meta" in message and bench.release < (3, 9):
        pytest.skip("it takes them, and has no word for them in the kernel")
    name = f"wordless_{list(WORDLESS).index(message)}.py"
    await write(bench, name, WORDLESS[message])
    (fault,) = bench.kernel(name).faults
    assert message in fault.message
    assert fault.help
