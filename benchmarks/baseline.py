"""The compiler and the tools called by hand, warm. A process of its own: it imports the compiler, which we never do.

Reads one JSON request a line, answers with the seconds that the work took. Collects garbage between requests, not in
them. Start it with `environment()` of figures.py: the compiler reads its variables when it is imported.
"""

from __future__ import annotations

import gc
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile import _compile
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._passes.ast2hir import HirMode, get_function_hir
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint

_VERSION = BytecodeVersion.V_13_4
_TOOLS = Path(_compile._find_compiler_bin().path).parent
_DTYPES = {"f16": ct.float16, "bf16": ct.bfloat16, "f32": ct.float32}


class Kernel:
    """One kernel of a module, which is reloaded from text for every edit."""

    def __init__(self, path: str, name: str, arguments: dict[str, str]) -> None:
        self._path = path
        self._name = name
        self._signature = KernelSignature(
            [_constraint(spec) for spec in arguments.values()], CallingConvention.cutile_python_v2()
        ).with_symbol(name)
        self._keeper: Any = None
        self._kernel: Any = None

    def infer(self, text: str) -> float:
        """Reload, parse, infer, final IR."""
        start = time.perf_counter()
        module = types.ModuleType(Path(self._path).stem)
        linecache.cache[self._path] = (len(text), None, text.splitlines(keepends=True), self._path)
        exec(compile(text, self._path, "exec"), module.__dict__)
        self._kernel = getattr(module, self._name)
        function = self._kernel._annotated_function
        hir = get_function_hir(function.pyfunc, HirMode.ENTRY_POINT)
        self._keeper = _compile._IrKeeper(function, hir, [self._signature], _VERSION, None, False, True)
        self._keeper.get_final_ir(0)
        return time.perf_counter() - start

    def codegen(self, target: str, options: dict[str, Any]) -> tuple[float, bytes]:
        """Bytecode for these hints, then the assembler."""
        start = time.perf_counter()
        kernel = self._kernel.replace_hints(**options) if options else self._kernel
        bytecode = bytes(_compile._get_bytecode(self._keeper, kernel._compiler_options, False).bytecode)
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = Path(folder, "k.bc"), Path(folder, "k.cubin")
            source.write_bytes(bytecode)
            command = [_TOOLS / "tileiras", source, "-o", cubin, "--gpu-name", target, "-O3", "--lineinfo"]
            subprocess.run(command, check=True, env={**os.environ, "TMPDIR": folder})
            code = cubin.read_bytes()
        return time.perf_counter() - start, code


def disassemble(cubin: bytes) -> float:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.cubin")
        path.write_bytes(cubin)
        subprocess.run([_TOOLS / "nvdisasm", "-c", path], check=True, stdout=subprocess.PIPE)
    return time.perf_counter() - start


def _constraint(spec: str) -> Any:
    """As the JIT would infer it for an aligned, contiguous array of this shape."""
    array = re.fullmatch(r"(\w+)\[([\d,]+)\]", spec)
    if array is None:
        return ScalarConstraint(_DTYPES[spec]) if spec in _DTYPES else eval(spec)
    dtype = _DTYPES[array[1]]
    shape = [int(length) for length in array[2].split(",")]
    strides = [1]
    for length in shape[:0:-1]:
        strides.insert(0, strides[0] * length)
    aligned = 128 // dtype.bitwidth
    return ArrayConstraint(
        dtype,
        len(shape),
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (len(shape) - 1) + [1],
        stride_divisible_by=[aligned if stride % aligned == 0 else 1 for stride in strides[:-1]] + [1],
        shape_divisible_by=[16 if length % 16 == 0 else 1 for length in shape],
        base_addr_divisible_by=16,
    )


def main() -> None:
    kernels: dict[str, Kernel] = {}
    cubins: dict[str, bytes] = {}
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        gc.collect()
        gc.disable()
        match request["op"]:
            case "kernel":
                kernels[request["name"]] = Kernel(request["path"], request["name"], request["arguments"])
                seconds = 0.0
            case "infer":
                seconds = kernels[request["name"]].infer(request["text"])
            case "codegen":
                seconds, code = kernels[request["name"]].codegen(request["target"], request.get("options", {}))
                cubins[request["name"]] = code
            case "disassemble":
                seconds = disassemble(cubins[request["name"]])
        gc.enable()
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
