"""What is known without running anything: notation, kernels, assumptions, configs, launches. No triton is needed."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.python import Workspace, find_kernels
from tile_lsp.frontends.base import JobSpec
from tile_lsp.frontends.triton import Triton, jobs
from tile_lsp.frontends.triton.spec import SpecFault, canonical
from tile_lsp.model.settings import decode

FRONTEND = Triton()
PATH = "/w/main.py"
HEADER = "import torch\nimport triton\nimport triton.language as tl\n\n"


def workspace(text: str, **others: str) -> Workspace:
    files = {PATH: HEADER + textwrap.dedent(text), **{f"/w/{name}.py": HEADER + t for name, t in others.items()}}
    made = Workspace(files.get, ["/w"])
    made.listing = lambda folder: [path for path in files if folder == "/w"]
    return made


def kernels(text: str, **others: str) -> list[str]:
    made = workspace(text, **others)
    sites = find_kernels(made.file(PATH), made, FRONTEND.kernel_decorators)
    return [site.qualname for site in sites if FRONTEND.is_kernel(site, made)]


def specs_of(text: str, kernel: str = "k", **others: str) -> tuple[JobSpec, ...]:
    made = workspace(text, **others)
    (site,) = [s for s in find_kernels(made.file(PATH), made, FRONTEND.kernel_decorators) if s.qualname == kernel]
    comments = list(read_comments((comment.text, comment.span) for comment in site.comment_lines))
    settings, _ = decode({})
    specs, problems = FRONTEND.job_specs(site, made, comments, settings)
    assert not problems
    return specs


def arguments(spec: JobSpec) -> dict[str, str]:
    return {argument.name: argument.spec for argument in spec.arguments}


@pytest.mark.parametrize(
    ("text", "constexpr", "expected"),
    [
        ("*fp32:16", False, "*fp32:16"),
        ("*float32:32", False, "*fp32:16"),
        ("*kf16", False, "*kfp16"),
        ("i32:1", False, "1"),
        ("1024", False, "i32:16"),
        ("7", False, "i32"),
        ("1", False, "1"),
        ("4294967296", False, "i64:16"),
        ("18446744073709551600", False, "u64:16"),
        ("0.5", False, "fp32"),
        ("True", False, "u1"),
        ("None", False, "None"),
        ("(*fp16:16,i32)", False, "(*fp16:16,i32)"),
        ("(i32,)", False, "(i32,)"),
        ("tensordesc<fp16[64, 32]>", False, "tensordesc<fp16[64,32]>"),
        ("0x40", True, "64"),
        ("'relu'", True, "'relu'"),
        ("float16", True, "fp16"),
        ("tl.float16", True, "fp16"),
        ("(1,2)", True, "(1,2)"),
        ("=A+1", True, "=A + 1"),
        ("gl.BlockedLayout([1], [32], [4], [0])", True, "=gl.BlockedLayout([1],[32],[4],[0])"),
        ("auto", True, "auto"),
    ],
)
def test_two_spellings_are_one_argument(text: str, constexpr: bool, expected: str):
    made = canonical(text, "x", constexpr)
    assert made == expected
    assert canonical(expected, "x", constexpr) == expected


@pytest.mark.parametrize(
    ("text", "constexpr", "marked", "words"),
    [
        ("*fp33", False, "fp33", "did you mean `fp32`?"),
        ("fp32:16", False, ":16", "only pointers and integers"),
        ("*fp32:4", False, ":4", "divisibility by 16"),
        ("'relu'", False, "'relu'", "no constexpr"),
        ("relu", True, "relu", "for a string"),
        ("*fp32", True, "*fp32", "give it a value"),
        ("tensordesc<fp16>", False, "tensordesc<fp16>", "tensordesc<fp16[64,64]>"),
        ("=", True, "=", "missing after"),
        ("(i32", False, "(i32", "never closed"),
    ],
)
def test_what_is_no_argument_is_told_at_its_characters(text: str, constexpr: bool, marked: str, words: str):
    made = canonical(text, "x", constexpr)
    assert isinstance(made, SpecFault)
    assert text[made.start : made.end] == marked
    assert words in made.message


def test_kernels_are_told_from_helpers():
    text = """
    from triton import jit as j
    from triton.experimental import gluon
    from functools import wraps

    @triton.jit
    def helper(x):
        return x + 1

    @triton.jit
    def writes(p, x):
        tl.store(p, x)

    @j
    def plain(p):
        writes(p, helper(1))

    @triton.autotune(configs=[triton.Config({})], key=[])
    @triton.jit(do_not_specialize=["n"])
    def tuned(p, n):
        tl.store(p, n)

    @some.wrapper()
    @triton.heuristics({"B": lambda a: 1})
    @triton.jit
    def wrapped(p, B: tl.constexpr):
        tl.store(p, B)

    @gluon.jit
    def layouts(p):
        pass

    def source(p):
        tl.store(p, 1)

    made = triton.jit(source)

    def factory(side):
        @triton.jit
        def nested(p):
            tl.store(p, side)
        return nested

    class Ops:
        @staticmethod
        @triton.jit
        def method(p):
            tl.store(p, 1)
    """
    assert kernels(text) == [
        "plain", "tuned", "wrapped", "layouts", "made", "factory.<locals>.nested", "Ops.method",
    ]  # fmt: skip


def test_what_is_used_as_what():
    text = """
    @triton.jit
    def inner(w_ptr, i, n):
        return tl.load(w_ptr + i, mask=i < n)

    @triton.jit
    def k(x_ptr, y, index_of, lengths, w, mask_of, stride, n, scale, ACC: tl.constexpr, BLOCK: tl.constexpr,
          FLAG: tl.constexpr, MODE: tl.constexpr, EPS: tl.constexpr = 1e-5):
        start = tl.load(lengths + tl.program_id(0))
        at = start + tl.arange(0, BLOCK)
        where = tl.load(index_of + at)
        x_ptr += where * stride
        x = tl.load(x_ptr)
        wide = inner(w, at, n).to(ACC)
        keep = tl.load(mask_of + at)
        if FLAG:
            x = x * scale
        if MODE == "relu":
            x = tl.where(keep, x, 0)
        tl.store(y + at, tl.dot(x, wide))
    """
    (spec,) = specs_of(text)
    assert arguments(spec) == {
        "x_ptr": "*fp16:16",
        "y": "*fp16:16",
        "index_of": "*i32:16",
        "lengths": "*i32:16",
        "w": "*fp16:16",
        "mask_of": "*i1:16",
        "stride": "i32:16",
        "n": "i32:16",
        "scale": "fp32",
        "ACC": "fp32",
        "BLOCK": "64",
        "FLAG": "False",
        "MODE": "'relu'",
        "EPS": "1e-05",
    }
    origins = {argument.name: origin for argument, origin in zip(spec.arguments, spec.origins, strict=True)}
    assert origins["index_of"].kind == "assumed"
    assert "offset" in origins["index_of"].detail
    assert origins["EPS"].kind == "default"
    others = [dict(zip(arguments(spec), (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert any(other["FLAG"] == "True" for other in others)
    assert any(other["x_ptr"] == "*fp32:16" for other in others)


CONFIGS = """
    import itertools

    WIDTHS = [4, 8]
    REMADE = (16, 32)
    REMADE = [(side, 1) for side in REMADE]
    REMADE = [triton.Config(dict(BLOCK=side), num_warps=warps) for side, warps in REMADE]
    REMADE = REMADE + [triton.Config({"BLOCK": 8})]

    def configs():
        made = [triton.Config({"BLOCK": 32}, num_warps=2)]
        for b in (64, 128):
            made.append(triton.Config({"BLOCK": b}, num_stages=2))
        return made

    @triton.autotune(%s, key=["n"])
    @triton.heuristics({"EVEN": lambda args: args["n"] %% args["BLOCK"] == 0})
    @triton.jit
    def k(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), n)
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('configs=[triton.Config({"BLOCK": 64}, num_warps=8)]', [("64", 8, 3)]),
        ("configs=configs()", [("32", 2, 3), ("64", 4, 2), ("128", 4, 2)]),
        (
            '[triton.Config({"BLOCK": b}, num_warps=w) for b in [64, 128] for w in WIDTHS if b * w < 1024]',
            [("64", 4, 3), ("64", 8, 3), ("128", 4, 3)],
        ),
        (
            'configs=[triton.Config(dict_of, 4, w) for w in WIDTHS] + [triton.Config({"BLOCK": 2 ** 5}, 4, 4)]',
            None,
        ),
        ("configs=REMADE", [("16", 1, 3), ("32", 1, 3), ("8", 4, 3)]),
        (
            'configs=[triton.Config({"BLOCK": b}, num_stages=s) for b, s in itertools.product([16], [1, 2])]',
            [("16", 4, 1), ("16", 4, 2)],
        ),
    ],
)
def test_each_config_is_a_job(given: str, expected: list[tuple[str, int, int]] | None):
    specs = specs_of(CONFIGS % given)
    if expected is None:
        (spec,) = specs
        assert arguments(spec)["BLOCK"] == "auto"
        assert "dict_of" in spec.origins[2].detail
        return
    hints = [dict(spec.configs[0].hints) for spec in specs]
    found = [(arguments(s)["BLOCK"], h["num_warps"], h["num_stages"]) for s, h in zip(specs, hints, strict=True)]
    assert found == expected
    assert all(arguments(spec)["EVEN"] == "auto" for spec in specs)
    assert specs[0].origins[2].kind == "autotune"
    assert specs[0].origins[3].kind == "heuristics"


