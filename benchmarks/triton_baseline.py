"""triton called by hand, warm: its code generator up to TTIR, and its stages from there to a cubin. Runs in its venv.

Reads one JSON request a line, answers with the seconds that the work took. Collects garbage between requests, not in
them. With `--script FILE KERNEL ARGUMENTS` it is the plain script instead: import, compile once, end.
"""

from __future__ import annotations

import gc
import json
import linecache
import os
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource, make_backend

_TARGET = GPUTarget("cuda", 90, 32)


class Kernel:
    def __init__(self, path: str, name: str, arguments: dict[str, str]) -> None:
        self._path = path
        self._name = name
        self._arguments = arguments
        self._typed = ""

    def source(self, text: str) -> Any:
        linecache.cache[self._path] = (len(text), None, text.splitlines(keepends=True), self._path)
        module = ModuleType(f"by_hand_{self._name}")
        exec(compile(text, self._path, "exec"), module.__dict__)
        function = module.__dict__[self._name]
        while not isinstance(function, triton.JITFunction):
            function = function.fn
        signature, constants, attributes = {}, {}, {}
        for index, name in enumerate(function.arg_names):
            spec = self._arguments[name]
            if function.params[index].is_constexpr:
                signature[name], constants[name] = "constexpr", eval(spec)
            else:
                signature[name] = spec.removesuffix(":16")
                if spec.endswith(":16"):
                    attributes[index,] = [["tt.divisibility", 16]]
        return ASTSource(function, signature, constants, attributes)

    def infer(self, text: str) -> float:
        source = self.source(text)
        start = time.perf_counter()
        backend = make_backend(_TARGET)
        options = backend.parse_options({})
        context = _context(backend)
        module = source.make_ir(
            _TARGET, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        stages: dict[str, Any] = {}
        backend.add_stages(stages, options, source.language)
        module = stages["ttir"](module, {})
        seconds = time.perf_counter() - start
        self._typed = str(module)
        return seconds

    def codegen(self, options: dict[str, Any]) -> float:
        """The stages after TTIR: from its text, since they change what they are given."""
        backend = make_backend(_TARGET)
        with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
            file.write(self._typed)
            file.flush()
            start = time.perf_counter()
            context = _context(backend)
            module: Any = ir.parse_mlir_module(file.name, context)
            module.context = context
            parsed = backend.parse_options(options)
            stages: dict[str, Any] = {}
            backend.add_stages(stages, parsed, Language.TRITON)
            metadata: dict[str, Any] = {"target": _TARGET, **parsed.__dict__}
            for name, stage in stages.items():
                if name != "ttir":
                    module = stage(module, metadata)
                    if name != "cubin":
                        str(module)
            return time.perf_counter() - start


def _context(backend: Any) -> Any:
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def script(path: str, name: str, arguments: dict[str, str]) -> None:
    source = Kernel(path, name, arguments).source(Path(path).read_text(encoding="utf-8"))
    triton.compile(source, target=_TARGET)


def main() -> None:
    if sys.argv[1:2] == ["--script"]:
        script(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
        return
    kernels: dict[str, Kernel] = {}
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        gc.collect()
        gc.disable()
        seconds = 0.0
        match request["op"]:
            case "kernel":
                kernels[request["name"]] = Kernel(request["path"], request["name"], request["arguments"])
            case "infer":
                seconds = kernels[request["name"]].infer(request["text"])
            case "codegen":
                seconds = kernels[request["name"]].codegen(request["options"])
        gc.enable()
        print(json.dumps(seconds), flush=True)
    os._exit(0)  # an orderly end lists the objects that triton's bindings leak


if __name__ == "__main__":
    main()
