"""External tools: each run in a folder of its own, with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.outcome import Fault, FaultKind

from .launcher import Launcher
from .stats import Counters
from .turns import Slots

#: Point at another toolkit than the tool's own and break it (tileiras exits with 5).
_SCRUBBED = ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH", "LD_PRELOAD")
_MAX_OUTPUT = 1 << 28
_MOST_TOLD = 50


class Tool(msgspec.Struct, frozen=True):
    """An external program, as an interpreter's environment names it."""

    name: str
    path: str
    version: str
    """What it prints of its own version, whole: part of every cache key."""
    env: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    """Before those of a run: the script of an interpreter."""


class Tools:
    """Runs tools, at most `jobs` of them at once."""

    def __init__(
        self, counters: Counters, launcher: Launcher, *, jobs: int | None = None, timeout: float = 120.0
    ) -> None:
        self._counters = counters
        self._launcher = launcher
        self._slots = Slots(jobs or os.cpu_count() or 2)
        self.timeout = timeout

    async def run(self, tool: Tool, run: ToolRun, inputs: Mapping[str, bytes]) -> dict[str, bytes] | Fault:
        """The blobs that the run wrote, or why there are none. Cancelling the caller kills the tool.

        A tool that reports an error in its input is the user's fault; one that can't start, crashes or takes too long
        is the environment's.
        """
        async with self._slots:
            folder = Path(tempfile.mkdtemp(prefix="tile-lsp-"))
            try:
                return await self._run_in(folder, tool, run, inputs)
            except OSError as error:
                return Fault(
                    FaultKind.ENVIRONMENT,
                    f"{tool.name} could not be started: {error.strerror or error}",
                    help="tile-lsp doctor",
                    code="tool",
                )
            finally:
                # Nobody waits for it; the end of the event loop does.
                asyncio.get_running_loop().run_in_executor(None, shutil.rmtree, folder, True)

    async def _run_in(
        self, folder: Path, tool: Tool, run: ToolRun, inputs: Mapping[str, bytes]
    ) -> dict[str, bytes] | Fault:
        files = {name: str(folder / name) for name in (*run.inputs, *run.outputs)}
        for name in run.inputs:
            Path(files[name]).write_bytes(inputs[name])
        arguments = [_fill(argument, files) for argument in run.arguments]
        self._counters.tools[tool.name] += 1
        stdout = folder / "stdout"
        stderr = folder / "stderr.txt"
        try:
            code = await self._launcher.run(
                [tool.path, *tool.arguments, *arguments],
                cwd=folder,
                env=environment(tool.env, folder),
                out=stdout,
                err=stderr,
                limit=self.timeout,
            )
        except TimeoutError:
            return Fault(
                FaultKind.ENVIRONMENT,
                f"{tool.name} took longer than {self.timeout:g} s and was stopped. Smaller tiles compile faster.",
                help="set tile-lsp.timeouts.tool to more seconds",
                code="timeout",
            )
        words = stderr.read_text(errors="replace").strip() or stdout.read_text(errors="replace")[-2000:].strip()
        # The folder is another one each time: the same error is to be the same words.
        words = words.replace(f"{folder}{os.sep}", "")
        if code != 0:
            fault = _failure(tool, code, words)
            told = run.told(words, inputs) if run.told is not None and fault.kind is FaultKind.USER else ()
            each = [
                msgspec.structs.replace(fault, message=message, chain=chain) for message, chain in told[:_MOST_TOLD]
            ]
            return msgspec.structs.replace(each[0], others=tuple(each[1:])) if each else fault
        blobs = {}
        for name in run.outputs:
            path = Path(files[name])
            blobs[name] = path.read_bytes() if path.is_file() and path.stat().st_size < _MAX_OUTPUT else b""
        return blobs


def environment(extra: Mapping[str, str], folder: Path | None = None) -> dict[str, str]:
    """The environment of a tool: ours, less what leads it to another toolkit."""
    env = {name: value for name, value in os.environ.items() if name not in _SCRUBBED}
    env.update(extra)
    if folder is not None:
        env["TMPDIR"] = str(folder)
    return env


def _fill(argument: str, files: Mapping[str, str]) -> str:
    for name, path in files.items():
        argument = argument.replace("{" + name + "}", path)
    return argument


def _failure(tool: Tool, code: int, words: str) -> Fault:
    if code < 0:
        with contextlib.suppress(ValueError):
            words = f"{words}\n{tool.name} was ended by {signal.Signals(-code).name}".strip()
        return Fault(FaultKind.ENVIRONMENT, words or f"{tool.name} was ended by signal {-code}", code="crash")
    words = words.removeprefix("error: ")
    return Fault(
        FaultKind.USER, words or f"{tool.name} failed with exit status {code} and said nothing", code=tool.name
    )