@pytest.mark.parametrize(
    ("defined", "configs"),
    [
        ("made = [c for c in made]", "made"),
        ("one = [c for c in two]\n    two = one", "one"),
        ("def made():\n        return made()", "made()"),
        ("def made(n):\n        return made(n + 1)", "made(0)"),
        ("made = [triton.Config({'BLOCK': b}) for b in range(10 ** 15) if b < 0]", "made"),
        ("made = [triton.Config({'BLOCK': 1})] * 10 ** 15", "made"),
        ("made = [triton.Config({'BLOCK': 7 ** 60 ** 60})]", "made"),
        ("made = [triton.Config({'BLOCK': ((7 ** 63) ** 63) ** 63})]", "made"),
        ("made = [triton.Config({'BLOCK': 1 << 10 ** 12})]", "made"),
        ("made = [triton.Config({'BLOCK': 10 ** 6 % 0})]", "made"),
        ("made = " + "[" * 90 + "]" * 90, "made"),
        ("made = [triton.Config({[]: 1})]", "made"),
        ("made = [triton.Config({'BLOCK': {}.get([], 1)})]", "made"),
        ("made = [triton.Config({'BLOCK': b}) for b in range(1, 2, 0)]", "made"),
        ("made = [triton.Config({'BLOCK': max('a', 1)})]", "made"),
    ],
)
def test_configs_that_no_one_could_read_are_the_autotuners_own(defined: str, configs: str):
    text = f"""
    {defined}

    @triton.autotune({configs}, key=[])
    @triton.jit
    def k(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1)
    """
    (spec,) = specs_of(text)
    assert arguments(spec)["BLOCK"] == "auto"


def test_configs_that_are_no_jobs_are_counted():
    text = """
    @triton.autotune([triton.Config({"B": 16 * (n + 1)}, num_warps=1) for n in range(500)], key=[])
    @triton.jit
    def k(x_ptr, B: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, B), 1)
    """
    specs = specs_of(text)
    assert len(specs) == 64
    assert specs[-1].origins[1].detail == "config 64 of 500"


