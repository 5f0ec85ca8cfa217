"""Numba's extension interface: statements that no kernel names, and kernels that Numba makes of other functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tile_lsp.model.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

OVERLOADS = """\
from numba import cuda, types
from numba.cuda.extending import intrinsic, overload, overload_attribute, overload_method


def twice(x):
    pass


@overload(twice, target="cuda")
def _twice(x):
    if isinstance(x, types.Float):
        return lambda x: x * 2


@overload_attribute(types.Array, "first", target="cuda")
def _first(array):
    return lambda array: array[0]


@overload_method(types.Array, "at", target="cuda")
def _at(array, i):
    return lambda array, i: array[i]


@intrinsic
def below(typing):
    from llvmlite import ir

    def code(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(ir.InlineAsm(kind, "mov.u32 $0, %lanemask_lt;", "=r"), [])

    return types.int32(), code


def other(x):
    pass


@overload(other, target="cuda")
def _other(x):
    return lambda x: x
"""
KERNEL = """\
from numba import cuda
from extensions import below, twice


# tile-lsp: x=float32[::1] target=sm_90
@cuda.jit
def k(x):
    x[below()] = twice(x.first) + x.at(3)
"""


async def test_what_is_registered_in_a_module_that_the_kernel_uses(tmp_path: Path, python: str):
    async with workbench(tmp_path, {"k.py": KERNEL, "extensions.py": OVERLOADS}, python=python) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").inference.faults == ()
        assert "%lanemask_lt" in (await bench.show("k.py", Stage.PTX)).text
        bench.ran()
        # What it does not use is no part of it; what it does is.
        bench.write("extensions.py", OVERLOADS.replace("lambda x: x\n", "lambda x: x + 1\n"))
        await bench.session.inferred(bench.path("k.py"))
        assert bench.ran() == {}
        bench.write("extensions.py", OVERLOADS.replace("x * 2", "x * 3"))
        await bench.session.inferred(bench.path("k.py"))
        assert bench.ran() == {"inferences": 1}


TYPE = """\
import sys

from numba import types
from numba.cuda.extending import make_attribute_wrapper, models, register_model, type_callable, typeof_impl


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high


class IntervalType(types.Type):
    def __init__(self):
        super().__init__(name="Interval")


interval = IntervalType()

if sys.version_info >= (3, 10):

    @register_model(IntervalType)
    class IntervalModel(models.StructModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, [("low", types.float32), ("high", types.float32)])


@typeof_impl.register(Interval)
def _typeof(value, context):
    return interval


make_attribute_wrapper(IntervalType, "low", "low")
make_attribute_wrapper(IntervalType, "high", "high")
"""


async def test_a_type_of_ones_own(tmp_path: Path, python: str):
    kernel = """\
        from numba import cuda
        from interval import interval


        # tile-lsp: i==interval x=float32[::1] target=sm_90
        @cuda.jit
        def k(i, x):
            x[0] = i.high - i.low
        """
    async with workbench(tmp_path, {"k.py": kernel, "interval.py": TYPE}, python=python) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").inference.faults == ()
        assert bench.types_of("k.py", "i") == {"Interval"}
        assert "FADD" in (await bench.show("k.py", Stage.SASS)).text


UFUNCS = """\
import math
from numba import cuda, float32, float64, guvectorize, vectorize


@vectorize(["float32(float32, float32)", float64(float64, float64)], target="cuda")
def vector_add(a, b):
    total = a + b
    return math.sqrt(total)


@guvectorize(["void(float32[:], float32, float32[:])"], "(n),()->(n)", target="cuda")
def scale(x, factor, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * factor


@cuda.vectorize(["int32(int32)"])
def negate(a):
    return -a


@vectorize(["float32(float32)"])
def on_the_host(a):
    return a


@vectorize(["float32(float32)"], target="parallel")
def on_many_threads(a):
    return a
"""


async def test_functions_of_elements(tmp_path: Path, python: str):
    async with workbench(tmp_path, {"u.py": UFUNCS}, python=python, targets=["sm_90"]) as bench:
        await bench.open("u.py")
        kernels = bench.session.snapshot().files[bench.path("u.py")].kernels
        assert [kernel.name for kernel in kernels] == ["vector_add", "scale", "negate"]
        assert [len(kernel.jobs) for kernel in kernels] == [2, 1, 1]
        assert bench.types_of("u.py", "total", "vector_add") == {"float32"}
        bench.session.select_job(bench.path("u.py"), "vector_add", 1)
        await bench.session.settled()
        assert bench.types_of("u.py", "total", "vector_add") == {"float64"}
        assert bench.types_of("u.py", "out", "scale") == {"array(float32, 1d, A)"}
        for kernel, opcode, source in (
            ("vector_add", "DADD", "total = a + b"),
            ("scale", "FMUL", "out[i] = x[i] * factor"),
            ("negate", "", "return -a"),
        ):
            shown = await bench.show("u.py", Stage.SASS, kernel)
            rows = zip(shown.text.split("\n"), shown.lines, strict=False)
            view = bench.kernel("u.py", kernel)
            places = [view.positions.chain(chain)[0] for row, chains in rows if opcode in row for chain in chains]
            lines = {UFUNCS.split("\n")[place.span.line - 1].strip() for place in places}
            assert source in lines, kernel
        assert "__vectorized_vector_add:" in (await bench.show("u.py", Stage.SASS, "vector_add")).text


async def test_a_signature_that_the_decorator_does_not_give(numba):
    code = """\
        from numba import vectorize

        # tile-lsp: a=int64 b=int64
        @vectorize(["float32(float32, float32)"], target="cuda")
        def add(a, b):
            return a + b
        """
    (fault,) = await numba.faults(code)
    assert fault[0].startswith("add has no signature for (int64, int64); it has (float32, float32).")


async def test_cooperative_groups(numba):
    code = """\
        # tile-lsp: x=float32[:,::1]
        @cuda.jit
        def k(x):
            grid = cuda.cg.this_grid()
            row = cuda.grid(1)
            for column in range(1, x.shape[1]):
                x[column, row] = x[column - 1, row] + 1
                grid.sync()
        """
    name = await numba.open(code)
    assert numba.bench.types_of(name, "grid") == {"GridGroup"}
    assert "BAR" in (await numba.bench.show(name, Stage.SASS, "k")).text


async def test_messages_do_not_say_where_objects_are_in_memory(numba):
    code = """\
        from numba import njit

        @njit
        def f(x):
            return x.nothing

        # tile-lsp: x=float32[::1]
        @cuda.jit
        def k(x):
            x[0] = object()
        """
    for message, _ in await numba.faults(code):
        assert "0x" not in message


async def test_llvm_ir_alone_costs_nothing_of_the_rest_and_is_one_for_all_targets(tmp_path: Path, python: str):
    code = """\
        from numba import cuda

        # tile-lsp: x=float32[::1] target=sm_80,sm_90
        # tile-lsp: x=float32[::1] target=sm_90 fastmath=True
        # tile-lsp: x=float32[::1] target=sm_90 max_registers=32
        @cuda.jit
        def vector_add(x):
            x[0] = x[1] / x[2]
        """
    async with workbench(tmp_path, {"k.py": code}, python=python) as bench:
        await bench.open("k.py")
        bench.ran()
        texts = [(await bench.show("k.py", Stage.LLVM, job=view.job)).text for view in bench.kernel("k.py").jobs]
        assert bench.ran() == {"codegens": 2, "llvm": 2}
        assert texts[0] == texts[1] == texts[3] != texts[2]
        assert "void @vector_add(" in texts[0]
        await bench.show("k.py", Stage.PTX)
        assert bench.ran() == {"codegens": 1}
