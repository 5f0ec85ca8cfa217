"""Arguments of kernels: from signatures, comments, launches and use; and what is wrong with comments. No compiler."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.python import Workspace, find_kernels
from tile_lsp.frontends.numba import Numba, spec
from tile_lsp.model.job import Config
from tile_lsp.model.settings import decode

HEAD = "import numpy as np\nfrom numba import cuda, float32, int64, void\n"


def read(code: str, settings: dict[str, object] | None = None):
    """Specs and problems of the last kernel, with the text that each problem stands at."""
    text = HEAD + textwrap.dedent(code)
    workspace = Workspace({"/w/k.py": text}.get, ["/w"])
    file = workspace.file("/w/k.py")
    frontend = Numba()
    sites = [s for s in find_kernels(file, workspace, frontend.kernel_decorators) if frontend.is_kernel(s, workspace)]
    comments = list(read_comments((line.text, line.span) for line in sites[-1].comment_lines))
    decoded, _ = decode(settings or {})
    specs, problems = frontend.job_specs(sites[-1], workspace, comments, decoded)
    lines = [line.encode() for line in text.split("\n")]
    said = [(p.message, lines[p.span.line - 1][p.span.column : p.span.end_column].decode()) for p in problems]
    return specs, said


def arguments(one) -> dict[str, str]:
    return {argument.name: argument.spec for argument in one.arguments}


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("float32", "float32"),
        ("f4", "float32"),
        ("types.int64", "int64"),
        ("bool_", "boolean"),
        ("float32[:]", "float32[:]"),
        ("float32[::1]", "float32[::1]"),
        ("float32[:, ::1]", "float32[:,::1]"),
        ("f8[::1,:]", "float64[::1,:]"),
        ("array(float32, 2d, C)", "float32[:,::1]"),
        ("array(int32, 1d, A)", "int32[:]"),
        ("array(int32, 1d, C, readonly)", "array(int32, 1d, C, readonly)"),
        ("Array(float32, 3, 'F')", "float32[::1,:,:]"),
        ("(int32,f8)", "(int32,float64)"),
        ("UniTuple(int32, 3)", "UniTuple(int32,3)"),
        ("128", "int64"),
        ("-1.5", "float64"),
        ("True", "boolean"),
        ("=Pair.type", "=Pair.type"),
    ],
)
def test_a_type_has_one_text(written: str, canonical: str):
    assert spec.canonical(written) == canonical
    assert spec.canonical(canonical) == canonical


@pytest.mark.parametrize(
    ("comment", "message", "at"),
    [
        ("x=float33[:]", "Numba has no type `float33`; did you mean `float32`?", "float33"),
        ("x=float32[::2]", "an axis is `:`, or `::1` where it is contiguous", "::2"),
        ("x=float32[::1,::1]", "`::1` stands at the last axis (C), or at the first (Fortran)", "::1,::1"),
        ("x='a'", "a text ('a') is no argument of a kernel", "'a'"),
        ("y=1", "`y` is neither a parameter nor an option; the kernel has x, n", "y"),
        ("fastmat=True", "`fastmat` is neither a parameter nor an option; did you mean `fastmath`?", "fastmat"),
        ("fastmath=2", "fastmath is True or False, not 2", "2"),
        ("max_registers=8", "max_registers is a number from 16 to 255, not 8", "8"),
        ("target=sm_90a", "`sm_90a` is chosen by numba-cuda itself; write sm_90", "sm_90a"),
        (
            "target=sm_90,sm_91",
            f"numba-cuda does not compile for sm_91; it does for {', '.join(Numba.targets)}",
            "sm_91",
        ),
    ],
)
def test_problems_stand_at_the_word(comment: str, message: str, at: str):
    _, problems = read(f"# tile-lsp: {comment}\n@cuda.jit\ndef k(x, n): x[n] = 0\n")
    assert problems == [(message, at)]


def test_a_comment_gives_arguments_targets_and_options():
    ((one,), problems) = read("""
    # tile-lsp: x=float32[:,::1] n=int32 target=sm_80,sm_90 fastmath=True launch_bounds=(256,2)
    @cuda.jit
    def k(x, n): x[0, 0] = n
    """)
    assert problems == []
    assert arguments(one) == {"x": "float32[:,::1]", "n": "int32"}
    hints = (("fastmath", True), ("launch_bounds", "(256, 2)"))
    assert one.configs == (Config("sm_80", hints), Config("sm_90", hints))


@pytest.mark.parametrize(
    ("decorator", "found"),
    [
        ('@cuda.jit("void(float32[:], int64)")', [("float32[:]", "int64")]),
        ('@cuda.jit("(f4[::1], i8)", fastmath=True)', [("float32[::1]", "int64")]),
        ("@cuda.jit(void(float32[:], int64))", [("float32[:]", "int64")]),
        ("@cuda.jit((float32[:], int64))", [("float32[:]", "int64")]),
        ('@cuda.jit([void(float32[:], int64), "void(f8[:], i4)"])', [("float32[:]", "int64"), ("float64[:]", "int32")]),
        ("sig = void(float32[:], int64)\n@cuda.jit(sig)", [("float32[:]", "int64")]),
        ("vector = float32[::1]\n@cuda.jit((vector, int64))", [("float32[::1]", "int64")]),
    ],
)
def test_signatures_of_the_decorator_are_jobs(decorator: str, found: list[tuple[str, ...]]):
    specs, _ = read(f"{decorator}\ndef k(x, n): x[n] = 0\n")
    assert [tuple(arguments(one).values()) for one in specs] == found
    assert {origin.kind for one in specs for origin in one.origins} == {"signature"}


def test_a_comment_goes_before_a_signature():
    specs, _ = read('# tile-lsp: x=float64[:]\n@cuda.jit("void(float32[:], int64)")\ndef k(x, n): x[n] = 0\n')
    assert [arguments(one) for one in specs] == [{"x": "float64[:]", "n": "int64"}]


@pytest.mark.parametrize(
    ("host", "x", "n"),
    [
        ("k[1, 64](np.zeros(64, np.float32), 3)", "float32[::1]", "int64"),
        ("x = cuda.to_device(np.ones((4, 4), dtype='int16'))\nk[(1, 1), (4, 4)](x, 2.0)", "int16[:,::1]", "float64"),
        ("k[1, 64](np.random.rand(64).astype(np.float32), np.int32(1))", "float32[::1]", "int32"),
        ("k[1, 64](np.zeros((8, 4)).T, 1)", "float64[::1,:]", "int64"),
        ("d = cuda.device_array(64, dtype=np.complex64)\nk[1, 64, 0, 0](d, True)", "complex64[::1]", "boolean"),
        ("x = np.arange(64)\nk.forall(64)(x, len(x))", "int64[::1]", "int64"),
        (
            "def run(x):\n    y = cuda.device_array_like(x)\n    k[2, 32](y, 1)\nrun(np.empty(3))",
            "float64[::1]",
            "int64",
        ),
    ],
)
def test_launches(host: str, x: str, n: str):
    ((one,), _) = read(f"@cuda.jit\ndef k(x, n): pass\n\n{host}\n")
    assert arguments(one) == {"x": x, "n": n}
    assert {origin.kind for origin in one.origins} == {"launch"}


@pytest.mark.parametrize(
    ("body", "x", "n"),
    [
        ("x[cuda.grid(1)] = n", "float32[::1]", "float32"),
        ("i, j = cuda.grid(2)\n    x[i, j] = 2 * n", "float32[:,::1]", "float32"),
        ("at = cuda.grid(2)\n    x[at] = n", "float32[:,::1]", "float32"),
        ("a, b, c = x.shape\n    x[0] = n", "float32[:,:,::1]", "float32"),
        ("for i in range(n): x[i] = 0", "float32[::1]", "int64"),
        ("i = cuda.grid(1)\n    if i < n: x[i] = 0", "float32[::1]", "int64"),
        ("x[0] = n[x[1]]", "int32[::1]", "float32[::1]"),
        ("cuda.atomic.add(x, (0, 1), n)", "float32[:,::1]", "float32"),
        ("helper(x, n)", "float32[:,::1]", "int64"),
        ("x[0][1] = n", "float32[:,::1]", "float32"),
        ("x[0] ^= 1\n    x[0] = x[0] & n", "int32[::1]", "int64"),
    ],
)
def test_use(body: str, x: str, n: str):
    ((one,), _) = read(f"""
@cuda.jit(device=True)
def helper(a, length):
    for i in range(length):
        a[i, 0] = i


@cuda.jit
def k(x, n):
    {body}
""")
    assert arguments(one) == {"x": x, "n": n}
    assert {origin.kind for origin in one.origins} == {"assumed"}


def test_settings_are_for_every_front_end():
    settings = {
        "targets": ["sm_90", "gfx942"],
        "hints": {"num_warps": 8, "fastmath": True},
        "kernels": {"k": {"arguments": {"n": "f8"}}},
    }
    ((one,), problems) = read("@cuda.jit\ndef k(x, n): x[0] = n\n", settings)
    assert problems == []
    assert arguments(one)["n"] == "float64"
    assert one.configs == (Config("sm_90", (("fastmath", True),)),)


DOCS = Path(__file__).parent.parent.parent / "docs" / "signatures.md"
TYPES = re.search(r"\| type \|.*?\n\n", DOCS.read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.mark.parametrize(
    "written", sorted({word for line in TYPES.split("\n") for word in re.findall("`([^`]+)`", line[:70])})
)
def test_the_notation_that_docs_tell_of(written: str):
    assert isinstance(spec.canonical(written), str)
