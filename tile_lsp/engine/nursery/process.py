"""A process of ours in the user's interpreter, up to its first words."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from pathlib import Path

from tile_lsp.model.outcome import Fault, FaultKind

from .hello import ANOTHER, StartFailed
from .worker import PARTING, Ending

#: By path, never imported: it belongs to the other interpreter.
WORKER = Path(__file__).parents[2] / "worker" / "__main__.py"
_SAVED = "TILE_LSP_SAVED_"


class Process:
    """A process of ours in the user's interpreter, up to its hello."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket, output: int) -> None:
        self.process = process
        self.connection = ours
        self.output = output
        """Read end of the pipe that is its standard output and error."""

    @classmethod
    async def start(cls, python: str, options: tuple[str, ...]) -> Process:
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                python,
                str(WORKER),
                "--fd",
                str(theirs.fileno()),
                *options,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                pass_fds=(theirs.fileno(),),
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            ours.close()
            os.close(reading)
            reason = getattr(error, "strerror", None) or error
            raise StartFailed(
                Fault(
                    FaultKind.ENVIRONMENT,
                    f"The interpreter {python} could not be started: {reason}",
                    help=ANOTHER,
                    code="interpreter",
                )
            ) from error
        finally:
            theirs.close()
            os.close(writing)
        return cls(process, ours, reading)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    async def reap(self) -> Ending:
        """Wait for its end, and force it after a while."""
        try:
            async with asyncio.timeout(PARTING):
                code = await self.process.wait()
        except TimeoutError:
            self.kill()
            code = await self.process.wait()
        return ending_of(code)


def ending_of(code: int) -> Ending:
    return Ending(status=code) if code >= 0 else Ending(signal=-code)


def _environment() -> dict[str, str]:
    """Ours, with what would change how the worker itself starts set aside for it to put back for the user's code."""
    env = dict(os.environ)
    for name in ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONSAFEPATH"):
        if name in env:
            env[_SAVED + name] = env.pop(name)
    # Sets that a compiler goes through come in one order in every process.
    env.update(PYTHONHASHSEED="0", PYTHONSAFEPATH="1")
    return env


def forker_gone() -> Fault:
    return Fault(FaultKind.ENVIRONMENT, "The process that forks workers ended.", help="tile-lsp doctor", code="worker")
