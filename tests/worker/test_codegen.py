"""From one held IR, bytecode for any hints and targets; of a config, inference reads the bytecode version alone."""

from __future__ import annotations

import pytest

from tests.support.workers import Bench
from tile_lsp.engine.workers import CodegenRequest, Generated
from tile_lsp.model.outcome import Fault, FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL = """
@ct.kernel({options})
def kernel(a, b, T: ct.Constant[int]):
    x = ct.load(a, (ct.bid(0), 0), (T, T))
    ct.store(b, (ct.bid(0), 0), x * 2)
"""
ARGUMENTS = "a=f16[512,512] b=f16[512,512] T=32"


async def generate(bench: Bench, source: str, arguments: str = ARGUMENTS, **request) -> Generated:
    generated = await bench.pool.codegen(await bench.held(source, arguments), CodegenRequest(**request))
    assert isinstance(generated, Generated), generated
    return generated


async def test_one_ir_gives_the_same_bytecode_each_time_and_another_for_other_hints(bench: Bench):
    holder = await bench.held(KERNEL.format(options=""), ARGUMENTS)
    requests = [
        CodegenRequest(hints={}, symbol="kernel"),
        CodegenRequest(hints={"num_ctas": 2}, symbol="kernel"),
        CodegenRequest(hints={"occupancy": 4}, symbol="kernel"),
        CodegenRequest(hints={}, symbol="other"),
    ]
    first = [(await bench.pool.codegen(holder, request)).blobs["bytecode"] for request in requests]
    again = [(await bench.pool.codegen(holder, request)).blobs["bytecode"] for request in requests]
    assert first == again
    assert len(set(first)) == len(first)
    fresh = await generate(bench, KERNEL.format(options=""), symbol="kernel")
    assert fresh.blobs["bytecode"] == first[0]


async def test_a_hint_that_is_absent_is_the_kernel_s_own(bench: Bench):
    own = await generate(bench, KERNEL.format(options="num_ctas=2"), symbol="kernel")
    given = await generate(bench, KERNEL.format(options=""), symbol="kernel", hints={"num_ctas": 2})
    plain = await generate(bench, KERNEL.format(options="num_ctas=2"), symbol="kernel", hints={"num_ctas": None})
    assert own.blobs["bytecode"] == given.blobs["bytecode"] != plain.blobs["bytecode"]


async def test_the_kernel_s_own_options_are_reported_by_target(bench: Bench):
    options = "num_ctas=ct.ByTarget(sm_100=2), opt_level=ct.ByTarget(sm_90=1, default=2), occupancy=3"
    result = await bench.result(KERNEL.format(options=options), ARGUMENTS)
    assert result.options["default"] == {"num_ctas": None, "occupancy": 3, "opt_level": 2, "num_worker_warps": None}
    assert result.options["sm_100"] == {"num_ctas": 2}
    generated = await bench.pool.codegen(result.holder, CodegenRequest(targets=("sm_90",)))
    assert (generated.values["opt_level"], generated.values["opt_level.sm_90"]) == (2, 1)


@pytest.mark.parametrize(
    ("hints", "words"),
    [({"num_ctas": 3}, "power of 2"), ({"opt_level": 9}, "[0, 3]"), ({"warps": 4}, "no hint warps; it has num_ctas")],
)
async def test_a_hint_that_can_t_be_is_a_fault(bench: Bench, hints, words):
    fault = await bench.pool.codegen(
        await bench.held(KERNEL.format(options=""), ARGUMENTS), CodegenRequest(hints=hints)
    )
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.USER
    assert words in fault.message


async def test_a_target_without_a_dtype_is_ruled_out_alone_and_at_the_line(bench: Bench):
    source = """
    @ct.kernel
    def kernel(a, b):
        x = ct.load(a, (0, 0), (32, 32)).astype(ct.float8_e4m3fn)
        ct.store(b, (0, 0), x.astype(ct.float16))
    """
    generated = await generate(bench, source, "a=f16[64,64] b=f16[64,64]", targets=("sm_80", "sm_90", "sm_100"))
    assert list(generated.faults) == ["sm_80"]
    [fault] = generated.faults["sm_80"]
    assert "not supported on sm_80" in fault.message
    assert fault.chain[0].line == 4
    assert "bytecode" in generated.blobs


async def test_an_old_format_is_made_for_one_target(bench: Bench):
    result = await bench.result(KERNEL.format(options=""), ARGUMENTS, bytecode_version="13.2")
    generated = await bench.pool.codegen(result.holder, CodegenRequest(targets=("sm_100", "sm_120")))
    assert set(generated.blobs) == {"bytecode", "bytecode@sm_100", "bytecode@sm_120"}
    assert generated.blobs["bytecode"] == generated.blobs["bytecode@sm_100"] != generated.blobs["bytecode@sm_120"]
    fault = (await bench.result(KERNEL.format(options=""), ARGUMENTS, bytecode_version="99.1")).inference.faults[0]
    assert "Supported versions are" in fault.message


async def test_inference_reads_no_hint(bench: Bench):
    plain = (await bench.infer(KERNEL.format(options=""), ARGUMENTS)).typed
    options = "num_ctas=ct.ByTarget(sm_100=2), occupancy=3, opt_level=1"
    hinted = (await bench.infer(KERNEL.format(options=options), ARGUMENTS)).typed
    assert plain is not None
    assert plain == hinted
