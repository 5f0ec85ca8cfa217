"""numba-cuda called by hand, warm: its own passes up to types, and from types to a cubin. Run by its interpreter.

Reads one JSON request a line, answers with the seconds that the work took. Collects garbage between requests, not in
them.
"""

from __future__ import annotations

import gc
import json
import linecache
import sys
import time
import types
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from numba.cuda import compiler, dispatcher, utils
from numba.cuda import types as numba_types
from numba.cuda.core.callconv import CUDACallConv
from numba.cuda.core.compiler import _EarlyPipelineCompletion
from numba.cuda.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.cuda.core.typed_passes import NopythonTypeInference
from numba.cuda.cudadrv import nvvm
from numba.cuda.descriptor import cuda_target
from numba.cuda.flags import CUDAFlags

_DEVICE = SimpleNamespace(compute_capability=(9, 0))
_TARGET = (9, 0, "a")


@register_pass(mutates_CFG=False, analysis_only=True)
class Stop(FunctionPass):
    _name = "stop_by_hand"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        raise _EarlyPipelineCompletion(state)


def _split(after: bool) -> type:
    class Part(compiler.CUDACompiler):
        def define_pipelines(self) -> list[PassManager]:
            (stock,) = super().define_pipelines()
            at = [made for made, _ in stock.passes].index(NopythonTypeInference)
            part = PassManager("by_hand")
            part.passes.extend(stock.passes[at + 1 :] if after else [*stock.passes[: at + 1], (Stop, "stop")])
            part.finalize()
            return [part]

    return Part


FRONT, BACK = _split(after=False), _split(after=True)


class Kernel:
    """One kernel of a module, which is reloaded from text for every edit."""

    def __init__(self, path: str, name: str, arguments: list[str]) -> None:
        self._path = path
        self._name = name
        self._arguments = tuple(eval(text, dict(vars(numba_types))) for text in arguments)
        self._state: Any = None

    def infer(self, text: str) -> float:
        """Reload, then everything up to types."""
        start = time.perf_counter()
        module = types.ModuleType(Path(self._path).stem)
        linecache.cache[self._path] = (len(text), None, text.splitlines(keepends=True), self._path)
        exec(compile(text, self._path, "exec"), module.__dict__)
        function = getattr(module, self._name).py_func
        self._state = self._pipeline(FRONT, {}).compile_extra(function)
        return time.perf_counter() - start

    def codegen(self, options: dict[str, Any]) -> float:
        """From types to the cubin that a launch would load."""
        start = time.perf_counter()
        part, state = self._pipeline(BACK, options), self._state
        for name in ("func_id", "bc", "lifted", "lifted_from", "nargs", "return_type"):
            setattr(part.state, name, getattr(state, name))
        part.state.func_ir = state.func_ir.copy()
        part.state.typemap, part.state.calltypes = dict(state.typemap), dict(state.calltypes)
        result = part._compile_core()
        library = result.library
        library.finalize()
        kernel = library.get_function(result.fndesc.llvm_func_name)
        library._entry_name = kernel.name
        compiler.kernel_fixup(kernel, False)
        nvvm.set_launch_bounds(kernel, None)
        library.get_cubin(cc=_TARGET)
        return time.perf_counter() - start

    def _pipeline(self, part: type, options: dict[str, Any]) -> Any:
        flags = CUDAFlags()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.error_model = "numpy"
        fastmath = bool(options.get("fastmath"))
        if fastmath:
            flags.fastmath = True
        flags.nvvm_options = {"fastmath": fastmath, "opt": 3}
        flags.compute_capability = _DEVICE.compute_capability
        flags.max_registers = options.get("max_registers")
        flags.lto = True
        context = cuda_target.target_context
        void = numba_types.void
        return part(
            cuda_target.typing_context, context, None, self._arguments, void, flags, {}, CUDACallConv(context), {}
        )


def main() -> None:
    dispatcher.get_current_device = lambda: _DEVICE
    warnings.simplefilter("ignore")
    kernels: dict[str, Kernel] = {}
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        gc.collect()
        gc.disable()
        seconds = 0.0
        with utils.numba_target_override():
            match request["op"]:
                case "kernel":
                    kernels[request["name"]] = Kernel(request["path"], request["name"], request["arguments"])
                case "infer":
                    seconds = kernels[request["name"]].infer(request["text"])
                case "codegen":
                    seconds = kernels[request["name"]].codegen(request["options"])
        gc.enable()
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