def test_a_number_that_is_too_long_for_its_digits_is_no_value():
    text = f"""
    MOST = 0x{"f" * 9000}

    @triton.jit
    def k(x_ptr, n=MOST, SIDE: tl.constexpr = MOST, OTHER: tl.constexpr = 0x{"f" * 9000}, BLOCK: tl.constexpr = 32):
        tl.store(x_ptr + tl.arange(0, BLOCK), n)

    def run(x):
        k[(1,)](x, BLOCK=MOST)
    """
    found = arguments(specs_of(text)[0])
    assert (found["n"], found["BLOCK"]) == ("i32:16", "32")


def test_a_comment_that_chooses_a_config_is_one_job():
    comment = "    # tile-lsp: BLOCK=256 num_warps=8 target=sm_90,gfx942\n    @triton.autotune"
    (spec,) = specs_of((CONFIGS % "configs=configs()").replace("    @triton.autotune", comment))
    assert arguments(spec)["BLOCK"] == "256"
    assert [config.target for config in spec.configs] == ["sm_90", "gfx942"]
    assert dict(spec.configs[0].hints)["num_warps"] == 8


def test_a_launch_tells_constants():
    text = """
    @triton.jit
    def k(x_ptr, b_ptr, n, ACT: tl.constexpr, HAS_B: tl.constexpr, BLOCK: tl.constexpr, DT: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), n)

    def run(x, b=None, act="gelu"):
        BLOCK = triton.next_power_of_2(1000)
        k[(1,)](x, b, x.numel(), ACT=act, HAS_B=b is not None, BLOCK=BLOCK, DT=tl.bfloat16, num_warps=2)
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["ACT"], found["BLOCK"], found["DT"]) == ("'gelu'", "1024", "bf16")
    assert dict(spec.configs[0].hints) == {"num_warps": 2}
    # What may be left out is not taken to be left out.
    assert found["b_ptr"] != "None"
    assert spec.origins[3].kind == "launch"
    assert spec.origins[3].detail == "main.py:12"


def test_items_that_are_used_make_a_tuple():
    text = """
    @triton.jit
    def k(x_ptrs, sizes, y_ptr, n, COUNT: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        p = x_ptrs[0] + at
        for i in tl.static_range(1, COUNT):
            p = tl.where(at == i, x_ptrs[i], p)
        x = tl.load(p, mask=at < sizes[1])
        tl.store(y_ptr + at, x[None, :])
    """
    found = arguments(specs_of(text)[0])
    assert found["COUNT"] == "4"
    assert found["x_ptrs"] == "(*fp32:16,*fp32:16,*fp32:16,*fp32:16)"
    assert found["sizes"] == "(i32:16,i32:16)"
    assert found["y_ptr"] == "*fp32:16"


def test_a_config_or_a_launch_says_the_blocks_of_descriptors():
    text = """
    from triton.tools.tensor_descriptor import TensorDescriptor

    def hook(given):
        side = given["SIDE"]
        given["a_desc"].block_shape = [1, side, given["SIDE"] * 2]
        if given["WIDE"]:
            given["b_desc"].block_shape = [side, 16]

    @triton.autotune([triton.Config({"SIDE": 32, "WIDE": True}, pre_hook=hook)], key=[])
    @triton.jit
    def k(a_desc, b_desc, c_desc, SIDE: tl.constexpr, WIDE: tl.constexpr):
        a = a_desc.load([0, 0, 0])
        b = b_desc.load([0, 0])
        c_desc.store([0, 0], a)

    def run(a, b, c):
        blocks = [8, 128]
        k[(1,)](
            TensorDescriptor(a, a.shape, a.stride(), [1, 1, 1]),
            TensorDescriptor.from_tensor(b, [1, 1]),
            TensorDescriptor.from_tensor(c, block_shape=blocks),
        )
    """
    found = arguments(specs_of(text)[0])
    assert found["a_desc"] == "tensordesc<fp32[1,32,64]>"
    assert found["b_desc"] == "tensordesc<fp32[32,16]>"
    assert found["c_desc"] == "tensordesc<fp32[8,128]>"


def test_what_a_descriptor_moves_says_its_block():
    text = """
    @triton.jit
    def k(a_desc, b_desc, out_desc, M: tl.constexpr, N: tl.constexpr = 32):
        a = a_desc.load([0, 0, 0])
        a = tl.reshape(a, [M, N])
        b = b_desc.load([0, 0]).reshape(M, 16)
        c = tl.reshape(a, [1, N, M])
        out_desc.store([0, 0, 0], c.to(tl.float16))
    """
    found = arguments(specs_of(text)[0])
    assert found["M"] == "64"
    assert found["a_desc"] == "tensordesc<fp32[1,64,32]>"
    assert found["b_desc"] == "tensordesc<fp32[64,16]>"
    assert found["out_desc"] == "tensordesc<fp32[1,32,64]>"


def test_a_bound_that_is_as_large_as_can_be_is_no_value():
    text = """
    MOST = 65536

    @triton.jit
    def k(x_ptr, n, BLOCK: tl.constexpr, SMALL: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), n)

    def run(x, n):
        k[(1,)](x, n, BLOCK=min(MOST, triton.next_power_of_2(n)), SMALL=min(512, triton.next_power_of_2(n)))
    """
    found = arguments(specs_of(text)[0])
    assert (found["BLOCK"], found["SMALL"]) == ("4096", "512")


def test_a_pointer_may_be_one_of_several():
    text = """
    @triton.jit
    def k(a, b, out, a_rows, b_rows, BLOCK: tl.constexpr):
        p = tl.where(tl.program_id(0) == 0, a, b)
        rows = tl.where(tl.program_id(0) == 0, a_rows, b_rows)
        at = tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(p + at, mask=at < rows))
    """
    found = arguments(specs_of(text)[0])
    assert (found["a"], found["b"], found["out"]) == ("*fp32:16",) * 3
    assert (found["a_rows"], found["b_rows"]) == ("i32:16", "i32:16")


def test_a_launch_is_of_the_kernel_that_its_function_defines():
    text = """
    def first(x):
        @triton.jit
        def k(x_ptr, y_ptr, SIDE: tl.constexpr):
            tl.store(y_ptr + tl.arange(0, SIDE), tl.load(x_ptr))
        k[(1,)](x, x, 16)

    def second(x):
        @triton.jit
        def k(x_ptr, n, SIDE: tl.constexpr, OTHER: tl.constexpr):
            tl.store(x_ptr + tl.arange(0, SIDE), n)
        k[(1,)](x, 10, 32, 64)
    """
    found = arguments(specs_of(text, "first.<locals>.k")[0])
    assert (found["y_ptr"], found["SIDE"]) == ("*fp32:16", "16")
    assert arguments(specs_of(text, "second.<locals>.k")[0])["SIDE"] == "32"


def test_words_of_the_language_and_strides_that_have_to_be_1():
    text = """
    @triton.jit
    def k(x_ptr, n, stride_row, stride_column, SIDE: tl.constexpr, PRECISION: tl.constexpr, EVICT: tl.constexpr):
        desc = tl.make_tensor_descriptor(x_ptr, shape=[n, n], strides=[stride_row, stride_column],
                                         block_shape=[SIDE, SIDE])
        x = desc.load([0, 0])
        x = tl.dot(x, x, input_precision=PRECISION)
        tl.store(x_ptr + tl.arange(0, SIDE), tl.sum(x, 1), eviction_policy=EVICT)
    """
    found = arguments(specs_of(text)[0])
    assert (found["stride_row"], found["stride_column"]) == ("i32:16", "1")
    assert (found["PRECISION"], found["EVICT"]) == ("'tf32'", "'evict_last'")


def test_keywords_of_loops_say_what_they_take():
    text = """
    @triton.jit
    def k(x_ptr, n, WARPS: tl.constexpr, FLAT: tl.constexpr, DEEP: tl.constexpr, KEEP: tl.constexpr):
        for i in tl.range(0, n, warp_specialize=WARPS, flatten=FLAT, num_stages=DEEP):
            x = tl.sum(tl.load(x_ptr + i + tl.arange(0, 16)), 0, keep_dims=KEEP)
            tl.store(x_ptr + i, x)
    """
    found = arguments(specs_of(text)[0])
    assert (found["WARPS"], found["FLAT"], found["DEEP"], found["KEEP"]) == ("False", "False", "3", "False")


def test_the_limits_of_a_dtype_are_numbers():
    text = """
    @triton.jit
    def k(x_ptr, fp8_dtype_max, out_dtype: tl.constexpr, out_dtype_min: tl.constexpr, FP8_DTYPE_MAX: tl.constexpr):
        tl.store(x_ptr, (FP8_DTYPE_MAX / tl.load(x_ptr) + fp8_dtype_max + out_dtype_min).to(out_dtype))
    """
    found = arguments(specs_of(text)[0])
    assert (found["fp8_dtype_max"], found["out_dtype"]) == ("fp32", "fp16")
    assert (found["out_dtype_min"], found["FP8_DTYPE_MAX"]) == ("1.0", "1.0")


def test_arrays_are_taken_to_be_contiguous():
    text = """
    @triton.jit
    def at(rows, columns, stride_row, stride_column):
        return rows[:, None] * stride_row + columns[None, :] * stride_column

    @triton.jit
    def k(x_ptr, y_ptr, stride_xm, stride_xn, stride_ym, stride_yn: tl.constexpr, SIDE: tl.constexpr):
        i = tl.arange(0, SIDE)
        x = tl.load(x_ptr + i[:, None] * stride_xm + stride_xn * i[None, :])
        tl.store(y_ptr + at(i, i, stride_ym, stride_yn), x)
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["stride_xm"], found["stride_xn"]) == ("i32:16", "1")
    assert (found["stride_ym"], found["stride_yn"]) == ("i32:16", "1")
    others = [dict(zip(found, (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert any(other["stride_xn"] == "i32:16" for other in others)


def test_what_is_compared_with_a_fraction_is_one():
    text = """
    @triton.jit
    def k(x_ptr, rate, FACTOR: tl.constexpr):
        x = tl.load(x_ptr)
        if FACTOR != 1.0:
            x = x * FACTOR
        if rate == 0.5:
            x = x * rate
        tl.store(x_ptr, x)
    """
    found = arguments(specs_of(text)[0])
    assert (found["rate"], found["FACTOR"]) == ("fp32", "1.0")


def test_what_fractions_are_stored_to_holds_no_integers():
    text = """
    @triton.jit
    def k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        total = tl.sum(tl.load(x_ptr + at).to(tl.float32))
        tl.atomic_add(out_ptr, total)
        tl.atomic_add(out_ptr + 1, 1)
        count = tl.load(out_ptr + 1)
        if count == tl.num_programs(0):
            tl.store(out_ptr + 2, tl.load(out_ptr) / n)
    """
    assert arguments(specs_of(text)[0])["out_ptr"] == "*fp32:16"


def test_bounds_of_scales_are_bounds():
    text = """
    @triton.jit
    def k(x_ptr, cu_seqlens_scale, row_scale, BLOCK: tl.constexpr):
        start = tl.load(cu_seqlens_scale + tl.program_id(0))
        at = start * 4 + tl.arange(0, BLOCK)
        tl.store(x_ptr + at, tl.load(x_ptr + at) * tl.load(row_scale + at))
    """
    found = arguments(specs_of(text)[0])
    assert (found["cu_seqlens_scale"], found["row_scale"]) == ("*i32:16", "*fp32:16")


def test_states_and_statistics_are_in_full_precision():
    text = """
    @triton.jit
    def k(q, h0, lse, scale_ptr, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)[:, None] + tl.arange(0, BLOCK)[None, :]
        a = tl.load(q + at)
        tl.store(h0 + at, tl.dot(a, a) + tl.load(lse))
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["q"], found["h0"], found["lse"]) == ("*fp16:16", "*fp32:16", "*fp32:16")
    others = [dict(zip(found, (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert any(other["q"] == other["h0"] == "*fp32:16" for other in others)
    assert any(other["q"] == other["h0"] == "*fp16:16" for other in others)


INDUCTOR = """
first = async_compile.triton('first', \'\'\'
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'x': 4096},
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*bf16', 'ks0': 'i64', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
        'constants': {}, 'configs': [%s]},
    inductor_meta={'kernel_name': 'first'},
)
@triton.jit
def k(in_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    tl.store(in_ptr0 + x, x %% ks0, x < xnumel)
\'\'\', device_str='cuda')

async_compile.wait(globals())
"""


@pytest.mark.parametrize(
    "configs",
    [
        "{(0,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}",
        "AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0, 2), 'tt.equal_to': ()}, 'cls': 'A'})",
        "instance_descriptor(divisible_by_16=(0, 2), equal_to_1=())",
    ],
)
def test_kernels_in_strings_of_generated_modules_with_their_own_signature(configs: str):
    assert kernels(INDUCTOR % configs) == ["k"]
    (spec,) = specs_of(INDUCTOR % configs)
    assert arguments(spec) == {"in_ptr0": "*bf16:16", "ks0": "i64", "xnumel": "i32:16", "XBLOCK": "64"}
    assert [origin.kind for origin in spec.origins] == ["annotation", "annotation", "annotation", "assumed"]


DOCS = Path(__file__).parents[2] / "docs" / "signatures.md"


def test_the_documented_notation_is_read():
    section = DOCS.read_text().partition("## Triton")[2]
    for heading, constexpr in (("argument", False), ("constexpr", True)):
        rows = section.partition(f"| {heading} | means |")[2].partition("\n\n")[0].splitlines()[2:]
        texts = [text for row in rows for text in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
        assert len(texts) > 5
        assert not [text for text in texts if not isinstance(canonical(text, "x", constexpr), str)]


def test_an_expression_of_a_comment_is_part_of_the_closure():
    text = """
    SIDE = 16

    # tile-lsp: BLOCK==SIDE*2
    @triton.jit
    def k(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
    """
    (spec,) = specs_of(text)
    assert spec.expressions == ("SIDE * 2",)


def test_an_assertion_says_what_is_loaded():
    text = """
    @triton.jit
    def check(block):
        tl.static_assert(block.dtype == tl.uint8, "packed")
        return block

    @triton.jit
    def k(a_desc, packed, scales, left, right, weights, TURN: tl.constexpr, SIDE: tl.constexpr):
        weight_type: tl.constexpr = weights.dtype.element_ty
        tl.static_assert(weight_type == tl.int64 or weight_type.is_fp8(), "wide, or narrow")
        tl.static_assert(a_desc.dtype == tl.float8e5, "halves")
        tl.static_assert(scales.dtype.element_ty == tl.bfloat16)
        at = tl.arange(0, SIDE)
        a = a_desc.load([0, 0])
        b = check(tl.load(packed + at))
        x, y = tl.load(left + at), tl.load(right + at)
        if TURN:
            tl.static_assert(x.dtype == tl.int16 and y.dtype == tl.float16)
        else:
            tl.static_assert(x.dtype == tl.float64)
            tl.static_assert(tl.int8 == y.dtype)
        tl.store(scales + at, a + b + x + y + tl.load(weights))
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert found["a_desc"] == "tensordesc<fp8e5[64,64]>"
    assert (found["packed"], found["scales"], found["weights"]) == ("*u8:16", "*bf16:16", "*i64:16")
    assert (found["TURN"], found["left"], found["right"]) == ("False", "*fp64:16", "*i8:16")
    others = [dict(zip(found, (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert all(o["left"] == ("*i16:16" if o["TURN"] == "True" else "*fp64:16") for o in others)
    assert {origin.detail for origin in spec.origins} >= {"used by tl.store; its dtype is asserted"}


def test_an_assertion_says_what_is_a_multiple_of_what():
    text = """
    @triton.jit
    def k(x_ptr, GROUP: tl.constexpr, INNER: tl.constexpr, NUM_ROWS: tl.constexpr, TURN: tl.constexpr,
          BLOCK: tl.constexpr):
        if not TURN:
            tl.static_assert(GROUP % BLOCK == 0)
        else:
            tl.static_assert(NUM_ROWS % BLOCK == 0)
        tl.static_assert(INNER % 48 == 0 and BLOCK % 16 == 0, "rows")
        tl.store(x_ptr + tl.arange(0, BLOCK), GROUP + INNER + NUM_ROWS)
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["BLOCK"], found["GROUP"], found["INNER"], found["NUM_ROWS"]) == ("64", "64", "96", "4")
    others = [dict(zip(found, (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert all(int(o["NUM_ROWS"]) % int(o["BLOCK"]) == 0 for o in others if o["TURN"] == "True")


def test_offsets_are_followed_through_helpers_and_local_names():
    text = """
    @triton.jit
    def shifted(bits):
        return (bits >> 4) + 1

    @triton.jit
    def put(out, row, scale, stride, value):
        start = row.to(tl.int64) * stride
        at = scale + start
        tl.store(out + at, value)

    @triton.jit
    def k(out, first, packed, stride, scale, PIECE: tl.constexpr):
        row = tl.load(first) + tl.program_id(0)
        put(out, row, scale, stride, shifted(tl.load(packed + tl.arange(0, PIECE))))
    """
    found = arguments(specs_of(text)[0])
    assert found == {
        "out": "*fp32:16",
        "first": "*i32:16",
        "packed": "*i32:16",
        "stride": "i32:16",
        "scale": "i32:16",
        "PIECE": "64",
    }


def test_of_several_definitions_the_one_for_the_device_is_followed():
    text = """
    if torch.cuda.is_available():
        @triton.jit
        def get(pointer, at):
            return tl.load(pointer + at)
    else:
        def get(*arguments):
            raise RuntimeError("there is no device")

    def put(*arguments):
        pass

    @triton.jit
    def put(pointer, value):
        tl.store(pointer, value)

    @triton.jit
    def k(x, out):
        put(out, get(x, tl.program_id(0)))
    """
    assert arguments(specs_of(text)[0]) == {"x": "*fp32:16", "out": "*fp32:16"}


def test_what_takes_no_half_precision_gets_none():
    text = """
    @triton.jit
    def inverse(most):
        safe = tl.where(most == 0, 1.0, most)
        return tl.div_rn(448.0, safe)

    @triton.jit
    def k(a, most_ptr, logits, out):
        at = tl.arange(0, 16)[:, None] + tl.arange(0, 16)[None, :]
        x = tl.load(a + at)
        tl.store(out + at, tl.dot(x, x) * inverse(tl.load(most_ptr)) + tl.exp(tl.load(logits + at)))
    """
    found = arguments(specs_of(text)[0])
    assert (found["a"], found["most_ptr"], found["logits"]) == ("*fp16:16", "*fp32:16", "*fp32:16")


def test_products_of_scaled_blocks_say_their_formats():
    text = """
    @triton.jit
    def k(a_ptr, a_scale, b_ptr, b_scale, c_ptr):
        at = tl.arange(0, 64)[:, None] + tl.arange(0, 64)[None, :]
        a, b = tl.load(a_ptr + at).T, tl.load(b_ptr + at).reshape(64, 1, 64).permute(2, 1, 0).trans(1, 0)
        s, t = tl.load(a_scale + at), tl.load(b_scale + at)
        tl.store(c_ptr + at, tl.dot_scaled(a, s, "e2m1", b, rhs_scale=t, rhs_format="e5m2"))
    """
    found = arguments(specs_of(text)[0])
    assert list(found.values()) == ["*u8:16", "*u8:16", "*fp8e5:16", "*u8:16", "*fp16:16"]


def test_names_of_constants_are_not_taken_for_what_they_begin_like():
    text = """
    @triton.jit
    def k(x_ptr, locks, counts, ACTUAL_ROWS: tl.constexpr, SLICE_FACTOR: tl.constexpr, ACTIVATION: tl.constexpr,
          ACTIVATION_N: tl.constexpr, CONVERT_TO_TYPE: tl.constexpr, BLOCK: tl.constexpr, BLOCK_HALF: tl.constexpr,
          HALF_BLOCK_v: tl.constexpr, f: tl.constexpr):
        while tl.atomic_cas(locks, 0, 1) == 1:
            pass
        tl.atomic_add(counts, 1)
        at = tl.arange(0, BLOCK // SLICE_FACTOR)
        x = tl.load(x_ptr + at, mask=at < ACTUAL_ROWS)
        if CONVERT_TO_TYPE:
            x = x.to(tl.float16)
        if ACTIVATION == "":
            x = f(x)
        tl.store(x_ptr + at, x)
    """
    found = arguments(specs_of(text)[0])
    assert (found["locks"], found["counts"]) == ("*i32:16", "*i32:16")
    assert (found["ACTUAL_ROWS"], found["ACTIVATION"], found["ACTIVATION_N"]) == ("64", "''", "64")
    assert (found["SLICE_FACTOR"], found["CONVERT_TO_TYPE"]) == ("64", "False")
    assert (found["BLOCK"], found["BLOCK_HALF"], found["HALF_BLOCK_v"]) == ("64", "32", "64")
    assert found["f"] == "=tl.abs"


def test_assertions_that_hang_on_each_other():
    text = """
    @triton.jit
    def k(x_ptr, PADDED: tl.constexpr, SAME: tl.constexpr, BLOCK: tl.constexpr, N_EXPTS_ACT: tl.constexpr):
        tl.static_assert(PADDED % BLOCK == 0)
        tl.static_assert(SAME == PADDED, "one block")
        tl.static_assert(BLOCK % 96 == 0)
        tl.store(x_ptr + tl.arange(0, BLOCK) // N_EXPTS_ACT, PADDED + SAME)
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["BLOCK"], found["PADDED"], found["SAME"], found["N_EXPTS_ACT"]) == ("96", "96", "96", "64")
    for other in spec.alternatives:
        given = [argument.spec for argument in other]
        assert int(given[1]) % int(given[3]) == 0
        assert given[1] == given[2]


def test_values_are_followed_into_products_and_through_tuples():
    text = """
    @triton.jit
    def product(left, right):
        return tl.dot(left, tl.trans(right))

    @triton.jit
    def k(a, b, rows_ptr, out, scale_ptr, COUNT: tl.constexpr):
        rows = ()
        for i in tl.static_range(COUNT):
            rows = rows + (tl.load(rows_ptr + i),)
        at = tl.arange(0, 64)[:, None] + tl.arange(0, 64)[None, :]
        x, y = tl.load(a + at), tl.load(b + at)
        tl.store(out + rows[0] * 64 + at, product(x, y) * tl.exp(tl.load(scale_ptr + at)))
    """
    found = arguments(specs_of(text)[0])
    assert (found["a"], found["b"], found["rows_ptr"]) == ("*fp16:16", "*fp16:16", "*i32:16")
    assert (found["out"], found["scale_ptr"]) == ("*fp32:16", "*fp32:16")


def test_an_assertion_says_a_value():
    text = """
    @triton.jit
    def k(x_ptr, stride_x: tl.constexpr, MODE: tl.constexpr, DEEP: tl.constexpr, FLAG: tl.constexpr):
        tl.static_assert(stride_x == 1, "rows")
        tl.static_assert("wide" == MODE)
        if FLAG:
            tl.static_assert(DEEP == 3)
        tl.store(x_ptr + stride_x * tl.arange(0, 16), DEEP)
    """
    (spec,) = specs_of(text)
    found = arguments(spec)
    assert (found["stride_x"], found["MODE"]) == ("1", "'wide'")
    others = [dict(zip(found, (a.spec for a in other), strict=True)) for other in spec.alternatives]
    assert all(o["DEEP"] == "3" for o in others if o["FLAG"] == "True")


def test_operands_of_products_may_be_narrow():
    text = """
    @triton.jit
    def k(a, b, out):
        at = tl.arange(0, 16)[:, None] + tl.arange(0, 16)[None, :]
        tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))
    """
    (spec,) = specs_of(text)
    others = [[argument.spec for argument in other] for other in spec.alternatives]
    assert ["*fp8e4nv:16", "*fp8e4nv:16", "*fp16:16"] in others
    assert ["*i8:16", "*i8:16", "*fp16:16"] in others


def test_a_tuple_by_default_is_that_tuple():
    text = """
    @triton.jit
    def k(x_ptr, sizes, T: tl.constexpr = (1, 2, 3), N=None, M: "i64" = 1):
        a, b = sizes
        first, second, _ = T
        tl.store(x_ptr + T[1] + N[0], a + b + first + M[0])
    """
    found = arguments(specs_of(text)[0])
    assert (found["sizes"], found["T"], found["N"], found["M"]) == ("(i32:16,i32:16)", "(1,2,3)", "None", "i64")


def test_what_is_unpacked_is_a_tuple():
    text = """
    @triton.jit
    def k(x_ptrs, sizes, out, BLOCK: tl.constexpr):
        a_ptr, b_ptr = x_ptrs
        rows, columns, _ = sizes
        at = tl.arange(0, BLOCK)
        x = tl.load(a_ptr + at, mask=at < rows) + tl.load(b_ptr + at, mask=at < columns)
        first, second = tl.split(x)
        tl.store(out + at, first + second)
    """
    found = arguments(specs_of(text)[0])
    assert found["x_ptrs"] == "(*fp32:16,*fp32:16)"
    assert found["sizes"] == "(i32:16,i32:16,i32:16)"
    assert found["out"] == "*fp32:16"


def test_workers_and_methods_are_no_kernels():
    text = """
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.language.core import _aggregate as aggregate

    @aggregate
    class Ring:
        count: gl.constexpr

        @gluon.jit
        def release(self, index):
            self.free(index)

    @gluon.jit
    def produce(bars):
        first, second = bars

    @gluon.jit
    def consume(bars, k, each):
        each(k)

    @gluon.jit
    def k(x_ptr, each):
        gl.warp_specialize([(consume, (x_ptr, 1, each)), (produce, (x_ptr,))], [1], [24])
    """
    assert kernels(text) == ["k"]


HOOKS = """
    from triton.tools.tensor_descriptor import TensorDescriptor

    def hook(given):
        wide = given.get("WIDE", False)
        depth = given["DEPTH"]
        given["a_desc"].block_shape = [given["SIDE"], depth]
        if given["TURNED"]:
            shape = [depth, given["SIDE"]]
        else:
            shape = [given["SIDE"], 2 * given["SIDE"]]
        given["b_desc"].block_shape = shape
        given["c_desc"].block_shape = [given["SIDE"], given["SIDE"] // 2 if wide else 16]

    def configs(then=None):
        made = [triton.Config({"SIDE": side}, num_warps=8, pre_hook=then) for side in (32, 64)]
        return [triton.Config({**one.kwargs, "EXTRA": 1}, num_warps=one.num_warps, pre_hook=hook) for one in made]

    @triton.autotune(%s, key=[])
    @triton.jit
    def k(a_desc, b_desc, c_desc, SIDE: tl.constexpr, EXTRA: tl.constexpr, TURNED: tl.constexpr, DEPTH: tl.constexpr):
        if TURNED:
            a = a_desc.load([0, 0])
        b = b_desc.load([0, 0])
        c_desc.store([0, 0], b)

    def run(a, b, c):
        nothing = [1, 1]
        k[(1,)](
            TensorDescriptor(a, a.shape, a.stride(), nothing),
            TensorDescriptor.from_tensor(b, nothing),
            TensorDescriptor.from_tensor(c, block_shape=nothing),
            DEPTH=128,
        )
"""


@pytest.mark.parametrize(
    "given", ["configs()", '[triton.Config({"SIDE": 32, "EXTRA": 1}, num_warps=8, pre_hook=hook)]']
)
def test_what_a_hook_sets_may_hang_on_other_arguments(given: str):
    found = arguments(specs_of(HOOKS % given)[0])
    assert (found["SIDE"], found["EXTRA"], found["DEPTH"]) == ("32", "1", "128")
    assert found["TURNED"] == "False"
    assert found["a_desc"] == "tensordesc<fp32[32,128]>"
    # What nobody knows is taken to hold, as a test for it would be.
    assert found["b_desc"] == "tensordesc<fp32[32,64]>"
    assert found["c_desc"] == "tensordesc<fp32[32,16]>"
    assert dict(specs_of(HOOKS % given)[0].configs[0].hints)["num_warps"] == 8


def test_a_hook_may_be_handed_on():
    text = HOOKS.replace("pre_hook=hook", "pre_hook=one.pre_hook") % "configs(then=hook)"
    specs = specs_of(text)
    assert [arguments(spec)["a_desc"] for spec in specs] == ["tensordesc<fp32[32,128]>", "tensordesc<fp32[64,128]>"]


def test_a_block_that_no_descriptor_may_have_is_none():
    found = arguments(specs_of(HOOKS.replace("hook(given)", "other(given)") % "configs()")[0])
    assert found["b_desc"] == "tensordesc<fp32[64,64]>"


def test_other_readings_are_worked_out_for_the_job_that_asks(monkeypatch: pytest.MonkeyPatch):
    asked = []
    real = jobs.alternatives
    monkeypatch.setattr(jobs, "alternatives", lambda *given: asked.append(given) or real(*given))
    text = """
    @triton.autotune([triton.Config({"B": b, "C": c}) for b in (16, 32, 64, 128) for c in (1, 2, 4)], key=[])
    @triton.jit
    def k(x, B: tl.constexpr, C: tl.constexpr):
        tl.store(x + tl.arange(0, B), C)
    """
    specs, again = specs_of(text), specs_of(text)
    assert len(specs) == 12
    assert specs == again
    assert specs != specs_of(text.replace("tl.store(x + tl.arange(0, B), C)", "tl.store(x, C == None)"))
    assert not asked
    assert specs[3].alternatives[0] != specs[3].arguments
    assert len(specs[3].alternatives) == len(tuple(specs[3].alternatives))
    assert len(asked) == 1


APPLY = """
    @triton.jit
    def apply(x, fn: tl.constexpr):
        return fn(x)

    @triton.jit
    def outer(x, fn: tl.constexpr):
        return apply(x, fn)

    @triton.jit
    def k(x, FN: tl.constexpr%s):
        y = tl.load(x)
        %s
"""


@pytest.mark.parametrize(
    ("default", "statement", "expected"),
    [
        ("", "tl.store(x, FN(y))", "=tl.abs"),
        ("", "tl.store(x, FN(y, 1))", "=tl.maximum"),
        ("", "tl.store(x, apply(y, FN))", "=tl.abs"),
        ("", "tl.store(x, outer(y, fn=FN))", "=tl.abs"),
        ("", "tl.store(x, FN(y) if FN else y)", "False"),
        ("", "tl.store(x, y if FN == 'none' else FN(y))", "'none'"),
        (" = 3", "tl.store(x, FN(y))", "3"),
    ],
)
def test_a_function_of_the_language_stands_in_for_one_that_nothing_names(default: str, statement: str, expected: str):
    (spec,) = specs_of(APPLY % (default, statement))
    assert arguments(spec)["FN"] == expected


@pytest.mark.parametrize("given", ["apply", "tl.sqrt", "tl.math.exp"])
def test_a_function_that_is_passed_on_is_the_one_that_a_launch_names(given: str):
    launch = f"    def f(x):\n        fn = {given}\n        k[(1,)](x, FN=fn)\n"
    (spec,) = specs_of(APPLY % ("", "tl.store(x, outer(y, FN))") + launch)
    assert arguments(spec)["FN"] == f"={given}"
    assert spec.expressions == (given,)


@pytest.mark.parametrize(
    ("given", "expected"), [("main.apply", "=apply"), ("elsewhere", "=tl.abs"), ("tl.sqrt", "=tl.abs")]
)
def test_a_launch_in_another_file_names_a_function_of_the_kernels(given: str, expected: str):
    run = f"import main\ndef elsewhere(x): return x\ndef f(x): main.k[(1,)](x, {given})\n"
    (spec,) = specs_of(APPLY % ("", "tl.store(x, outer(y, FN))"), run=run)
    assert arguments(spec)["FN"] == expected


def test_functions_of_the_language_take_descriptors():
    text = """
    @triton.jit
    def k(a_desc, b_desc, at):
        tl.store_tensor_descriptor(b_desc, (at, 0, 0), tl.load_tensor_descriptor(a_desc, (at, 0, 0)))
    """
    found = arguments(specs_of(text)[0])
    assert found["a_desc"] == found["b_desc"] == "tensordesc<fp32[64,64,64]>"


def test_functions_of_an_architecture_may_be_of_a_parameter():
    text = """
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia import hopper

    def make(arch):
        @gluon.jit
        def k(x_ptr, M: gl.constexpr, layout: gl.constexpr):
            x = arch.tma.make_tensor_descriptor(x_ptr, shape=[M, M], strides=[M, 1], block_shape=[M, M], layout=layout)
            arch.tma.async_store(x, [0, 0], gl.allocate_shared_memory(gl.float32, [M, M], layout))
        return k

    kernel = make(hopper)
    """
    assert arguments(specs_of(text, "make.<locals>.k")[0])["x_ptr"] == "*fp32:16"


def test_what_becomes_a_pointer_is_as_wide_as_one():
    text = """
    @triton.jit
    def k(first, second, table, x):
        at = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
        there = tl.cast(second + 16, tl.pointer_type(tl.float32))
        tl.store(x, (first & 255).to(tl.pointer_type(tl.float32)) == there + tl.load(at))
    """
    found = arguments(specs_of(text)[0])
    assert found == {"first": "i32:16", "second": "i64:16", "table": "*i64:16", "x": "*fp32:16"}


def test_a_launch_may_say_that_it_gives_a_constant():
    text = """
    @triton.jit
    def k(x, n, B: tl.constexpr):
        tl.store(x + tl.arange(0, n), B)

    def launch(x):
        k[(1,)](x, tl.constexpr(32 // 2), tl.constexpr(8))
    """
    assert arguments(specs_of(text)[0]) == {"x": "*fp32:16", "n": "=tl.constexpr(16)", "B": "8"}


def test_a_launch_may_be_wrapped_for_torch():
    text = """
    from torch.library import wrap_triton

    @triton.jit
    def k(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1)

    def launch(x):
        wrap_triton(k)[(1,)](x, B=16)

    def other(x):
        torch.library.wrap_triton(k)[(1,)](x, B=16, num_warps=2)
    """
    assert kernels(text) == ["k"]
    assert arguments(specs_of(text)[0])["B"] == "16"


def test_a_constant_may_be_annotated_by_another_name():
    text = """
from triton.language import constexpr as const


@triton.jit
def k(x_ptr, SIDE: const):
    at = tl.arange(0, SIDE)
    tl.store(x_ptr + at, at)
"""
    (spec,) = specs_of(text)
    assert arguments(spec)["SIDE"] == "64"
