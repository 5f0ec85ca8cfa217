"""The parts of numba-cuda-mlir that are used here, with what is changed about them: nothing asks for a device, every
instruction of the IR knows the range of its source, and code is generated from types that are known.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numba_cuda_mlir
from numba_cuda_mlir import descriptor, mlir_compiler, mlir_lowering, mlir_optimization, tools
from numba_cuda_mlir.numba_cuda.core.compiler import _EarlyPipelineCompletion
from numba_cuda_mlir.numba_cuda.core.compiler_machinery import FunctionPass, PassManager, register_pass

from . import failures, host, lines, ranges
from .api import bytecode, ir, types
from .failures import Failure

#: Typing asks which architecture it is for, and gives the same answer for all that there are.
_ANY = "sm_90"

Passes = list[tuple[Any, str]]


class Typed:
    """A function with its types, before it is lowered."""

    def __init__(self, state: Any, options: dict[str, Any]) -> None:
        self.state = state
        self.options = options
        self.calls: list[Typed] = []

    @property
    def function(self) -> Any:
        return self.state.func_ir.func_id.func


class Compiler:
    """One for a process, since what it changes is numba-cuda-mlir's own."""

    def __init__(self) -> None:
        self.version: str = numba_cuda_mlir.__version__
        self._partial = False
        self._failures: list[Failure] = []
        self._unbuilt: list[Failure] = []
        self.entered: list[Any] = []
        """Python functions whose inference was begun, in that order."""
        tools._cached_cc = (9, 0)
        descriptor.mlir_target.ensure_initialized()
        host.install()
        ranges.know_ranges()
        ranges.keep_locations()
        failures.collect(self)
        _number_places()
        self._note_entered()

    @staticmethod
    def is_kernel(value: Any) -> bool:
        return isinstance(value, descriptor.MLIRDispatcher) and not value.targetoptions.get("device")

    @staticmethod
    def qualname_of(kernel: Any) -> str:
        return kernel.py_func.__qualname__

    def infer(self, kernel: Any, arguments: tuple[Any, ...]) -> Typed:
        """Raises what numba-cuda-mlir raises."""
        with _passes(_up_to_types):
            state = _compile(kernel.py_func, arguments, {**kernel.targetoptions, "chip": _ANY})
        if state.return_type not in (None, types.void, types.none):
            raise TypeError("CUDA kernel must have void return type.")
        return Typed(state, dict(kernel.targetoptions))

    def explain(self, kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, list[Failure]]:
        """After a failure: the state with such types as there are, None if it came to none, and every error in it."""
        self._partial, self._failures, self._unbuilt = True, [], []
        try:
            with _passes(_up_to_partial_types):
                state = _compile(kernel.py_func, arguments, {**kernel.targetoptions, "chip": _ANY})
        except Exception:
            return None, self._unbuilt
        else:
            found = [failure for failure in state.typing_errors or () if isinstance(failure, Failure)]
            state.typemap, state.calltypes = state.typemap or {}, state.calltypes or {}
            return state, [*self._unbuilt, *found]
        finally:
            self._partial = False

    def build(self, typed: Typed, options: dict[str, Any], chip: str, table: lines.Table | None) -> Any:
        """The compilation's result, with PTX and a cubin in its metadata. With line tables whose lines count places
        where there is a table for them.
        """
        given = {**typed.options, **options, "chip": chip, "lineinfo": table is not None}
        with lines.recorded(table) if table is not None else lines.nothing(), _passes(_after_types(typed.state)):
            result = _compile(typed.function, typed.state.args, given)
        mlir_optimization.optimize(result)
        return result

    def _note_entered(self) -> None:
        stock = bytecode.FunctionIdentity.from_function.__func__
        compiler = self

        def from_function(cls: Any, pyfunc: Any) -> Any:
            compiler.entered.append(getattr(pyfunc, "py_func", pyfunc))
            return stock(cls, pyfunc)

        bytecode.FunctionIdentity.from_function = classmethod(from_function)


