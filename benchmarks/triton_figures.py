"""Triton: its cases, and the first compile after the start of a server."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path

from tile_lsp.model.stage import Stage

from .workplace import ROOT, Bench, Case, Figure, Language, bench, environment, ratio, timed

TRITON = Language(
    "triton",
    "triton_baseline",
    "code generator",
    "stages after TTIR",
    ROOT / "build" / "venvs" / "triton-3.9" / "bin" / "python",
)
OPTIONS = [
    {"num_warps": 4, "num_stages": stages, **({"maxnreg": registers} if registers else {})}
    for stages, registers in itertools.product((2, 3, 4, 5), (None, 128, 168))
]


def _with_comment(case: Case) -> Case:
    return case._replace(comment=" ".join(f"{name}={spec}" for name, spec in case.arguments.items()))


ADD = _with_comment(
    Case(
        "add.py",
        "add",
        {**dict.fromkeys(("x_ptr", "y_ptr", "output_ptr"), "*fp32:16"), "n": "i32:16", "BLOCK": "1024"},
        ("output = x + y\n", "output = x + y * {}\n"),
        "offsets = pid",
    )
)
MATMUL = _with_comment(
    Case(
        "matmul.py",
        "matmul",
        {
            **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16:16"),
            **dict.fromkeys(("m", "n", "k", "stride_am", "stride_ak", "stride_bk", "stride_bn"), "i32:16"),
            **dict.fromkeys(("stride_cm", "stride_cn"), "i32:16"),
            **dict(zip(("TILE_M", "TILE_N", "TILE_K", "GROUP"), ("128", "64", "32", "8"), strict=True)),
            "EVEN_K": "True",
            "ACTIVATION": "'leaky_relu'",
        },
        ("leaky_relu(acc, 0.01)", "leaky_relu(acc, 0.01 * {})"),
        "acc = tl.zeros",
    )
)


async def first_compile(case: Case, limit: float, samples: int = 3) -> Figure:
    """To a cubin, once a server has started, beside a script from its start to its end."""
    ours, by_hand = [], []
    for number in range(samples):
        async with bench(TRITON) as it:
            path = it.folder / case.file
            path.write_text(it.text(case, number + 1), encoding="utf-8")
            await it.session.environment(str(path))

            async def compile_it(it: Bench = it, path: Path = path) -> None:
                it.override(str(path), case, "num_warps=4")
                it.session.open(str(path), kernels=(case.kernel,))
                await it.artifact(str(path), case, Stage.CUBIN)

            async def run_script(it: Bench = it, path: Path = path) -> None:
                process = await asyncio.create_subprocess_exec(
                    TRITON.python,
                    ROOT / "benchmarks" / "triton_baseline.py",
                    "--script",
                    path,
                    case.kernel,
                    json.dumps(case.arguments),
                    env={
                        **environment(it.folder),
                        "TRITON_CACHE_DIR": str(it.folder / "triton"),
                        "PYTHONWARNINGS": "ignore",
                    },
                )
                assert await process.wait() == 0

            by_hand.append(await timed(run_script))
            ours.append(await timed(compile_it))
    return ratio(f"triton: first compile, {case.kernel}", ours, by_hand, limit, "a script that calls triton.compile")
