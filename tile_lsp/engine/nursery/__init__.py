"""The warm process of one interpreter, the workers that it forks, and the sockets and pipes to them.

Where the interpreter can't fork safely, each worker is a process started from scratch; one is always kept ready. Both
look the same from outside.
"""

import sys

from .hello import Environment, FrontEndInfo, StartFailed, ToolReport, start_hung
from .limits import Limits
from .nursery import Nursery, start_nursery
from .worker import Lost, Worker

__all__ = [
    "Environment",
    "FrontEndInfo",
    "Limits",
    "Lost",
    "Nursery",
    "StartFailed",
    "ToolReport",
    "Worker",
    "start_hung",
    "start_nursery",
]

if sys.platform == "win32":
    raise ImportError("tile-lsp's workers need a POSIX system")
