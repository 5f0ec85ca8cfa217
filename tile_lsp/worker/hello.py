"""The first message of a process: what this interpreter is, which compilers it has, and what is missing."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import distributions, tools
from .wire import PROTOCOL

if TYPE_CHECKING:
    from .drivers import Driver
    from .standins import StandIns

#: Read by a compiler or by its tools, so part of what its output depends on.
_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "EXPERIMENTAL_CUDA_TILE_DEBUG_BUILD")
_PREFIXES = ("CUDA_TILE_", "CUTILE_", "TRITON_", "NUMBA_")


def compose(drivers: Mapping[str, Driver], standins: StandIns) -> dict[str, Any]:
    stamps = distributions.watched()
    environment = {
        name: value for name, value in sorted(os.environ.items()) if name in _VARIABLES or name.startswith(_PREFIXES)
    }
    search = tools.Search()
    for driver in drivers.values():
        driver.start(standins)
        search.add(driver.tools())
    table = search.table()
    versions, editable = distributions.survey(
        ("nvidia-*", "cuda-toolkit", *(name for driver in drivers.values() for name in driver.distributions))
    )
    stamps += [s for entry in table.values() if entry["path"] and (s := distributions.stamp_of(entry["path"]))]
    return {
        "protocol": PROTOCOL,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "platform": f"{sys.platform}-{platform.machine()}",
        "frontends": {name: driver.report(table) for name, driver in drivers.items()},
        "tools": table,
        "distributions": versions,
        "environment": environment,
        "sys_path": list(sys.path),
        "editable": editable,
        "watch": stamps,
    }
