"""One worker: answers requests until the server closes the socket. The first `infer` makes it the holder of a typed
IR.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
from collections.abc import Callable
from typing import Any, NoReturn

from . import confine, distributions, faults, inputs, syntax
from .drivers import DRIVERS
from .loading import code_of
from .stack import with_room
from .standins import StandIns
from .wire import Channel, Closed

Message = dict[str, Any]


def decode(line: bytes) -> Message:
    return json.loads(line)


def serve(channel: Channel, standins: StandIns, *, touch: bool) -> NoReturn:
    """Never returns: what user code left behind (threads, `atexit` handlers, finalisers) must not run.

    `touch`: there is time before the first request. Of a forked process's memory each page is copied when it is first
    written to, which makes a compiler's first run a third slower; a run on a sample has that behind it.
    """
    gc.disable()
    try:
        with_room(functools.partial(_serve, channel, _Worker(standins), touch))
    except Closed:
        os.write(2, b"the worker's connection was closed by the code that it loaded\n")
        os._exit(1)
    finally:
        os._exit(0)


def _serve(channel: Channel, worker: _Worker, touch: bool) -> None:
    if touch:
        for driver in DRIVERS.values():
            driver.touch()
        # What the sample leaves is the memory that the first request takes, which is ours by then.
        gc.collect()
    while (request := channel.receive()) is not None:
        if request.get("op") == "expect":
            _expect(request["members"])
            continue
        answer = worker.answer(request)
        confine.flush_output()
        channel.send(answer)
        if answer.get("more"):
            channel.send(worker.listings())


def _expect(members: list[Message]) -> None:
    """Compile what the first request will most likely bring along. Nothing of it runs."""
    for member in members:
        with contextlib.suppress(Exception):
            code_of(member)


class _Worker:
    def __init__(self, standins: StandIns) -> None:
        self._standins = standins
        self._held: Any = None
        self._operations: dict[str, Callable[[Message], Message]] = {
            "infer": self._infer,
            "codegen": self._codegen,
            "versions": lambda request: {"versions": distributions.versions_of(request["modules"])},
            "parse": lambda request: syntax.parse(request["source"], request.get("filename", "<unsaved>")),
        }

    def answer(self, request: Message) -> Message:
        operation = self._operations.get(request.get("op", ""))
        if operation is None:
            return {"error": f"no such operation: {request.get('op')!r}"}
        try:
            return operation(request)
        except MemoryError:
            return {"faults": [faults.out_of_memory()]}
        except Exception as error:
            # Ours, not the user's: said in full, since there is nobody who could look at this process.
            return {"error": faults.describe(error)}

    def _infer(self, request: Message) -> Message:
        driver = DRIVERS[request["frontend"]]
        self._held, result = driver.infer(request, self._standins)
        result["inference"]["inputs"] = inputs.found()
        result["busy"] = confine.is_busy()
        result["more"] = self._held is not None
        return result

    def listings(self) -> Message:
        """The IR as text: nobody who waits for types waits for it too."""
        try:
            return {"listings": self._held.listings()}
        except Exception as error:
            return {"error": faults.describe(error)}

    def _codegen(self, request: Message) -> Message:
        if self._held is None:
            return {"faults": {"": [faults.fault(faults.ENVIRONMENT, "this worker holds no typed IR")]}}
        return self._held.codegen(request)
