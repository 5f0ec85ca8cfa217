"""Kernels whose cubins the tests read, cut into members as the engine cuts them, and the script that compiles them.

Started by path in a process of its own (it imports a compiler): `python corpus.py OUTPUT_FOLDER TARGET…`. For each
kernel it writes `NAME.bc`, `NAME.tileir` (tileirdisasm -g) and for each target `NAME.TARGET.cubin` and
`NAME.TARGET.yaml` (remarks), and for matmul also `matmul.TARGET.plain`, the cubin assembled without remarks.
"""

from __future__ import annotations

import concurrent.futures
import linecache
import os
import pathlib
import subprocess
import sys
import types

IMPORTS = "import cuda.tile as ct\nimport math\n"

#: kernel name -> (members in order, parameters). A parameter is `f16[2]` (type and rank), `f32` (scalar) or a constant.
KERNELS: dict[str, tuple[tuple[str, ...], str]] = {
    "vadd": (
        (
            """@ct.kernel
def vadd(a, b, c, tile: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(tile,))
    y = ct.load(b, index=(i,), shape=(tile,))
    ct.store(c, index=(i,), tile=x + y)
""",
        ),
        "f32[1] f32[1] f32[1] 1024",
    ),
    "softmax": (
        (
            """def normalise(row):
    high = ct.max(row, axis=1, keepdims=True)
    raised = ct.exp(row - high)
    return raised / ct.sum(raised, axis=1, keepdims=True)
""",
            """@ct.kernel
def softmax(out, values, width: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(values, index=(i, 0), shape=(1, width), padding_mode=ct.PaddingMode.NEG_INF)
    ct.store(out, index=(i, 0), tile=normalise(row))
""",
        ),
        "f32[2] f32[2] 1024",
    ),
    "layer_norm": (
        (
            """def mean(total, count):
    return ct.sum(total, axis=1) / count
""",
            """@ct.kernel
def layer_norm(x, w, b, y, eps: float, tile: ct.Constant[int]):
    i = ct.bid(0)
    steps = ct.num_tiles(x, axis=1, shape=(1, tile))
    count = x.shape[1]
    total = ct.full((1, tile), 0, dtype=ct.float32)
    squares = ct.full((1, tile), 0, dtype=ct.float32)
    for j in range(steps):
        part = ct.load(x, index=(i, j), shape=(1, tile), padding_mode=ct.PaddingMode.ZERO)
        part = ct.astype(part, ct.float32)
        total += part
        squares += part * part
    mu = mean(total, count)
    scale = ct.rsqrt(mean(squares, count) - mu * mu + eps)
    for j in range(steps):
        part = ct.load(x, index=(i, j), shape=(1, tile), padding_mode=ct.PaddingMode.ZERO)
        weight = ct.load(w, index=(j,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
        bias = ct.load(b, index=(j,), shape=(tile,), padding_mode=ct.PaddingMode.ZERO)
        value = (ct.astype(part, ct.float32) - mu) * scale
        ct.store(y, index=(i, j), tile=ct.astype(value * weight + bias, y.dtype))
""",
        ),
        "f16[2] f16[1] f16[1] f16[2] f32 1024",
    ),
    "matmul": (
        (
            """def swizzle(rows, columns, tm, tn, group):
    block = ct.bid(0)
    down = ct.cdiv(rows, tm)
    across = ct.cdiv(columns, tn)
    per_group = group * across
    first = block // per_group * group
    size = min(down - first, group)
    return first + block % size, block % per_group // size
""",
            """@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    m, n = swizzle(a.shape[0], b.shape[1], tm, tn, 8)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(m, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, n), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(m, n), tile=ct.astype(acc, c.dtype))
""",
        ),
        "f16[2] f16[2] f16[2] 128 128 64",
    ),
    "attention": (
        (
            """def rescale(old, new):
    return ct.exp2(old - new)
""",
            """@ct.kernel(occupancy=2)
def attention(q, k, v, out, scale: float, tm: ct.Constant[int], tn: ct.Constant[int], d: ct.Constant[int]):
    i = ct.bid(0)
    head = ct.bid(1)
    best = ct.full((tm, 1), -math.inf, dtype=ct.float32)
    mass = ct.full((tm, 1), 0.0, dtype=ct.float32)
    acc = ct.full((tm, d), 0.0, dtype=ct.float32)
    query = ct.load(q, index=(head, i, 0), shape=(1, tm, d)).reshape((tm, d))
    for j in range(ct.cdiv(k.shape[1], tn)):
        key = ct.load(k, index=(head, 0, j), shape=(1, d, tn), order=(0, 2, 1)).reshape((d, tn))
        score = ct.mma(query, key, ct.full((tm, tn), 0.0, dtype=ct.float32)) * scale
        if (j + 1) * tn > k.shape[1]:
            inside = j * tn + ct.arange(tn, dtype=ct.int32)[None, :] < k.shape[1]
            score = ct.where(inside, score, -math.inf)
        top = max(best, ct.max(score, axis=-1, keepdims=True))
        weight = ct.exp2(score - top)
        factor = rescale(best, top)
        mass = mass * factor + ct.sum(weight, axis=-1, keepdims=True)
        value = ct.load(v, index=(head, j, 0), shape=(1, tn, d)).reshape((tn, d))
        acc = ct.mma(weight.astype(v.dtype), value, acc * factor)
        best = top
    ct.store(out, index=(head, i, 0), tile=(acc / mass).reshape((1, tm, d)).astype(out.dtype))
""",
        ),
        "f16[3] f16[3] f16[3] f16[3] f32 64 64 64",
    ),
    "talk": (
        (
            """@ct.kernel
def talk(a, n: int):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(16,))
    ct.printf("block %d: %f\\n", i, ct.sum(x))
    ct.assert_(x > 0.0, "must be positive")
    if n > 3:
        x = x * 2.0
    ct.store(a, index=(i,), tile=x)
""",
        ),
        "f32[1] i32",
    ),
    "histogram": (
        (
            """@ct.kernel
def histogram(values, counts, rounds: int):
    i = ct.bid(0)
    for r in range(rounds):
        x = ct.load(values, index=(i + r,), shape=(128,))
        if r % 2 == 0:
            ct.atomic_add(counts, (x,), 1)
        else:
            ct.atomic_max(counts, (x,), r)
    locked = ct.atomic_cas(counts, (0,), 0, 1)
    while locked != 0:
        locked = ct.atomic_cas(counts, (0,), 0, 1)
    ct.atomic_xchg(counts, (0,), 0)
""",
        ),
        "i32[1] i32[1] i32",
    ),
    "größe": (
        (
            """def höhe(werte):
    return ct.sum(werte, axis=0)
""",
            """@ct.kernel
def größe(a, b):
    i = ct.bid(0)
    ä = ct.load(a, index=(i,), shape=(64,))
    ct.assert_(ä > 0.0, 'not "positive" loc(#loc1)')
    ct.store(b, index=(i,), tile=höhe(ä))
""",
        ),
        "f32[1] f32[1]",
    ),
    "angles": (
        (
            """@ct.kernel
def angles(a, b, n: int):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(256,))
    total = ct.full((256,), 0.0, dtype=ct.float64)
    for r in range(n):
        total += ct.astype(ct.sin(x) * ct.pow(x, 1.5), ct.float64) / (r + 1)
        if r == 7:
            break
    ct.store(b, index=(i,), tile=total)
""",
        ),
        "f32[1] f64[1] i32",
    ),
}


