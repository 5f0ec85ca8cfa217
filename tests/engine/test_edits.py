"""Edits as they come: the newest wins, broken text keeps what was good, and one kernel's trouble stays its own."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import numbered, outlive
from tests.support.workbench import Workbench, workbench
from tile_lsp.analysis.snapshot import State
from tile_lsp.engine.analyse import FileAnalysis, analyse
from tile_lsp.model.outcome import Fault, FaultKind, Severity
from tile_lsp.model.stage import Stage

HEADER = "import cuda.tile as ct\n\nConstInt = ct.Constant[int]\n"


def kernel(name: str, body: str = "ct.store(y, index=(0,), tile=a + 1.0)", size: int = 64) -> str:
    return f"""

# tile-lsp: x=f32[4096] y=f32[4096] N={size} target=sm_90
@ct.kernel
def {name}(x, y, N: ConstInt):
    a = ct.load(x, index=(0,), shape=(N,))
    {body}
"""


ONE = HEADER + kernel("first")
TWO = ONE + kernel("second")


async def running(bench: Workbench) -> None:
    """Until a worker is at work."""
    while bench.session.stats().running == 0:  # noqa: ASYNC110  the session counts, it does not tell
        await asyncio.sleep(0.001)


async def test_unsaved_text_is_what_counts(tmp_path):
    async with workbench(tmp_path, {"k.py": HEADER + kernel("first", size=32)}) as bench:
        await bench.edit("k.py", ONE)
        assert bench.types_of("k.py", "a") == {"Tile[float32,(64)]"}


async def test_a_fault_of_our_own_is_said_where_it_came_up_and_stops_nothing_else(tmp_path, monkeypatch):
    def fails_for_one(path: str, *arguments: object, **named: object) -> FileAnalysis | None:
        if path.endswith("bad.py"):
            raise ZeroDivisionError("a bug")
        return analyse(path, *arguments, **named)

    async with workbench(tmp_path, {"bad.py": ONE, "k.py": ONE}) as bench:
        monkeypatch.setattr("tile_lsp.engine.session.analyse", fails_for_one)
        bench.session.open(bench.path("bad.py"))
        await bench.open("k.py")
        assert bench.types_of("k.py", "a") == {"Tile[float32,(64)]"}
        await bench.open("bad.py")
        [problem] = bench.session.snapshot().files[bench.path("bad.py")].problems
        assert "a bug" in problem.message
        monkeypatch.undo()
        await bench.edit("bad.py", ONE + "# mended")
        assert bench.types_of("bad.py", "a") == {"Tile[float32,(64)]"}


async def test_what_nests_too_deeply_is_the_trouble_of_its_kernel_alone(tmp_path):
    many = "".join(f"\n    elif N == {number}:\n        a = a" for number in range(900))
    async with workbench(tmp_path, {"k.py": ONE + kernel("deep", f"if N == -1:\n        a = a{many}")}) as bench:
        await bench.open("k.py")
        file = bench.session.snapshot().files[bench.path("k.py")]
        assert not file.problems
        assert bench.types_of("k.py", "a", "first") == {"Tile[float32,(64)]"}
        (fault,) = bench.kernel("k.py", "deep").faults
        assert (fault.kind, fault.message) == (
            FaultKind.USER,
            "what this kernel needs is nested too deeply to be analysed",
        )
        await bench.edit("k.py", ONE + kernel("deep"))
        assert bench.types_of("k.py", "a", "deep") == {"Tile[float32,(64)]"}


async def test_a_job_comment_that_no_kernel_reads_is_said_to_be_none(tmp_path):
    text = HEADER + kernel("first").replace("sm_90\n@", "sm_90\n\n@") + '''
TEXT = """
# tile-lsp: of a string
"""
''' + kernel("second") + "\n    # tile-lsp: x=f32[4]\n"  # fmt: skip
    async with workbench(tmp_path, {"k.py": text}) as bench:
        await bench.open("k.py")
        problems = bench.session.snapshot().files[bench.path("k.py")].problems
        lines = text.split("\n")
        assert [lines[problem.span.line - 1] for problem in problems] == [
            "# tile-lsp: x=f32[4096] y=f32[4096] N=64 target=sm_90",
            "    # tile-lsp: x=f32[4]",
        ]
        assert problems[0].message == "no kernel stands right below this comment: it is not read"
        assert problems[0].severity is Severity.WARNING


async def test_of_twenty_edits_at_once_the_last_one_stays_and_the_others_are_dropped(tmp_path):
    async with workbench(tmp_path, {"k.py": ONE}) as bench:
        await bench.open("k.py")
        bench.ran()
        for i in range(20):
            bench.session.change(bench.path("k.py"), HEADER + kernel("first", f"b = a + {i}.5", 2 ** (i % 7)), i)
            await asyncio.sleep(0)
        await bench.session.settled()
        assert bench.types_of("k.py", "b") == {"Tile[float32,(32)]"}
        assert bench.kernel("k.py").state is State.FRESH
        assert 1 <= bench.ran()["inferences"] < 20


async def test_waiting_can_be_given_up(tmp_path):
    slow = HEADER + "import time\nS = time.sleep(3600) or 1.0\n" + kernel("first", "b = a * S")
    async with workbench(tmp_path, {"k.py": slow}) as bench:
        bench.session.open(bench.path("k.py"))
        await running(bench)
        waiting = asyncio.ensure_future(bench.session.settled(bench.path("k.py")))
        await asyncio.sleep(0.05)
        waiting.cancel()
        done, _ = await asyncio.wait([waiting], timeout=PATIENCE)
        assert done
        assert waiting.cancelled()


async def test_no_edit_is_lost_while_something_runs(tmp_path):
    slow = HEADER + "import time\ntime.sleep(0.5)\nS = time.sleep(3) or 1.0\n" + kernel("first", "b = a * S")
    async with workbench(tmp_path, {"k.py": ONE}) as bench:
        await bench.open("k.py")
        bench.session.change(bench.path("k.py"), slow, 1)
        await running(bench)
        await bench.edit("k.py", HEADER + kernel("first", "b = a * 2", 16))
        assert bench.types_of("k.py", "b") == {"Tile[float32,(16)]"}


async def test_while_it_compiles_the_last_types_stay_where_their_lines_went(tmp_path):
    async with workbench(tmp_path, {"k.py": ONE}) as bench:
        await bench.open("k.py")
        slow = ONE.replace("    a = ct.load", "    c = S\n    a = ct.load").replace(
            "ConstInt =", "import time\nS = time.sleep(60) or 5\nConstInt ="
        )
        bench.session.change(bench.path("k.py"), slow, 1)
        await running(bench)
        view = bench.kernel("k.py")
        assert view.state is State.COMPILING
        lines = slow.split("\n")
        shown = {
            (record.name, lines[place.span.line - 1].strip())
            for record in view.inference.types
            if record.kind == "store"
            for place in view.positions.chain(record.chain)[:1]
        }
        assert shown == {("a", "a = ct.load(x, index=(0,), shape=(N,))")}


BROKEN = {
    "a half-typed line in the other kernel": ONE + kernel("second", "b = a +"),
    "an open bracket in the other kernel": ONE + kernel("second", "b = ct.load(x, index=("),
    "an open string at the end": TWO + "\nname = 'unfinished\n",
    "a lone keyword between": ONE + "\nfrom \n" + kernel("second"),
    "a half-typed def at the end": TWO + "\n@ct.kernel\ndef third(\n",
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_syntax_error_elsewhere_leaves_a_kernel_live(tmp_path, name):
    async with workbench(tmp_path, {"k.py": TWO}) as bench:
        await bench.open("k.py")
        await bench.edit("k.py", BROKEN[name].replace("N=64", "N=32", 1))
        assert bench.kernel("k.py", "first").state is State.FRESH
        assert bench.types_of("k.py", "a", "first") == {"Tile[float32,(32)]"}
        assert bench.session.snapshot().files[bench.path("k.py")].problems


async def test_a_broken_kernel_keeps_its_last_good_types_at_the_lines_that_stand(tmp_path):
    async with workbench(tmp_path, {"k.py": TWO}) as bench:
        await bench.open("k.py")
        broken = "# one line more\n" + TWO.replace(
            "def second(x, y, N: ConstInt):", "def second(x, y, N: ConstInt):\n    c = ("
        )
        await bench.edit("k.py", broken)
        view = bench.kernel("k.py", "second")
        assert view.state is State.STALE
        assert bench.types_of("k.py", "a", "second") == {"Tile[float32,(64)]"}
        lines = broken.split("\n")
        found = {
            lines[place.span.line - 1].strip()
            for record in view.inference.types
            for place in view.positions.chain(record.chain)[:1]
        }
        assert "a = ct.load(x, index=(0,), shape=(N,))" in found
        await bench.edit("k.py", TWO)
        assert bench.kernel("k.py", "second").state is State.FRESH


async def test_one_kernel_with_a_type_error_does_not_take_the_others_with_it(tmp_path):
    text = HEADER + kernel("first", "b = a + ct.zeros((3,), ct.float32)") + kernel("second")
    async with workbench(tmp_path, {"k.py": text}) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py", "first").state is State.FAILED
        assert bench.kernel("k.py", "second").state is State.FRESH
        assert bench.types_of("k.py", "a", "first") == {"Tile[float32,(64)]"}  # made before the error


async def test_a_helper_used_at_two_types_keeps_both_with_their_callers(tmp_path):
    text = (
        HEADER
        + "\n\ndef double(v):\n    w = v + v\n    return w\n"
        + kernel("first", "b = double(a)\n    c = double(ct.astype(a, ct.float16))")
    )
    async with workbench(tmp_path, {"k.py": text}) as bench:
        await bench.open("k.py")
        view = bench.kernel("k.py")
        found = {
            (record.type, view.positions.chain(record.chain)[-1].span.line)
            for record in view.inference.types
            if record.name == "w" and record.kind == "store"
        }
        first = text.split("\n").index("    b = double(a)") + 1
        assert found == {("Tile[float32,(64)]", first), ("Tile[float16,(64)]", first + 1)}


# -- what a file's top level does is nobody's business ---------------------------------------------------------------

TOP_LEVELS = {
    "prints": "print('hello ' * 100)",
    "exits": "import sys\nsys.exit(3)",
    "loops": "while True:\n    pass",
    "takes a minute": "import time\ntime.sleep(60)",
    "runs commands": "import os\nos.system('touch RAN')",
    "opens a socket": "import socket\ns = socket.create_connection(('127.0.0.1', 9))",
    "imports what is not there": "import no_such_module_anywhere\nno_such_module_anywhere.run()",
    "raises": "raise RuntimeError('at import')",
    "launches at import": "ct.launch(None, (1,), first, (1, 2, 3))",
    "runs as a script": "if __name__ == '__main__':\n    import os\n    os.system('touch RAN')",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "has a docstring first": "'''About this file.'''",
    "reads its arguments": "import argparse\nargs = argparse.ArgumentParser().parse_args()",
}


@pytest.mark.parametrize("name", TOP_LEVELS)
@pytest.mark.parametrize("place", ["above", "below"])
async def test_the_top_level_is_not_run(tmp_path, name, place, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = TOP_LEVELS[name].replace("RAN", str(tmp_path / "RAN")) + "\n"
    text = other + ONE if place == "above" else ONE + "\n\n" + other
    async with workbench(tmp_path, {"k.py": text}) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").faults == ()
        assert bench.types_of("k.py", "a") == {"Tile[float32,(64)]"}
        assert not (tmp_path / "RAN").exists()


# -- what a needed definition does is survived, and said -------------------------------------------------------------

MISDEEDS = {
    "exits": ("import sys\nS = sys.exit(3)", "exit"),
    "leaves at once": ("import os\nS = os._exit(7)", "exit"),
    "raises": ("S = 1 / 0", "ZeroDivisionError"),
    "crashes": ("import ctypes\nS = ctypes.string_at(0)", "SIGSEGV"),
    "aborts": ("import os\nS = os.abort()", "SIGABRT"),
    "loops": ("def spin():\n    while True:\n        pass\n\nS = spin()", "3 s"),
    "floods": ("def flood():\n    while True:\n        print('x' * 10**6)\n\nS = flood()", "printed 64 MiB"),
    "eats memory": ("S = len(bytearray(1 << 40))", "emory"),
    "recurses": ("def deep():\n    return deep()\n\nS = deep()", "RecursionError"),
    "lacks a module": ("import no_such_module_anywhere\nS = no_such_module_anywhere.S", "no_such_module_anywhere"),
}


@pytest.mark.parametrize("name", MISDEEDS)
async def test_a_misdeed_is_a_fault_of_that_kernel_alone(tmp_path, name):
    code, word = MISDEEDS[name]
    text = HEADER + code + "\n" + kernel("first", "b = a * S") + kernel("second")
    limits = {"timeouts": {"inference": 3}} if name == "loops" else {}  # the others have to come to their end
    async with workbench(tmp_path, {"k.py": text}, **limits) as bench:
        await bench.open("k.py")
        await bench.session.settled()
        (fault,) = bench.kernel("k.py", "first").faults
        assert word in f"{fault.message} {fault.help}"
        assert len(fault.message) < 3000
        assert bench.kernel("k.py", "second").state is State.FRESH
        await bench.edit("k.py", ONE)
        assert bench.kernel("k.py", "first").state is State.FRESH


async def test_a_loop_at_the_top_level_is_over_once_it_was_mended(tmp_path):
    note = tmp_path / "pid"
    looping = (
        HEADER
        + f"import os, pathlib\nS = pathlib.Path({str(note)!r}).write_text(str(os.getpid()))\nwhile True:\n    S += 1\n"
        + kernel("first", "b = a * S")
    )
    async with workbench(tmp_path, {"k.py": ONE}) as bench:
        await bench.open("k.py")
        bench.session.change(bench.path("k.py"), looping, 1)
        while not (note.exists() and note.read_text()):  # noqa: ASYNC110  the loop says no more than this
            await asyncio.sleep(0.001)
        (looper,) = numbered([int(note.read_text())])
        await bench.edit("k.py", ONE)
        assert bench.kernel("k.py").state is State.FRESH
        assert not await asyncio.to_thread(outlive, [looper])


# -- paths and texts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["with space", "größe", "日本", "per%20cent", "a'quote", "#hash"])
async def test_any_path_will_do(tmp_path, folder):
    async with workbench(tmp_path, {f"{folder}/k.py": ONE}) as bench:
        await bench.open(f"{folder}/k.py")
        assert bench.kernel(f"{folder}/k.py").faults == ()
        listing = await bench.show(f"{folder}/k.py", Stage.SASS)
        assert "EXIT" in listing.text


TEXTS = {
    "tabs": ONE.replace("    ", "\t"),
    "a byte-order mark": "\ufeff" + ONE,
    "Windows line ends": ONE.replace("\n", "\r\n"),
    "a docstring first": '"""A file."""\n' + ONE,
    "identifiers beyond ASCII": ONE.replace("first", "größe").replace("a ", "ширина ").replace("a+", "ширина+"),
    "wide text before a name": ONE.replace("    a =", "    s = '😀日本'; a ="),
    "one parameter": HEADER
    + "\n\n# tile-lsp: x=f32[64]\n@ct.kernel\ndef first(x):\n    a = ct.load(x, index=(0,), shape=(64,))\n",
    "no parameters": HEADER + "\n\n@ct.kernel\ndef first():\n    a = ct.zeros((64,), ct.float32)\n",
    "no line end at the end": ONE.rstrip("\n"),
}


@pytest.mark.parametrize("name", TEXTS)
async def test_any_text_will_do(tmp_path, name):
    async with workbench(tmp_path, {"k.py": TEXTS[name]}) as bench:
        await bench.open("k.py")
        view = bench.kernel("k.py")
        assert view.faults == ()
        assert "Tile[float32,(64)]" in {record.type for record in view.inference.types}


async def test_an_untrusted_workspace_runs_nothing(tmp_path):
    async with workbench(tmp_path, {"k.py": ONE}) as bench:
        session = bench.session
        session._planner._trusted = session.trusted = False
        await bench.open("k.py")
        view = bench.kernel("k.py")
        assert view.state is State.BLOCKED
        assert "trust" in view.faults[0].message
        assert bench.ran() == {}
        assert session.stats().loads == 0


async def test_an_interpreter_that_is_not_there_is_named_with_the_setting_that_mends_it(tmp_path):
    async with workbench(tmp_path, {"k.py": ONE}, python="/nowhere/bin/python") as bench:
        await bench.open("k.py")
        view = bench.kernel("k.py")
        assert view.state is State.BLOCKED
        assert "/nowhere/bin/python" in view.faults[0].message
        shown = await bench.session.artifact(bench.path("k.py"), "first", Stage.SASS)
        assert isinstance(shown, Fault)
        assert shown.kind is FaultKind.ENVIRONMENT


async def test_an_interpreter_without_the_compiler_gets_the_command_that_installs_it(tmp_path):
    bare = tmp_path / "bare"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "venv", "--without-pip", str(bare))
    assert await process.wait() == 0
    python = str(bare / "bin" / "python")
    async with workbench(tmp_path, {"k.py": ONE}, python=python) as bench:
        await bench.open("k.py")
        (fault,) = bench.kernel("k.py").faults
        assert "cuda-tile" in f"{fault.message} {fault.help}"
        assert "pip install" in str(fault.help)
        assert python in str(fault.help)


async def test_of_several_interpreters_the_first_that_has_the_compiler_is_taken(tmp_path):
    bare = tmp_path / ".venv"
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "venv", "--without-pip", str(bare))
    assert await process.wait() == 0
    async with workbench(tmp_path, {"k.py": ONE}, python=None) as bench:
        await bench.open("k.py")
        assert bench.kernel("k.py").faults == ()


async def test_nobody_waits_for_the_analysis_of_a_very_long_text(tmp_path, monkeypatch):
    may_go_on = threading.Event()

    def waits_for_long(path: str, *arguments: object, **named: object) -> FileAnalysis | None:
        if path.endswith("long.py"):
            assert may_go_on.wait(60)
        return analyse(path, *arguments, **named)

    long = ONE + "TABLE = 1\n" * 30_000
    async with workbench(tmp_path, {"long.py": long, "k.py": ONE}) as bench:
        monkeypatch.setattr("tile_lsp.engine.session.analyse", waits_for_long)
        bench.session.open(bench.path("long.py"))
        await bench.open("k.py")
        assert bench.types_of("k.py", "a") == {"Tile[float32,(64)]"}
        assert bench.path("long.py") not in bench.session.snapshot().files
        may_go_on.set()
        await bench.open("long.py")
        assert bench.types_of("long.py", "a") == {"Tile[float32,(64)]"}