def texts_of(result: Any) -> tuple[str, str]:
    """LLVM IR and PTX. They are made of the module as it is: as a text with debug information it can't be read back."""
    stock = mlir_optimization.ir
    mlir_optimization.ir = _Live(stock, result.metadata["mlir_module"])
    try:
        return mlir_optimization.get_llvmir(result), mlir_optimization.get_ptx(result)
    finally:
        mlir_optimization.ir = stock


class _Live:
    """MLIR's bindings, for whom a certain module is what every text says."""

    def __init__(self, stock: Any, module: Any) -> None:
        self._stock = stock
        self._module = module

    @property
    def Module(self) -> Any:
        return self

    def parse(self, text: str) -> Any:
        return self._module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stock, name)


def _compile(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return mlir_compiler.compile_mlir(function, types.void, arguments, options)


class _passes:
    """The kernel's own compilation goes by other passes; device functions that it meets go by all of them."""

    def __init__(self, change: Callable[[Any, Passes], Passes]) -> None:
        self._change = change

    def __enter__(self) -> None:
        self._stock = stock = mlir_compiler.get_compiler_class
        change = self._change

        def get_compiler_class(*arguments: Any, **keywords: Any) -> Any:
            mlir_compiler.get_compiler_class = stock
            made = stock(*arguments, **keywords)
            define = made.define_pipelines

            def define_pipelines(self: Any) -> list[Any]:
                (pipeline,) = define(self)
                manager = PassManager("tile_lsp")
                manager.passes.extend(change(self.state, list(pipeline.passes)))
                manager.finalize()
                return [manager]

            made.define_pipelines = define_pipelines
            return made

        mlir_compiler.get_compiler_class = get_compiler_class

    def __exit__(self, *_: object) -> None:
        mlir_compiler.get_compiler_class = self._stock


def _at_types(passes: Passes) -> int:
    return [implementation for implementation, _ in passes].index(mlir_compiler.MLIRTypeInference)


def _up_to_types(state: Any, passes: Passes) -> Passes:
    return [*passes[: _at_types(passes) + 1], (_Stop, "stop")]


def _up_to_partial_types(state: Any, passes: Passes) -> Passes:
    return [*passes[: _at_types(passes)], (_PartialTypes, "partial types"), (_Stop, "stop")]


def _after_types(typed: Any) -> Callable[[Any, Passes], Passes]:
    def change(state: Any, passes: Passes) -> Passes:
        state.func_ir = typed.func_ir.copy()
        state.typemap, state.calltypes = dict(typed.typemap), dict(typed.calltypes)
        state.return_type = typed.return_type
        state.nargs = typed.func_ir.arg_count
        return passes[_at_types(passes) + 1 :]

    return change


@register_pass(mutates_CFG=False, analysis_only=True)
class _Stop(FunctionPass):
    _name = "tile_lsp_stop"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        raise _EarlyPipelineCompletion(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartialTypes(mlir_compiler.MLIRTypeInference):
    _name = "tile_lsp_partial_types"
    _raise_errors = False


def _number_places() -> None:
    """With a table of places at hand, "lines" of debug information are numbers in it."""
    stock = mlir_lowering.MLIRLower.get_loc

    def get_loc(self: Any, loc: Any) -> Any:
        if lines.is_active() and isinstance(loc, ir.Loc):
            return ir.Loc(f"{lines.FOLDER}/{lines.FILE}", lines.active().number(loc), 1)
        return stock(self, loc)

    mlir_lowering.MLIRLower.get_loc = get_loc


def calls_of(state: Any) -> Iterator[tuple[Any, Typed]]:
    """None: functions are inlined before types are inferred, or have their types apart."""
    return iter(())


def restart_numbers() -> None:
    """Symbols hold counters of the process. They count for each inference from the start."""
    bytecode.FunctionIdentity._unique_ids = itertools.count(1)