def compile_kernel(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Bytecode of one kernel; each member is executed under its own file name."""
    import cuda.tile as ct
    from cuda.tile import compilation as api
    from cuda.tile._compile import compile_tile

    types_of = {"f16": ct.float16, "f32": ct.float32, "f64": ct.float64, "i32": ct.int32}
    members, notation = KERNELS[name]
    module = types.ModuleType(f"kernels.{name}")
    sys.modules[module.__name__] = module
    exec(IMPORTS, module.__dict__)
    for text in members:
        bound = text.split("def ", 1)[1].split("(", 1)[0]
        file = f"kernels.{name}/{bound}"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), module.__dict__)

    def parameter(word: str) -> object:
        if word.isdecimal():
            return int(word)
        kind, _, rank = word.partition("[")
        dtype = types_of[kind]
        if not rank:
            return api.ScalarConstraint(dtype)
        ndim, unit = int(rank[:-1]), 128 // dtype.bitwidth
        return api.ArrayConstraint(
            dtype,
            ndim,
            index_dtype=ct.int32,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=False,
            stride_constant=[None] * (ndim - 1) + [1],
            stride_divisible_by=[unit] * (ndim - 1) + [1],
            shape_divisible_by=[16] * ndim,
            base_addr_divisible_by=16,
        )

    # tileiras compiles no kernel whose symbol is not ASCII.
    convention = api.CallingConvention.cutile_python_v2()
    signature = api.KernelSignature([parameter(w) for w in notation.split()], convention).with_mangled_symbol(
        _ascii(name)
    )
    kernel = getattr(module, name)
    result = compile_tile(
        kernel._annotated_function,
        [signature],
        "sm_100",
        kernel._compiler_options,
        bytecode_version=None,
        return_bytecode=True,
        return_cubin=False,
    )
    path = folder / f"{name}.bc"
    path.write_bytes(bytes(result.bytecode))
    return path


def _ascii(name: str) -> str:
    return "".join(sign if sign.isascii() else f"u{ord(sign):x}" for sign in name)


def main(folder: pathlib.Path, targets: list[str]) -> None:
    import nvidia.cu13

    tools = pathlib.Path(nvidia.cu13.__path__[0]) / "bin"
    environment = {k: v for k, v in os.environ.items() if k not in {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"}}

    def start(*command: object) -> bytes:
        done = subprocess.run([str(c) for c in command], capture_output=True, timeout=300, env=environment)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.decode()}")
        return done.stdout

    def assemble(bytecode: pathlib.Path, target: str) -> None:
        stem = bytecode.with_suffix(f".{target}")
        remarks = ("--remark-format=yaml", "--remarks=all", f"--remarks-output-file={stem}.yaml")
        if bytecode.stem == "matmul":
            start(tools / "tileiras", bytecode, "-o", f"{stem}.plain", "--gpu-name", target, "--lineinfo")
        start(tools / "tileiras", bytecode, "-o", f"{stem}.cubin", "--gpu-name", target, "--lineinfo", *remarks)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = []
        for name in KERNELS:
            bytecode = compile_kernel(name, folder)
            bytecode.with_suffix(".tileir").write_bytes(start(tools / "tileirdisasm", "-g", bytecode))
            waiting += [pool.submit(assemble, bytecode, target) for target in targets]
        for one in waiting:
            one.result()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
