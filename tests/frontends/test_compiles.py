"""What is assumed has to compile: kernels of many kinds with nothing said about them, through the real compiler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tile_lsp.frontends.cutile import versions
from tile_lsp.model.stage import Stage

KERNELS = """
import cuda.tile as ct
import torch

C = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def split_k(A, B, out, locks, tm: C, tn: C, tk: C, SPLIT: C):
    i, j, s = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((tm, tn), ct.float32)
    dtype = ct.tfloat32 if A.dtype == ct.float32 else A.dtype
    for k in range(s, ct.num_tiles(A, 1, (tm, tk)), SPLIT):
        a = ct.load(A, (i, k), (tm, tk), padding_mode=ZERO).astype(dtype)
        acc = ct.mma(a, ct.load(B, (k, j), (tk, tn), padding_mode=ZERO).astype(dtype), acc)
    while ct.atomic_cas(locks, i, 0, 1) == 1:
        pass
    ct.store(out, (i, j), ct.load(out, (i, j), (tm, tn)) + acc.astype(out.dtype))
    ct.atomic_xchg(locks, i, 0)


@ct.kernel
def embed(table, tokens, out, width: C):
    row = ct.load(tokens, ct.bid(0), shape=())
    columns = ct.arange(width, dtype=torch.int32)
    ct.scatter(out, (ct.bid(0), columns), ct.gather(table, (row, columns)))


@ct.kernel
def softmax(x, y, scale: float, causal: ct.Constant[bool], TILE_M: C, TILE_N: C):
    t = ct.load(x, (ct.bid(0), 0), (TILE_M, TILE_N)) * scale
    if causal:
        rows = ct.arange(TILE_M, dtype=ct.int32)[:, None]
        t = ct.where(rows >= ct.arange(TILE_N, dtype=ct.int32)[None, :], t, -float("inf"))
    e = ct.exp(t - ct.max(t, axis=1, keepdims=True))
    ct.store(y, (ct.bid(0), 0), (e / ct.sum(e, axis=1, keepdims=True)).astype(y.dtype))


@ct.kernel
def grouped(xs, ws, ys, tm: C, tn: C, tk: C):
    for g in range(len(xs)):
        acc = ct.zeros((tm, tn), ct.float32)
        for k in range(ct.num_tiles(xs[g], 1, (tm, tk))):
            acc = ct.mma(ct.load(xs[g], (0, k), (tm, tk)), ct.load(ws[g], (k, 0), (tk, tn)), acc)
        ct.store(ys[g], (0, 0), acc.astype(ys[g].dtype))


@ct.kernel
def factors(x, w, y, N: C, F0: C, F1: C, B: C):
    t = ct.reshape(ct.load(x, (ct.bid(0), 0), (B, N)), (B, F0, F1))
    w0 = ct.reshape(ct.load(w, (0, 0), (F0, F0)), (1, F0, F0))
    ct.store(y, (ct.bid(0), 0), ct.reshape(ct.matmul(w0, t), (B, N)))


@ct.kernel
def mixed(pair, limits: tuple[ct.Constant[int], int], out, n: ct.ScalarInt64):
    a, b = pair
    t = ct.load(a, (0,), (limits[0] * 16,)) + b
    ct.store(out, (limits[1],), t.astype(out.dtype))


@ct.kernel
def positions(x, at, below, n: C):
    t = ct.load(x, (ct.bid(0), 0), (1, n))
    ct.store(at, (ct.bid(0),), ct.argmax(t, axis=1))
    ct.store(below, (ct.bid(0), 0), t < 0)
"""
NAMES = ("split_k", "embed", "softmax", "grouped", "factors", "mixed", "positions")


async def test_assumed_arguments_compile_for_every_target(tmp_path: Path) -> None:
    targets = ["sm_90", "sm_100", "sm_120"]
    async with workbench(tmp_path, {"kernels.py": KERNELS}, targets=targets) as bench:
        await bench.open("kernels.py")
        for name in NAMES:
            view = bench.kernel("kernels.py", name)
            assert not view.faults, (name, view.faults)
            assert view.inference is not None
            assert view.inference.types
            assert [job.job.config.target for job in view.jobs] == targets
            for job in view.jobs:
                shown = await bench.show("kernels.py", Stage.SASS, name, job.job)
                assert "EXIT" in shown.text


@pytest.mark.parametrize("stage", [Stage.TILEIR, Stage.PTX, Stage.RESOURCES, Stage.REMARKS, Stage.CUBIN])
async def test_every_stage_is_read(tmp_path: Path, stage: Stage) -> None:
    async with workbench(tmp_path, {"kernels.py": KERNELS}, targets=["sm_90"]) as bench:
        await bench.open("kernels.py")
        shown = await bench.show("kernels.py", stage, "softmax")
        assert shown.stage is stage
        assert shown.text


async def test_remarks_change_no_code(tmp_path: Path) -> None:
    """Inspection must not change what is inspected: the cubin that is made beside remarks is the plain one."""
    async with workbench(tmp_path, {"kernels.py": KERNELS}, targets=["sm_90"]) as bench:
        await bench.open("kernels.py")
        beside_remarks = await bench.show("kernels.py", Stage.CUBIN, "split_k")
    with without_remarks():
        async with workbench(tmp_path / "other", {"kernels.py": KERNELS}, targets=["sm_90"]) as bench:
            await bench.open("kernels.py")
            plain = await bench.show("kernels.py", Stage.CUBIN, "split_k")
            assert bench.ran()["tileiras"] == 1
    assert beside_remarks.data == plain.data


@contextmanager
def without_remarks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "REMARKS", (99, 0))
        yield
