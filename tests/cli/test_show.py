"""`tile-lsp show` from outside: what it prints, what it runs, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from .conftest import KERNELS, CommandLine, Ran

Write = Callable[[str, str], Path]
FOUR = ("--target", "sm_80", "--target", "sm_90,sm_100", "--target", "sm_120")


def stats(ran: Ran) -> dict[str, object]:
    last = json.loads(ran.err.splitlines()[-1])
    return {name: last[name] for name in ("inferences", "codegens", "tools")}


def test_types(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::größer")
    assert (ran.code, ran.err) == (0, "")
    assert re.sub(r"  \(shape.*\)", "", ran.out) == snapshot("""\
größer · kernels.py
  8:12  x    → Array[float32,(?):(?)]
  8:15  y    → Array[float16,(?):(?)]
  8:18  n    → Tile[int32,()] = 128
  9:5   i    → Tile[int32,()]
  10:5  wide → Tile[float32,(128)]
  11:5  slim → Tile[float16,(128)]

grow · helpers.py · called at kernels.py:10:12, kernels.py:11:12
  4:10  t      → Tile[float32,(128)]  when called at kernels.py:10:12
  4:10  t      → Tile[float16,(128)]  when called at kernels.py:11:12
  4:13  by     → Tile[int32,()] = 2
  5:5   longer → Tile[float32,(128)]  when called at kernels.py:10:12
  5:5   longer → Tile[float16,(128)]  when called at kernels.py:11:12
""")


def test_types_on_a_terminal_without_arrows(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::größer", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert (ran.code, ran.err) == (0, "")
    assert "10:5  wide -> Tile[float32,(128)]" in ran.out
    assert ran.out.isascii()


SCOPES = """\
import cuda.tile as ct


class Ops:
    @staticmethod
    def twice(a):
        return double(a)


def double(b):
    return b + b


def make():
    @ct.kernel
    def inner(x):
        def step(q):
            return q
        i = step(Ops.twice(ct.bid(0)))
    return inner
"""


def test_types_are_headed_by_their_function_and_say_what_is_assumed(tile_lsp: CommandLine, write: Write):
    write("scopes.py", f"{SCOPES}\n\ndef later(:\n    pass\n")
    ran = tile_lsp("show", "types", "scopes.py")
    assert ran.code == 0
    assert ran.out == snapshot("""\
make.<locals>.inner · scopes.py
  16:15  x    → Tile[int32,()]  (assumed)
  17:9   step → function step
  19:9   i    → Tile[int32,()]

Ops.twice · called at 19:18
  6:15  a → Tile[int32,()]

double · called at 7:16
  10:12  b → Tile[int32,()]

make.<locals>.inner.<locals>.step · called at 19:13
  17:18  q → Tile[int32,()]
