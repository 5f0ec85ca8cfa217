"""The notation of argument types: what it means to the compiler, and what is said where it can't be read."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.support.workers import Bench, types_of
from tile_lsp.engine.nursery.process import WORKER
from tile_lsp.model.outcome import FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALIGNED = 0x7F00_0000_0000

#: kernel, element type, shape, strides in elements (None: contiguous), address, and the notation for it.
LAUNCHES = [
    *(("plain", typestr, [512, 256], None, ALIGNED, f"{dtype}[512,256]") for typestr, dtype in (
        ("<f2", "f16"), ("<f4", "f32"), ("<f8", "f64"), ("|i1", "i8"), ("|u1", "u8"), ("<i8", "i64"), ("|b1", "bool"),
    )),
    *(("plain", "<f2", shape, None, ALIGNED, f"f16[{','.join(map(str, shape))}]") for shape in (
        [512, 1000], [1000, 512], [8, 4], [1, 1], [1, 16], [16, 1], [5], [0, 16], [16, 0], [4, 8, 16], [512, 24], [],
    )),
    ("plain", "<f2", [512, 256], [1, 512], ALIGNED, "f16[512,256]/strides=(1,512)"),
    ("plain", "<f2", [512, 256], [0, 1], ALIGNED, "f16[512,256]/strides=(0,1)"),
    ("plain", "<f2", [512, 256], [513, 2], ALIGNED, "f16[512,256]/strides=(513,2)"),
    ("plain", "<f2", [4, 4], [1, 1], ALIGNED, "f16[4,4]/strides=(1,1)"),
    ("plain", "<f2", [2, 3, 4], [1, 2, 1], ALIGNED, "f16[2,3,4]/strides=(1,2,1)"),
    ("plain", "<f2", [512, 256], None, ALIGNED + 8, "f16[512,256]/align=1"),
    ("long", "<f4", [512, 256], None, ALIGNED, "f32[512,256]"),
    ("fixed_shape", "<f4", [512, 100], None, ALIGNED, "f32[512,100]"),
    ("fixed_strides", "<f4", [512, 100], None, ALIGNED, "f32[512,100]"),
]  # fmt: skip


async def test_a_known_shape_means_what_a_launch_with_it_would(tmp_path: Path):
    worker = WORKER.parent
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("launching.py")),
        str(worker),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
    )
    output, _ = await process.communicate(json.dumps(LAUNCHES).encode())
    compared = json.loads(output)
    assert len(compared) == len(LAUNCHES)
    assert {case: launched for case, launched, _ in compared} == {case: made for case, _, made in compared}


KERNEL = """
import enum
class Mode(enum.IntEnum):
    FAST = 3
WIDTH = 8
@ct.kernel
def kernel(a, n{annotation}):
    x = a.shape[0]
    y = n
"""


@pytest.mark.parametrize(
    ("arguments", "divisible"),
    [
        ("a=f16[?,?]", ("(1, 1)", "(1, =1)")),
        ("a=f16[?:32,?:64]", ("(32, 64)", "(8, =1)")),
        ("a=f16[?,?]/strides=(?:4,1)", ("(1, 1)", "(4, =1)")),
        ("a=f16[?,48]", ("(1, 16)", "(8, =1)")),
    ],
)
async def test_an_open_shape_promises_no_more_than_is_written(bench: Bench, arguments: str, divisible):
    inference = await bench.infer(KERNEL.format(annotation=""), f"{arguments} n=i32")
    [array] = [r for r in inference.types if r.name == "a" and r.kind == "param"]
    assert (dict(array.facts)["shape divisible by"], dict(array.facts)["strides"]) == divisible


@pytest.mark.parametrize(
    ("annotation", "spec", "expected"),
    [
        ("", "i64", "Tile[int64,()]"),
        ("", "bf16", "Tile[bfloat16,()]"),
        (": ct.Constant[int]", "12", "Tile[int32,()] = 12"),
        (": ct.Constant[int]", "-3", "Tile[int32,()] = -3"),
        (": ct.Constant[float]", "1e-5", "Tile[float32,()] = 1e-05"),
        (": ct.Constant[bool]", "True", "Tile[bool_,()] = True"),
        (": ct.Constant[int]", "=WIDTH*2", "Tile[int32,()] = 16"),
        ("", "(i32,f16[64])", "Tuple[Tile[int32,()],Array[float16,(?):(?)]]"),
        (": ct.Constant", "(1,2)", "Tuple[Tile[int32,()],Tile[int32,()]] = (1, 2)"),
        ("", "list[f16[64,64]]", "List[Array[float16,(?,?):(?,?)]]"),
        ("", "f32[]", "Array[float32,():()]"),
    ],
)
async def test_scalars_constants_tuples_and_lists(bench: Bench, annotation: str, spec: str, expected: str):
    inference = await bench.infer(KERNEL.format(annotation=annotation), f"a=f16[64] n={spec}")
    assert not inference.faults
    assert types_of(inference, "n", "param") == [expected]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("a=f16[64]", "kernel takes 2 arguments: no type was given for n"),
        ("a=f16[64] n=1 m=2", "kernel has no parameter m; it has a, n"),
        ("a=f17[64] n=1", "has no dtype 'f17'; it has bfloat16"),
        ("a=f16[64 n=1", "parameter a: 'f16[64' is no argument type: ',' was expected at position 7"),
        ("a=f16[64]/order=1 n=1", "there is no array option 'order'"),
        ("a=f16[64,64]/strides=(1,) n=1", "1 strides for 2 dimensions"),
        ("a=f16[64] n=", "a type or a value was expected"),
        ("a=f16[64] n='relu'", "parameter n can't be 'relu': Unexpected constant value type"),
        ("a=f16[64] n=f16[64]", "Expected a"),
        ("a=f16[64] n==NOTHING", "NameError: name 'NOTHING' is not defined"),
        ("a=f16[64] n==1/0", "ZeroDivisionError: division by zero (in `1/0`, of an argument)"),
    ],
)
async def test_arguments_that_don_t_fit_are_the_user_s_fault(bench: Bench, arguments: str, words: str):
    fault = await bench.fault(KERNEL.format(annotation=": ct.Constant[int]"), arguments)
    assert fault.kind is FaultKind.USER
    assert words in fault.message
