"""`jobs`, `doctor`, `cache`, and the words before a command."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tile_lsp import __version__

from .conftest import KERNELS, CommandLine

Write = Callable[[str, str], Path]


def test_version(tile_lsp: CommandLine):
    assert tile_lsp("--version", python=None) == (0, f"tile-lsp {__version__}\n", "")


def test_an_unknown_command(tile_lsp: CommandLine):
    ran = tile_lsp("shwo", python=None)
    assert ran.code == 2
    assert "did you mean show?" in ran.err


def test_no_command(tile_lsp: CommandLine):
    ran = tile_lsp("--help", python=None)
    assert (ran.code, ran.err) == (0, "")
    assert all(command in ran.out for command in ("show", "jobs", "doctor", "cache", "--stdio"))


def test_jobs(tile_lsp: CommandLine, write: Write):
    write("kernels.py", KERNELS.replace(" n=128", " n=128 target=sm_90,sm_100 num_ctas=2"))
    ran = tile_lsp("jobs", "kernels.py")
    assert (ran.code, ran.err) == (0, "")
    assert re.sub("[0-9a-f]{64}", "KEY", ran.out) == snapshot("""\
kernels.py:8: größer (cutile)
  x  f32[1024]  comment
  y  f16[1024]  comment
  n  128        comment
    sm_90 · num_ctas=2   KEY
    sm_100 · num_ctas=2  KEY

kernels.py:17: broken (cutile)
  x  f32[1024]  comment
    no target  KEY