""")


def test_four_targets_share_inference_and_bytecode(tile_lsp: CommandLine):
    ran = tile_lsp("show", "resources", "kernels.py::größer", *FOUR, "--stats")
    assert ran.code == 0, ran.err
    assert stats(ran) == {"inferences": 1, "codegens": 1, "tools": {"tileiras": 4}}
    assert [line for line in ran.out.splitlines() if line.startswith("// Resources")] == [
        f"// Resources of größer for {target}" for target in ("sm_80", "sm_90", "sm_100", "sm_120")
    ]

    again = tile_lsp("show", "resources", "kernels.py::größer", *FOUR, "--stats")
    assert again.out == ran.out
    assert stats(again) == {"inferences": 0, "codegens": 0, "tools": {}}


def test_types_do_not_depend_on_targets(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::größer", *FOUR, "--hint", "num_ctas=2", "--stats")
    assert stats(ran) == {"inferences": 1, "codegens": 0, "tools": {}}
    assert ran.out.count("wide") == 1


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("hir", "load_var(x)"),
        ("typed", "Tile[float32,(128)]"),
        ("tileir", "entry @"),
        ("ptx", ".target sm_90"),
        ("sass", "EXIT"),
        ("resources", "registers"),
        ("remarks", "// Remarks of größer for sm_90"),
    ],
)
def test_stages(tile_lsp: CommandLine, stage: str, expected: str):
    ran = tile_lsp("show", stage, "kernels.py::größer", "--target", "sm_90")
    assert (ran.code, ran.err) == (0, "")
    assert expected in ran.out


def test_a_cubin_is_written_as_it_is(tile_lsp: CommandLine):
    ran = tile_lsp("show", "cubin", "kernels.py::größer", "--target", "sm_90")
    assert (ran.code, ran.out[:4]) == (0, "\x7fELF")


def test_json_has_the_source_of_each_line_with_its_calls(tile_lsp: CommandLine):
    ran = tile_lsp("show", "sass", "kernels.py::größer", "--target", "sm_90", "--target", "sm_100", "--json")
    assert ran.code == 0, ran.err
    shown = [json.loads(line) for line in ran.out.splitlines()]
    assert [one["job"]["config"]["target"] for one in shown] == ["sm_90", "sm_100"]
    for one in shown:
        assert one["arguments"][0] == {"name": "x", "type": "f32[1024]", "origin": "comment", "detail": ""}
        assert len(one["lines"]) == len(one["text"].splitlines())
        chains = {
            tuple((Path(place["file"]).name, place["line"]) for place in chain)
            for chains in one["lines"]
            for chain in chains
        }
        assert (("helpers.py", 5), ("kernels.py", 11)) in chains
        assert (("kernels.py", 12),) in chains


def test_json_of_types_has_exact_ranges(tile_lsp: CommandLine):
    one = json.loads(tile_lsp("show", "types", "kernels.py::größer", "--json").out)
    line = next(i for i, text in enumerate(one["text"].splitlines()) if "wide" in text)
    ((place,),) = one["lines"][line]
    assert place == {
        "file": str(tile_lsp.folder / "kernels.py"),
        "line": 10,
        "column": 4,
        "end_line": 10,
        "end_column": 8,
    }


def test_a_fault_of_the_kernel(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::broken", "--stats")
    assert ran.code == 1
    assert "18:5   t → Tile[float32,(128)]" in ran.out  # what was typed before the error is good
    assert ran.err.splitlines()[:3] == snapshot(
        [
            "kernels.py:19:42: error: Directly indexing a tile is not supported; use `extract()` or `item()` instead.",
            " 19 |     ct.store(x, index=(0,), tile=grow(t, t[0:1]))",
            "    |                                          ^~~~~~",
        ]
    )
    assert stats(ran) == {"inferences": 1, "codegens": 0, "tools": {}}


def test_a_fault_shows_the_calls_that_lead_to_it(tile_lsp: CommandLine, write: Write):
    write("helpers.py", "def grow(t):\n    return t.nowhere\n")
    ran = tile_lsp("show", "ptx", "kernels.py::größer", "--target", "sm_90")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("helpers.py:2:12: error: ")
    assert "\nkernels.py:10:12: note: called from here\n" in ran.err


def test_a_fault_of_the_environment_names_the_command_that_mends_it(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::größer", python=sys._base_executable)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"tile-lsp: error: cuda-tile is not installed in {sys._base_executable}")
    assert f"help: {sys._base_executable} -m pip install 'cuda-tile[tileiras]" in ran.err


@pytest.mark.parametrize(
    ("python", "said"),
    [("/nowhere/python", "there is no such interpreter"), ("pyton3", "there is no such interpreter"), ("/", "be run")],
)
def test_an_interpreter_that_is_not_there(tile_lsp: CommandLine, python: str, said: str):
    ran = tile_lsp("show", "types", "kernels.py::größer", python=python)
    assert (ran.code, ran.out) == (2, "")
    assert f"--python {python}: " in ran.err
    assert said in ran.err


def test_no_target(tile_lsp: CommandLine):
    ran = tile_lsp("show", "ptx", "kernels.py::größer", env={"PATH": "/nowhere"})
    assert (ran.code, ran.out) == (3, "")
    assert "--target sm_90" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("types", "kernel.py::größer"), "there is no file kernel.py; did you mean kernels.py?"),
        (("types", "kernels.py"), "holds several kernels, name one of them: kernels.py::größer, kernels.py::broken"),
        (("types", "kernels.py::großer"), "did you mean größer?"),
        (("types", "helpers.py"), "helpers.py holds no kernel"),
        (("typs", "kernels.py::größer"), "there is no stage typs; did you mean types?"),
        (("types", "kernels.py::größer", "--arg", "z=f32"), "`z` is neither a parameter nor a hint"),
        (("types", "kernels.py::größer", "--arg", "x=f31[4]"), "`f31` is not a dtype"),
        (("types", "kernels.py::größer", "--arg", "x"), "is not NAME=VALUE"),
        (("types", "kernels.py::größer", "--hint", "num_cta=2"), "did you mean `num_ctas`?"),
        (("types", "kernels.py::größer", "--hint", "num_ctas=3"), "a power of two from 1 to 16"),
        (("ptx", "kernels.py::größer", "--target", "sm_99"), "sm_80, sm_86"),
        (("ptx", "kernels.py::größer", "--traget", "sm_90"), "No such option"),
        (("ptx",), "Missing argument"),
    ],
)
def test_usage_errors_name_what_would_be_right(tile_lsp: CommandLine, arguments: tuple[str, ...], message: str):
    ran = tile_lsp("show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_options_win_over_the_comment(tile_lsp: CommandLine):
    ran = tile_lsp("show", "types", "kernels.py::größer", "--arg", "n=64", "--arg", "x=bf16[?]")
    assert "wide → Tile[bfloat16,(64)]" in ran.out


def test_several_comments_are_several_jobs(tile_lsp: CommandLine, write: Write):
    write(
        "kernels.py", KERNELS.replace("@ct.kernel\ndef grö", "# tile-lsp: x=i32[64] y=i8[64] n=32\n@ct.kernel\ndef grö")
    )
    ran = tile_lsp("show", "types", "kernels.py::größer")
    assert [line for line in ran.out.splitlines() if "wide" in line] == [
        "  11:5  wide → Tile[float32,(128)]",
        "  11:5  wide → Tile[int32,(32)]",
    ]
    assert "x=i32[64] y=i8[64] n=32\n" in ran.out


def test_the_only_kernel_of_a_file_needs_no_name(tile_lsp: CommandLine, write: Write):
    write("one.py", "import cuda.tile as ct\n@ct.kernel\ndef k(n: ct.Constant[int]):\n    i = ct.bid(0) + n\n")
    ran = tile_lsp("show", "types", "one.py", "--arg", "n=4")
    assert (ran.code, "4:5  i → Tile[int32,()]" in ran.out) == (0, True), ran


def test_settings_of_the_project(tile_lsp: CommandLine, write: Write):
    write("pyproject.toml", '[tool.tile-lsp]\ntargets = ["sm_100"]\nno-such = 1\n')
    ran = tile_lsp("show", "resources", "kernels.py::größer")
    assert ran.code == 0
    assert "// Resources of größer for sm_100" in ran.out
    assert ran.err.startswith("pyproject.toml:3:1: warning: there is no setting `no-such`")


def test_a_syntax_error_elsewhere_is_said_and_harms_nothing(tile_lsp: CommandLine, write: Write):
    write("kernels.py", KERNELS + "\n\ndef later(:\n    pass\n")
    ran = tile_lsp("show", "types", "kernels.py::größer")
    assert (ran.code, "wide" in ran.out) == (0, True)
    assert ran.err.startswith("kernels.py:22:11: error: ")


@pytest.mark.parametrize("stage", ["types", "sass"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("open.py", "import cuda.tile as ct\n@ct.kernel\ndef k(x, n: ct.Constant[int]:\n    pass\n"),
        ("open.cu", "__global__ void k(float *x) { x[0] = 1;\n"),
    ],
)
def test_text_that_does_not_parse_is_an_error(tile_lsp: CommandLine, write: Write, name: str, text: str, stage: str):
    write(name, text)
    ran = tile_lsp("show", stage, f"{name}::k")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"{name}:")


def test_a_comment_that_is_wrong_is_an_error_of_its_kernel_alone(tile_lsp: CommandLine, write: Write):
    write("kernels.py", KERNELS.replace("y=f16[1024]", "y=f61[1024]"))
    ran = tile_lsp("show", "types", "kernels.py::größer")
    assert (ran.code, ran.err.count("error: ")) == (1, 1)
    assert "`f61` is not a dtype" in ran.err
    ran = tile_lsp("show", "types", "kernels.py::größer", "--arg", "y=f16[1024]")
    assert (ran.code, ran.err) == (0, "")
    ran = tile_lsp("show", "types", "kernels.py::broken")
    assert (ran.code, "f61" in ran.err) == (1, False)


def test_a_pipe_that_closes_early_is_silent(tile_lsp: CommandLine):
    words = ["show", "ptx", "kernels.py::größer", "--target", "sm_90", "--python", sys.executable]
    command = subprocess.Popen(
        [sys.executable, "-m", "tile_lsp", *words],
        cwd=tile_lsp.folder,
        env=tile_lsp.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert command.stdout is not None
    command.stdout.close()
    _, err = command.communicate(timeout=300)
    assert (command.returncode, err) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("words", [["show", "types", "kernels.py::größer"], ["--help"]], ids=["show", "help"])
def test_an_output_that_takes_no_more_is_a_fault_of_the_environment(tile_lsp: CommandLine, words: list[str]):
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "tile_lsp", *words],
            cwd=tile_lsp.folder,
            env=tile_lsp.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 3
    assert ran.stderr.startswith(b"tile-lsp: error: standard output: ")


def test_jobs_that_fail_alike_say_so_once(tile_lsp: CommandLine):
    ran = tile_lsp("show", "ptx", "kernels.py::broken", *FOUR)
    assert ran.code == 1
    assert ran.err.count(": error: ") == 1


def test_a_factorys_parameter_is_an_argument(tile_lsp: CommandLine, write: Write):
    made = """\
        import cuda.tile as ct
        def make(size):
            @ct.kernel
            def kernel(x):
                t = ct.load(x, index=(0,), shape=(size,))
                ct.store(x, index=(0,), tile=t)
            return kernel
    """
    write("factory.py", textwrap.dedent(made))
    ran = tile_lsp("show", "types", "factory.py::kernel", "--arg", "size=32", "--arg", "x=f32[64]")
    assert ran.code == 0, ran.err
    assert "t → Tile[float32,(32)]" in ran.out
