"""The cache's rules on Triton, asserted on what ran."""

from __future__ import annotations

import pytest

from tests.support.workbench import Workbench
from tile_lsp.frontends.triton import Triton
from tile_lsp.model.job import Argument, Config
from tile_lsp.model.stage import Stage

from .carets import HEADER

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCALE = """\
@triton.jit
def twice(x):
    return x * 2.0


@triton.jit
def thrice(x):
    return x * 3.0


# tile-lsp: x_ptr=*fp32:16 N=16 num_warps=1 target=sm_90
@triton.jit
def scale(x_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x_ptr + at)
    if N == 16:
        b = twice(a)
    else:
        b = thrice(a)
    tl.store(x_ptr + at, b)
"""


async def fresh(bench: Workbench, name: str) -> str:
    """The file as a text that no other test compiled."""
    text = HEADER + SCALE.replace("x * 2.0", f"x * {len(name)}.25 + {sum(name.encode())}.0")
    bench.write(name, text)
    await bench.open(name)
    bench.ran()
    return text


async def test_another_config_infers_nothing(bench: Workbench):
    name = "config.py"
    text = await fresh(bench, name)
    await bench.show(name, Stage.SASS)
    assert bench.ran()["codegens"] == 1
    for change in ("num_warps=2 target=sm_90", "num_warps=1 target=sm_100", "num_warps=1 num_stages=1 target=sm_80"):
        await bench.edit(name, text.replace("num_warps=1 target=sm_90", change))
        await bench.show(name, Stage.SASS)
        ran = bench.ran()
        assert "inferences" not in ran
        assert ran["codegens"] == 1


async def test_another_constant_infers_and_the_first_is_still_there(bench: Workbench):
    name = "constant.py"
    text = await fresh(bench, name)
    await bench.edit(name, text.replace("N=16", "N=32"))
    assert bench.ran() == {"inferences": 1}
    await bench.edit(name, text)
    assert bench.ran() == {}


async def test_edits_that_keep_the_meaning_run_nothing(bench: Workbench):
    name = "cosmetic.py"
    text = await fresh(bench, name)
    await bench.show(name, Stage.SASS)
    bench.ran()
    moved = text.replace("    a = tl", "    # a remark\n\n    a  =  tl").replace(
        "@triton.jit\ndef twice", "\n\n@triton.jit\ndef twice"
    )
    await bench.edit(name, moved + "\n\nunrelated = 1\n")
    listing = await bench.show(name, Stage.SASS)
    assert bench.ran() == {}
    place = next(chain[0] for line in listing.lines for chain in line if chain[0].line == 4)
    span = bench.kernel(name).positions.resolve(place).span
    assert bench.text(name).split("\n")[span.line - 1].strip() == "a  =  tl.load(x_ptr + at)"


async def test_a_helper_counts_only_where_it_is_reached(bench: Workbench):
    name = "helper.py"
    text = await fresh(bench, name)
    await bench.edit(name, text.replace("x * 3.0", "x * 3.5"))
    assert bench.ran() == {}
    await bench.edit(name, text.replace(" + ", " - ", 1))
    assert bench.ran() == {"inferences": 1}


async def test_inference_reads_as_much_of_the_target_as_the_kernel_can_tell():
    frontend = Triton()
    plain = [Argument("x", "*fp16:16")]
    assert frontend.inference_fields(Config("sm_90", (("num_warps", 8), ("num_stages", 2))), None, plain) == {}
    assert frontend.inference_fields(Config("sm_90", (("debug", True),)), None, plain) == {"debug": True}
    small = [Argument("x", "*fp8e4nv:16")]
    fields = {target: frontend.inference_fields(Config(target), None, small) for target in ("sm_80", "sm_87", "sm_120")}
    assert fields == {"sm_80": {"target": "sm_80"}, "sm_87": {"target": "sm_80"}, "sm_120": {"target": "sm_100"}}
    assert frontend.inference_fields(Config("gfx942"), None, plain) == {"target": "gfx942"}


@pytest.mark.slow
async def test_ttir_is_the_same_for_all_that_share_it(bench: Workbench):
    """What the keys claim, checked on the text: another target's own inference gives the same TTIR."""
    name = "claim.py"
    text = await fresh(bench, name)
    texts = set()
    for index, (target, more) in enumerate((("sm_80", ""), ("sm_90", "num_stages=5"), ("sm_120", "maxnreg=64"))):
        # A word in the text that asks for the target makes each an inference of its own.
        asking = text.replace("    a = tl", f"    tl.static_assert({index} < 9, 'is_cuda')\n    a = tl")
        await bench.edit(name, asking.replace("num_warps=1 target=sm_90", f"{more} target={target}"))
        assert bench.ran() == {"inferences": 1}
        texts.add((await bench.show(name, Stage.TTIR)).text)
    assert len(texts) == 1
