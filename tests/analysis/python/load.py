"""Run as a script: executes a closure as a worker would and calls the kernel's plain Python function.

Reads `{"closure": …, "arguments": […]}` from stdin, writes `{"result": repr, "output": what user code printed}` to
stdout. `cuda.tile` is a stand-in, `torch` and other third-party modules are missing: a slice must not need them.
"""

from __future__ import annotations
import __future__

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import sys
import types


class Kernel:
    def __init__(self, function, **hints):
        self.function = function
        self.hints = hints


def kernel(function=None, /, **hints):
    return functools.partial(kernel, **hints) if function is None else Kernel(function, **hints)


class Constant:
    def __class_getitem__(cls, item):
        return cls


def tile_module():
    cuda, tile = types.ModuleType("cuda"), types.ModuleType("cuda.tile")
    cuda.__path__ = tile.__path__ = []
    cuda.tile = tile
    tile.kernel, tile.Constant, tile.function = kernel, Constant, lambda f: f
    tile.max = lambda *values: ("tile.max", *values)
    tile.float16, tile.float32 = "float16", "float32"
    sys.modules.update({"cuda": cuda, "cuda.tile": tile})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, closure):
        self.modules = {module["name"]: module for module in closure["modules"]}

    def find_spec(self, name, path=None, target=None):
        prefix = f"{name}."
        if name not in self.modules and not any(other.startswith(prefix) for other in self.modules):
            return None
        module = self.modules.get(name, {"path": "", "package": True})
        spec = importlib.machinery.ModuleSpec(name, self, origin=module["path"], is_package=module["package"])
        spec.has_location = True
        return spec

    def exec_module(self, module):
        for member in self.modules.get(module.__name__, {"members": ()})["members"]:
            flags = functools.reduce(
                lambda flags, name: flags | getattr(__future__, name).compiler_flag, member.get("future", ()), 0
            )
            code = compile(member["text"], member["id"], "exec", flags, dont_inherit=True)
            exec(code, module.__dict__)


def main():
    task = json.load(sys.stdin)
    closure = task["closure"]
    tile_module()
    sys.meta_path.insert(0, Finder(closure))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        module = importlib.import_module(closure["entry"]["module"])
        found = eval(closure["entry"]["expression"], module.__dict__)
        assert isinstance(found, Kernel), found
        assert found.function.__qualname__ == closure["entry"]["qualname"], found.function.__qualname__
        result = found.function(*task["arguments"])
    sys.stdout.write(json.dumps({"result": repr(result), "output": output.getvalue()}))


main()
