"""Arguments that nobody gives, worked out from the faults that the first guesses end in."""

from __future__ import annotations

import pytest

from tests.support.workbench import Workbench
from tile_lsp.model.stage import Stage

from .carets import write

pytestmark = pytest.mark.asyncio(loop_scope="module")

#: Kernel → how arguments that it has in the end are written, at their ends, of those that matter.
CASES = {
    "a dtype that the kernel casts to": (
        """
@triton.jit
def k(x_ptr, w_ptr, y_ptr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    w = tl.load(w_ptr + at).to(tl.float32).to(tl.bfloat16)
    tl.store(y_ptr + at, tl.dot(tl.load(x_ptr + at), w))
""",
        {"x_ptr": "*bf16:16", "SIDE": "64"},
    ),
    "a number of groups": (
        """
@triton.jit
def k(x_ptr, LENGTH: tl.constexpr, GROUPS: tl.constexpr):
    at = tl.arange(0, LENGTH)
    x = tl.reshape(tl.load(x_ptr + at), [GROUPS, 32])
    tl.store(x_ptr + at, tl.reshape(x * 2, [LENGTH]))
""",
        {"LENGTH": "64", "GROUPS": "2"},
    ),
    "what a helper asserts": (
        """
@triton.jit
def shared(x, WIDTH: tl.constexpr, PARTS: tl.constexpr):
    tl.static_assert(WIDTH >= 2 * PARTS)
    return x * WIDTH


@triton.jit
def k(x_ptr, WIDE: tl.constexpr, COUNT: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(x_ptr + at, shared(tl.load(x_ptr + at), PARTS=COUNT, WIDTH=WIDE))
""",
        {"WIDE": "128", "COUNT": "64"},
    ),
    "a dtype that a loop keeps": (
        """
@triton.jit
def k(x_ptr, n, KEPT: tl.constexpr, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)
    most = tl.full([SIDE], 0.0, dtype=KEPT)
    for i in range(n):
        most = tl.maximum(most, tl.load(x_ptr + at + i).to(tl.float32))
    tl.store(x_ptr + at, most)
""",
        {"KEPT": "fp32"},
    ),
    "a name that a branch binds": (
        """
@triton.jit
def k(x_ptr, PACKED: tl.constexpr):
    if PACKED * 3 == 48:
        items = 1
    at = tl.arange(0, 16) * items
    tl.store(x_ptr + at, 1.0)
""",
        {"PACKED": "16"},
    ),
    "a tuple's length": (
        """
@triton.jit
def offset(at, strides: tl.constexpr):
    tl.static_assert(len(strides) == 3, "lengths must be equal")
    total = at
    for i in tl.static_range(len(strides)):
        total += at * strides[i]
    return total


@triton.jit
def k(x_ptr, X_STRIDES: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(x_ptr + offset(at, X_STRIDES) + at * X_STRIDES[0], 1.0)
""",
        {"X_STRIDES": ",64)"},
    ),
    "an address that is cast to a pointer": (
        """
@triton.jit
def there(base, x_ptr):
    return tl.cast(tl.cast(tl.load(base), tl.pointer_type(tl.int8)) + 16, x_ptr.dtype)


@triton.jit
def k(x_ptr, base):
    tl.store(there(base, x_ptr), 1.0)
""",
        {"base": "*i64:16"},
    ),
    "the block of a descriptor": (
        """
@triton.jit
def k(x_ptr, y, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)[:, None] * 128 + tl.arange(0, 128)[None, :]
    y.store([0, 0], tl.load(x_ptr + at))
""",
        {"y": ",128]>"},
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_fault_says_what_to_try(bench: Workbench, case: str):
    text, expected = CASES[case]
    name = f"mend_{case.replace(' ', '_')}.py"
    await write(bench, name, text)
    view = bench.kernel(name)
    assert not view.faults
    assert view.job is not None
    given = {one.argument.name: one.argument.spec for one in view.job.arguments}
    assert {key: given[key][-len(end) :] for key, end in expected.items()} == expected
    assert (await bench.show(name, Stage.TTIR)).text


HOPELESS = """
@triton.jit
def k(x_ptr, SIDE: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, SIDE))
    tl.store(x_ptr + tl.arange(0, SIDE), %s)
"""


async def test_what_no_argument_mends_is_tried_with_few(bench: Workbench):
    await write(bench, "hopeless.py", HOPELESS % "x + yy")
    bench.ran()
    await bench.edit("hopeless.py", bench.text("hopeless.py").replace("x + yy", "x + zz"))
    (fault,) = bench.kernel("hopeless.py").faults
    assert "zz is not defined" in fault.message
    named = bench.ran()["inferences"]
    await bench.edit("hopeless.py", bench.text("hopeless.py").replace("x + zz", "tl.reshape(x, [SIDE + 1])"))
    assert bench.kernel("hopeless.py").faults
    # The lengths of blocks are tried, and then it is given up.
    assert named < bench.ran()["inferences"] <= named + 60


TOO_LARGE = """
@triton.jit
def k(x_ptr, y_ptr, z_ptr, n, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    total = tl.zeros([SIDE, SIDE], tl.float32)
    for i in range(n):
        total += tl.dot(tl.load(x_ptr + at + i * SIDE), tl.load(y_ptr + at + i * SIDE))
    tl.store(z_ptr + at, total)


def launch(x, y, z, n, side):
    k[(1,)](x, y, z, n, SIDE=side, num_stages=16)
"""


async def test_what_no_launch_could_have_is_not_assumed(bench: Workbench):
    await write(bench, "too_large.py", TOO_LARGE)
    view = bench.kernel("too_large.py")
    assert view.job is not None
    assert view.job.arguments[-1].argument.spec == "64"
    assert (await bench.show("too_large.py", Stage.SASS, job=view.job.job)).text
    view = bench.kernel("too_large.py")
    assert view.job is not None
    assert view.job.arguments[-1].argument.spec == "32"
    assert not view.faults
