"""Run by Numba's interpreter: compiles a kernel as a launch on a GPU of that kind would, and writes the cubin.

    python real.py FILE KERNEL ARGUMENTS OPTIONS MAJOR.MINOR CUBIN

ARGUMENTS is Python, evaluated with the names of `numba.types`; OPTIONS is JSON, put over the decorator's. Nothing but
the question which device there is has another answer than with a GPU.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from numba.cuda import dispatcher, types
from numba.cuda.cudadrv import devices


def main(file: str, name: str, arguments: str, options: str, capability: str, cubin: str) -> None:
    device = SimpleNamespace(compute_capability=tuple(map(int, capability.split("."))))
    dispatcher.get_current_device = lambda: device
    devices.get_context = lambda number=None: SimpleNamespace(device=device)
    sys.path.insert(0, str(Path(file).parent))
    kernel = getattr(importlib.import_module(Path(file).stem), name)
    signature = eval(arguments, dict(vars(types)))
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(options).items()}
    made = dispatcher._Kernel(kernel.py_func, signature, **{**kernel.targetoptions, **given})
    Path(cubin).write_bytes(made.library.get_cubin().code)


if __name__ == "__main__":
    main(*sys.argv[1:])
