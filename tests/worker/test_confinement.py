"""Code that crashes, hangs, floods, forks or hides: a fault with its last words, and the next kernel works as ever."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.closures import HEADER, closure, request
from tests.support.processes import numbered, outlive, status
from tests.support.workers import Bench, eventually, spots
from tile_lsp.engine.workers import CodegenRequest, Generated, Limits, WorkerPool
from tile_lsp.model.outcome import FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL = """
@ct.kernel
def kernel(a):
    x = ct.full((8,), 1, ct.float32)
"""


def top_level(statements: str) -> str:
    """A kernel whose module runs these statements when it is loaded."""
    body = "".join(f"    {line}\n" for line in statements.splitlines())
    return f"def misbehave():\n{body}BAD = misbehave()\n{KERNEL}"


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("import os\nos._exit(3)", "ended itself with exit status 3"),
        ("import os\nos.write(1, b'last words')\nos.abort()", "was ended by SIGABRT"),
        ("import ctypes\nctypes.string_at(0)", "was ended by SIGSEGV"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
        ("import os\nos.closerange(3, 4096)", "exit status 1"),
        ("import os\nwhile True:\n    os.write(2, b'x' * 65536)", "was stopped after it had printed 64 MiB"),
    ],
)
async def test_a_worker_that_ends_is_a_fault_that_says_how(bench: Bench, statements: str, words: str):
    fault = await bench.fault(top_level(statements), "a=f16[64]")
    assert fault.kind is FaultKind.ENVIRONMENT
    assert fault.message.startswith("The worker ")
    assert words in fault.message
    assert not (await bench.infer(KERNEL, "a=f16[64]")).faults


async def test_a_crash_shows_where_python_was(bench: Bench):
    fault = await bench.fault(top_level("import ctypes\nctypes.string_at(0)"), "a=f16[64]")
    assert spots(fault.chain) == ["main/misbehave:3", "main/BAD:1"]
    assert fault.message.endswith("Fatal Python error: Segmentation fault")


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("import os\nos.fork()", "os.fork() is not available"),
        ("import subprocess\nfor _ in range(1000):\n    subprocess.Popen(['true'])", "processes were started"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
async def test_what_python_can_refuse_is_the_user_s_fault_at_its_line(bench: Bench, statements: str, words: str):
    fault = await bench.fault(top_level(statements), "a=f16[64]")
    assert fault.kind is FaultKind.USER
    assert words in fault.message
    assert spots(fault.chain)[-1] == "main/BAD:1:6-17"


async def test_memory_is_limited(bench: Bench):
    fault = await bench.fault(top_level("held = bytearray(3 << 30)"), "a=f16[64]")
    assert fault.kind is FaultKind.ENVIRONMENT
    assert fault.message.startswith("Out of memory")
    assert spots(fault.chain)[0].startswith("main/misbehave:2")


async def test_memory_that_is_shared_counts_too(bench: Bench):
    statements = (
        "import mmap, signal\nheld = mmap.mmap(-1, 2 << 30)\n"
        "for _ in range(1200):\n    held.write(bytes(1 << 20))\nsignal.pause()"
    )
    fault = await bench.fault(top_level(statements), "a=f16[64]")
    assert "was stopped when it held more than 1024 MiB" in fault.message


async def test_a_loop_without_end_is_stopped_where_it_is():
    pool = WorkerPool(limits=Limits(inference=3))
    try:
        made = closure(HEADER + top_level("while True:\n    pass"))
        [fault] = (await pool.infer(sys.executable, request(made, "a=f16[64]"))).inference.faults
        assert fault.kind is FaultKind.ENVIRONMENT
        assert "took longer than 3 s and was stopped" in fault.message
        assert [place.member for place in fault.chain] == ["main/misbehave", "main/BAD"]
    finally:
        await pool.close()


async def test_nothing_that_a_killed_worker_started_lives_on(bench: Bench, tmp_path: Path):
    statements = (
        "import os, subprocess\n"
        "one = subprocess.Popen(['sleep', '600'])\n"
        "two = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print(one.pid, two.pid, flush=True)\n"
        "os._exit(1)"
    )
    inference = await bench.infer(top_level(statements), "a=f16[64]")
    pids = [int(word) for word in inference.output.split()]
    assert len(pids) == 2
    assert not outlive(numbered(pids))


@pytest.mark.parametrize(
    "statements",
    [
        "print('{\"inference\":{}}')",
        "import os\nos.write(1, b'{}\\n')\nos.write(2, b'\\xff\\xfe')",
        "import os\nos.close(0)\nos.close(1)\nos.close(2)",
        "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = None",
        "import subprocess\nsubprocess.run(['echo', '{}'], check=True)",
        "import atexit, os\natexit.register(os.abort)",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGUSR2, signal.SIG_IGN)",
        "import json\njson.loads = json.dumps = None\njson.JSONEncoder.encode = None",
        "import sys\nsys.setrecursionlimit(120)",
        "import gc, os\ngc.enable()\nos.environ.clear()\nos.chdir('/')",
        "import sys, builtins\nsys.path.clear()\nbuiltins.open = None\nbuiltins.print = None",
    ],
)
async def test_what_harms_only_its_own_process_harms_nothing(bench: Bench, statements: str):
    result = await bench.result(top_level(statements), "a=f16[64]")
    assert not result.inference.faults
    assert result.holder is not None
    assert isinstance(await bench.pool.codegen(result.holder, CodegenRequest(targets=("sm_90",))), Generated)


async def test_threads_left_running_do_not_run_while_the_ir_is_held(bench: Bench):
    statements = (
        "import os, threading\nprint(os.getpid(), flush=True)\n"
        "def spin():\n    while True:\n        pass\n"
        "threading.Thread(target=spin, daemon=True).start()"
    )
    result = await bench.result(top_level(statements), "a=f16[64]")
    assert result.holder is not None
    process = psutil.Process(int(result.inference.output.split()[0]))
    await eventually(lambda: status(process) == psutil.STATUS_STOPPED)
    assert isinstance(await bench.pool.codegen(result.holder, CodegenRequest(targets=("sm_90",))), Generated)
    await eventually(lambda: status(process) == psutil.STATUS_STOPPED)


async def test_the_forking_process_may_die_of_a_worker_and_is_started_again(bench: Bench):
    starts = bench.pool.starts
    fault = await bench.fault(
        top_level("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nsignal.pause()"), "a=f16[64]"
    )
    assert fault.kind is FaultKind.ENVIRONMENT
    assert not (await bench.infer(KERNEL, "a=f16[64]")).faults
    assert bench.pool.starts > starts


async def test_subprocesses_inherit_no_socket_of_ours(bench: Bench):
    statements = (
        "import subprocess\nprint(subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True).stdout)"
    )
    inference = await bench.infer(top_level(statements), "a=f16[64]")
    # 0, 1, 2, and the folder that `ls` reads.
    assert len(inference.output.split()) == 4


async def test_user_code_sees_its_own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "json.py").write_text("raise SystemExit('a file of the user in place of one of Python')\n")
    (tmp_path / "helper_of_the_user.py").write_text("VALUE = 1\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    pool = WorkerPool()
    try:
        source = top_level(
            "import os, helper_of_the_user\n"
            "print(sorted(n for n in os.environ if n in ('PYTHONPATH', 'PYTHONHASHSEED', 'PYTHONSAFEPATH')))"
        )
        made = closure(HEADER + source)
        inference = (await pool.infer(sys.executable, request(made, "a=f16[64]"))).inference
        assert not inference.faults
        assert inference.output == "['PYTHONPATH']\n"
    finally:
        await pool.close()


async def test_workers_end_with_the_server(tmp_path: Path):
    script = tmp_path / "server.py"
    script.write_text(
        "import asyncio, sys\n"
        "from tests.support.closures import closure, request\n"
        "from tile_lsp.engine.workers import WorkerPool\n"
        f"SOURCE = {HEADER + top_level('import os; print(os.getpid(), os.getppid())')!r}\n"
        "async def main():\n"
        "    pool = WorkerPool()\n"
        "    result = await pool.infer(sys.executable, request(closure(SOURCE), 'a=f16[64]'))\n"
        "    print(result.inference.output, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    root = Path(__file__).parents[2]
    server = psutil.Popen(
        [sys.executable, str(script)], stdout=-1, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )
    pids = [int(word) for word in server.stdout.readline().split()]
    assert len(pids) == 2
    left = numbered(pids)
    server.kill()
    server.wait()
    server.stdout.close()
    assert not outlive(left)