""")


def test_jobs_as_json(tile_lsp: CommandLine):
    ran = tile_lsp("jobs", "kernels.py", "--json")
    kernels = json.loads(ran.out)["kernels"]
    assert [(kernel["name"], kernel["line"], kernel["frontend"]) for kernel in kernels] == [
        ("größer", 8, "cutile"),
        ("broken", 17, "cutile"),
    ]
    (job,) = kernels[0]["jobs"]
    assert job["arguments"][2] == {"name": "n", "type": "128", "origin": "comment", "detail": ""}
    shown = json.loads(tile_lsp("show", "types", "kernels.py::größer", "--json").out)
    assert shown["key"] == job["key"]


def test_jobs_says_where_a_comment_is_wrong(tile_lsp: CommandLine, write: Write):
    write("kernels.py", KERNELS.replace("y=f16[1024]", "y=f61[1024]"))
    ran = tile_lsp("jobs", "kernels.py")
    assert ran.err.splitlines()[0].startswith("kernels.py:6:27: error: `f61` is not a dtype")
    assert "assumed" in ran.out
    assert ran.code == 1
    assert tile_lsp("show", "types", "kernels.py::größer").code == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ("wide = grow(", "wide = grow((", 1, "kernels.py:10:16: error: '(' was never closed"),
        ("wide = grow(", "wide = grew(", 0, ""),
        ("\n\n# tile-lsp: x=f32[1024]\n", "\n\n# tile-lsp: x=f32[1024]\n\n", 0, "kernels.py:15:1: warning: no kernel"),
    ],
    ids=["a kernel that can't be read", "an error in a kernel that has jobs", "a comment of no kernel"],
)
def test_jobs_ends_with_an_error_where_jobs_could_not_be_read(
    tile_lsp: CommandLine, write: Write, old, new, code, says
):
    write("kernels.py", KERNELS.replace(old, new))
    ran = tile_lsp("jobs", "kernels.py")
    assert (ran.code, ran.err[: len(says)]) == (code, says)
    assert says or not ran.err


def test_jobs_says_which_item_of_a_comment_can_not_be_computed(tile_lsp: CommandLine, write: Write):
    write("kernels.py", KERNELS.replace("n=128", "n==1/0"))
    for command in (("jobs", "kernels.py"), ("show", "types", "kernels.py::größer")):
        ran = tile_lsp(*command)
        assert ran.code == 1
        assert "kernels.py:6:39: error: ZeroDivisionError: division by zero" in ran.err


def test_an_argument_that_is_wrong_in_a_settings_file(tile_lsp: CommandLine, write: Write):
    write("pyproject.toml", '[tool.tile-lsp.kernels."größer"]\narguments.y = "f61[1024]"\n')
    write("kernels.py", KERNELS.replace(" y=f16[1024]", ""))
    ran = tile_lsp("jobs", "kernels.py")
    assert ran.code == 1
    error, note = [line for line in ran.err.splitlines() if ": error: " in line or ": note: " in line]
    assert error.startswith("kernels.py:8:5: error: pyproject.toml, ")
    assert 'tool.tile-lsp.kernels."größer".arguments.y: `f61` is not a dtype' in error
    assert note == "pyproject.toml:2:11: note: written here"


def test_jobs_of_a_file_without_kernels(tile_lsp: CommandLine):
    assert tile_lsp("jobs", "helpers.py") == (0, "helpers.py: no kernels\n", "")


def test_jobs_without_a_compiler(tile_lsp: CommandLine):
    ran = tile_lsp("jobs", "kernels.py", python=sys._base_executable)
    assert ran.code == 3
    assert "-m pip install 'cuda-tile[tileiras]" in ran.err


def test_doctor(tile_lsp: CommandLine):
    ran = tile_lsp("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"^llvm: llvmlite \d+\.\d+", ran.out, re.MULTILINE)
    for name in ("cutile", "tileiras", "nvdisasm"):
        assert re.search(rf"^  {name} +\d+\.\d+", ran.out, re.MULTILINE)


def test_doctor_names_what_is_missing(tile_lsp: CommandLine):
    ran = tile_lsp("doctor", python=sys._base_executable)
    assert ran.code == 3
    assert f"missing: cuda-tile is not installed in {sys._base_executable}" in ran.out
    assert f"{sys._base_executable} -m pip install 'cuda-tile[tileiras]" in ran.out


def test_doctor_of_what_is_no_python(tile_lsp: CommandLine):
    ran = tile_lsp("doctor", python="/nowhere/python")
    assert (ran.code, ran.err) == (3, "")
    assert "/nowhere/python" in ran.out


def test_cache(tile_lsp: CommandLine, write: Write, tmp_path: Path):
    folder = str(tmp_path / "cache" / "tile-lsp")
    assert folder in tile_lsp("cache", "info").out
    tile_lsp("show", "types", "kernels.py::größer")
    assert re.search(r"^entries  [1-9]", tile_lsp("cache", "info").out, re.MULTILINE)

    assert tile_lsp("cache", "gc").out.startswith("removed 0 entries")
    write("tile-lsp.toml", "cache.size = 1")
    assert not tile_lsp("cache", "gc").out.startswith("removed 0 entries")

    write("tile-lsp.toml", "")
    tile_lsp("show", "types", "kernels.py::größer")
    assert tile_lsp("cache", "clear").out.startswith("removed ")
    assert re.search(r"^entries  0", tile_lsp("cache", "info").out, re.MULTILINE)


@pytest.mark.parametrize("command", ["info", "clear", "gc"])
def test_cache_turned_off(tile_lsp: CommandLine, write: Write, command: str):
    write("tile-lsp.toml", "cache.enabled = false")
    assert tile_lsp("cache", command).code == 0


def test_a_cache_that_keeps_nothing_is_said_once(tile_lsp: CommandLine, write: Write):
    taken = {"XDG_CACHE_HOME": str(write("taken", ""))}
    ran = tile_lsp("show", "sass", "kernels.py::größer", "--target", "sm_90", env=taken)
    assert (ran.code, ran.err.count("warning")) == (0, 1)
    assert "the setting cache.directory" in ran.err
    for words, code in ((("cache", "info"), 0), (("cache", "clear"), 3)):
        ran = tile_lsp(*words, env=taken)
        assert (ran.code, ran.err.count("is no folder")) == (code, 1)
        assert "the setting cache.directory" in ran.err


def test_who_waits_for_an_interpreter_is_told_so(tile_lsp: CommandLine, write: Write):
    write("k.py", "import cuda.tile as ct\n\n\n@ct.kernel\ndef k(x):\n    pass\n")
    python = tile_lsp.folder / "python"
    python.write_text("#!/bin/sh\nexec sleep 1000\n")
    python.chmod(0o755)
    words = [sys.executable, "-m", "tile_lsp", "jobs", "k.py", "--python", str(python)]
    with subprocess.Popen(
        words, cwd=tile_lsp.folder, env=tile_lsp.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == (
            f"tile-lsp: waiting for {python} to start; Ctrl+C ends that, --python names another one\n"
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(30) != 0


@pytest.mark.parametrize("command", ["jobs", "show sass", "graph sass", "watch"])
def test_a_file_that_is_not_read_is_said_to_be_none(tile_lsp: CommandLine, command: str):
    with (tile_lsp.folder / "k.py").open("wb") as file:
        file.truncate(1 << 30)
    code, _, err = tile_lsp(*command.split(), "k.py")
    assert code == 2
    assert "k.py has 1024 MiB: no file of more than 16 MiB is read" in err


def test_a_notebook_that_is_none_is_said_to_be_none(tile_lsp: CommandLine, write: Write):
    write("k.ipynb", "{")
    code, _, err = tile_lsp("jobs", "k.ipynb")
    assert code == 2
    assert "k.ipynb can't be read: " in err
