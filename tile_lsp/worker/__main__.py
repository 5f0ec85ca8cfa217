"""Start: `<the user's python> <this file> --fd N [--spawned]`. N is an inherited socket that speaks the protocol
(`wire.py`).
"""

import importlib
import importlib.util
import os
import sys

_NAME = "_tile_lsp_worker"
_OLDEST = (3, 10)


def _bootstrap() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    # The interpreter puts the script's folder first: our module names would shadow the user's.
    sys.path[:] = [entry for entry in sys.path if entry and os.path.abspath(entry) != folder]
    spec = importlib.util.spec_from_file_location(
        _NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    # This file alone must be readable by older versions.
    if sys.version_info < _OLDEST:
        sys.exit("tile-lsp needs Python 3.10 or later to run kernels, and this is " + sys.version.split()[0])
    _bootstrap()
    start = importlib.import_module(f"{_NAME}.start")
    # From here on what is imported is the user's, and their folders are not ours to write to.
    sys.dont_write_bytecode = True
    start.main(sys.argv[1:])
