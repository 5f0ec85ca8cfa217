"""From a bare interpreter to a worker that is warm: import, say hello, compile something small, then serve."""

from __future__ import annotations

import argparse
import gc
import os
import socket
import sys

from . import child, confine, hello, zygote
from .drivers import DRIVERS, choose
from .standins import StandIns
from .wire import Channel

#: Set by the server where it took something out of the environment for the time of the start: it is put back for
# the user's code.
_SAVED = "TILE_LSP_SAVED_"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="tile-lsp worker")
    parser.add_argument("--fd", type=int, required=True, help="number of the inherited socket")
    parser.add_argument("--spawned", action="store_true", help="be one worker, not a process that forks workers")
    parser.add_argument("--memory", type=int, default=0, help="bytes that user code may allocate; 0: no limit")
    parser.add_argument("--drivers", default="", help="the one driver to load; empty: those of Python's front ends")
    options = parser.parse_args(arguments)
    choose(options.drivers)

    control = socket.socket(fileno=confine.move_high(options.fd))
    restore_environment()
    standins = StandIns()
    quiet_libraries()
    greeting = hello.compose(DRIVERS, standins)
    greeting["fork"] = not options.spawned and can_fork()
    channel = Channel(control.fileno())
    channel.send(greeting)
    if not options.spawned and not greeting["fork"]:
        return
    confine.keep_freed_memory()
    warm_up()
    if options.spawned:
        confine.confine(options.memory)
        child.serve(channel, standins, touch=False)
    else:
        zygote.serve(control, standins)


def restore_environment() -> None:
    """Undo what the server did to the environment for our sake: user code and its subprocesses see their own."""
    for name in ("PYTHONPATH", "PYTHONHASHSEED", "PYTHONSAFEPATH"):
        os.environ.pop(name, None)
    for name in [name for name in os.environ if name.startswith(_SAVED)]:
        os.environ[name[len(_SAVED) :]] = os.environ.pop(name)
    path = os.environ.get("PYTHONPATH")
    if path:
        # Only now, when our own modules and those of the standard library are loaded.
        sys.path[0:0] = [os.path.abspath(entry) for entry in path.split(os.pathsep) if entry]


def quiet_libraries() -> None:
    """A thread would make forking unsafe, and the thread pools of array libraries start when they are imported."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(name, "1")


def can_fork() -> bool:
    """True where a fork is a faithful copy: the call exists and there is one thread."""
    if not hasattr(os, "fork") or sys.platform in ("darwin", "win32"):
        # macOS' system libraries may not be used after a fork without exec.
        return False
    return confine.thread_count() == 1


def warm_up() -> None:
    """Fill the compilers' caches and let the interpreter specialise their code, then keep the collector off all of
    it.
    """
    for driver in DRIVERS.values():
        driver.warm()
    gc.collect()
    gc.freeze()
    gc.disable()
