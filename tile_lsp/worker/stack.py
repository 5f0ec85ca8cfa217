"""Room for deep calls.

From Python 3.11 on frames lie in chunks of 16 KiB, and a chunk is given back to the system as soon as its last frame
is done. A call that crosses from one chunk to the next, made in a loop at just the wrong depth, maps, clears and unmaps
memory each time: microseconds, where a call costs a tenth of one. The depth at which a compiler works is chance.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

T = TypeVar("T")

_SLOTS = 1 << 16


def with_room(function: Callable[[], T]) -> T:
    """Call it where half a mebibyte of frames fits into one chunk: below a frame that says it needs as much itself.
    What is not used of either is never touched, and so takes no memory.
    """

    def call() -> T:
        return function()

    return FunctionType(call.__code__.replace(co_stacksize=_SLOTS), {}, closure=call.__closure__)()
