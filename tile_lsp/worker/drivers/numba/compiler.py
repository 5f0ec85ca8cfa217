"""The parts of numba-cuda that are used here, with what is changed about them: nothing asks for a device, nothing is
compiled when a module is loaded, and every instruction of the IR knows the range of its source.

Inference is cut off after types are known; lowering goes on from copies of that state, as often as configs ask for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numba_cuda
from llvmlite import ir as llvm
from numba import cuda
from numba.cuda import api, cgutils, cudaimpl, debuginfo, dispatcher, lowering, types, typing, utils
from numba.cuda import compiler as pipeline
from numba.cuda.core import bytecode, ir, sigutils, typed_passes
from numba.cuda.core.callconv import CUDACallConv
from numba.cuda.core.compiler import _EarlyPipelineCompletion
from numba.cuda.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.cuda.cudadrv import nvvm
from numba.cuda.descriptor import cuda_target
from numba.cuda.flags import CUDAFlags

from . import failures, host, lines, ranges, ufuncs
from .failures import Failure
from .ranges import Location

#: Lowering asks which architecture it is for, and gives the same answer for all that there are.
_ANY = (9, 0)


class Typed:
    """A function with its types, before it is lowered: what code generation starts from.

    Stands for the overload of a device function too, so it has the attributes that numba-cuda looks for in one.
    """

    objectmode = False
    type_annotation = None
    call_helper = None

    def __init__(self, state: Any, options: dict[str, Any], device: bool) -> None:
        self.state = state
        self.options = options
        self.device = device
        self.signature = typing.signature(state.return_type, *state.args)
        self.metadata = state.metadata
        named = state.func_id
        self.fndesc: Any = SimpleNamespace(modname=named.modname, qualname=named.func_qualname, uid=named.unique_id)
        """Until it is lowered, what inference asks of a function that recursion comes back to under other types."""
        self.calls: list[Typed] = []
        """The device functions that it was seen to call, in that order."""

    @property
    def entry_point(self) -> int:
        return id(self)

    @property
    def function(self) -> Any:
        return self.state.func_ir.func_id.func


class Compiler:
    """One for a process, since what it changes is numba-cuda's own."""

    def __init__(self) -> None:
        self.version: str = numba_cuda.__version__
        self._partial = False
        self._failures: list[Failure] = []
        """Of the constraint at hand: what failed in the functions that it calls."""
        self._unbuilt: list[Failure] = []
        """Of the function at hand: statements that there is no constraint for."""
        self._calls: list[Typed] = []
        self.entered: list[Any] = []
        """Python functions whose inference was begun, in that order."""
        self._failed: dict[tuple[int, Any], list[Failure]] = {}
        self._install()

    # -- what a kernel is ----------------------------------------------------------------------------------------

    @staticmethod
    def is_kernel(value: Any) -> bool:
        if ufuncs.is_ufunc(value):
            return True
        return isinstance(value, dispatcher.CUDADispatcher) and not value.targetoptions.get("device")

    @staticmethod
    def qualname_of(kernel: Any) -> str:
        return kernel.py_func.__qualname__

    # -- inference -----------------------------------------------------------------------------------------------

    def infer(self, kernel: Any, arguments: tuple[Any, ...]) -> Typed:
        """Raises what numba-cuda raises."""
        return self._type(kernel.py_func, arguments, types.void, kernel.targetoptions, device=False)

    def explain(self, kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, list[Failure]]:
        """After a failure: the state with such types as there are, None if it came to none, and every error in it."""
        return self._explain(kernel.py_func, arguments, types.void, kernel.targetoptions)

    def _type(
        self, function: Any, arguments: tuple[Any, ...], returned: Any, options: dict[str, Any], *, device: bool
    ) -> Typed:
        outer, self._calls = self._calls, []
        self.entered.append(function)
        try:
            state = self._run(_TypesOnly, function, arguments, returned, options)
            if not device and state.return_type not in (None, types.void, types.none):
                raise TypeError("CUDA kernel must have void return type.")
            typed = Typed(state, options, device)
            # Those of which it was settled before what they are compiled for are never asked for again.
            typed.calls = list(dict.fromkeys((*self._calls, *(called for _, called in calls_of(state)))))
            return typed
        finally:
            self._calls = outer

    def _explain(
        self, function: Any, arguments: tuple[Any, ...], returned: Any, options: dict[str, Any]
    ) -> tuple[Any, list[Failure]]:
        before, self._partial = self._partial, True
        failures, self._failures = self._failures, []
        unbuilt, self._unbuilt = self._unbuilt, []
        try:
            state = self._run(_PartialTypes, function, arguments, returned, options)
        except Exception:
            return None, self._unbuilt
        else:
            found = [failure for failure in state.typing_errors or () if isinstance(failure, Failure)]
            state.typemap, state.calltypes = state.typemap or {}, state.calltypes or {}
            return state, [*self._unbuilt, *found]
        finally:
            self._partial, self._failures, self._unbuilt = before, failures, unbuilt

    @staticmethod
    def _run(passes: Any, function: Any, arguments: tuple[Any, ...], returned: Any, options: dict[str, Any]) -> Any:
        with utils.numba_target_override():
            return pipeline.compile_extra(
                cuda_target.typing_context,
                cuda_target.target_context,
                function,
                arguments,
                returned,
                _flags(options),
                {},
                pipeline_class=passes,
                call_conv=CUDACallConv(cuda_target.target_context),
                abi_info={},
            )

    def device(self, called: Any, arguments: tuple[Any, ...], returned: Any = None) -> Typed:
        """In place of `CUDADispatcher.compile_device`: types alone."""
        typed = called.overloads.get(arguments)
        if typed is None:
            with called._compiling_counter:
                try:
                    typed = self._type(called.py_func, arguments, returned, called.targetoptions, device=True)
                except Exception:
                    if self._partial:
                        key = (id(called), arguments)
                        if key not in self._failed:
                            self._failed[key] = self._explain(
                                called.py_func, arguments, returned, called.targetoptions
                            )[1]
                        self._failures.extend(self._failed[key])
                    raise
            called.overloads[arguments] = typed
        if typed not in self._calls:
            self._calls.append(typed)
        return typed

    # -- code generation -----------------------------------------------------------------------------------------

    def lower(self, typed: Typed, changes: dict[str, Any], table: lines.Table) -> Any:
        """A library with the LLVM IR of a function and all that it calls. `changes`: options that are not its own."""
        for called in _below(typed):
            if getattr(called, "library", None) is None:
                called.library, called.fndesc = self._lower(called, {}, table)
                cuda_target.target_context.insert_user_function(called.entry_point, called.fndesc, [called.library])
        # Every config's names count on from those of the functions that they share.
        typed.numbered = cudaimpl._unique_smem_id = getattr(typed, "numbered", cudaimpl._unique_smem_id)
        library, fndesc = self._lower(typed, changes, table)
        kernel = library.get_function(fndesc.llvm_func_name)
        library._entry_name = kernel.name
        pipeline.kernel_fixup(kernel, bool(typed.options.get("debug")))
        nvvm.set_launch_bounds(kernel, {**typed.options, **changes}.get("launch_bounds"))
        return library

    @staticmethod
    def _lower(typed: Typed, changes: dict[str, Any], table: lines.Table) -> tuple[Any, Any]:
        state = typed.state
        made = _Lowering(
            cuda_target.typing_context,
            cuda_target.target_context,
            None,
            state.args,
            state.return_type,
            _flags({**typed.options, **changes}),
            {},
            CUDACallConv(cuda_target.target_context),
            {},
        )
        copied = made.state
        copied.func_id, copied.bc = state.func_id, state.bc
        copied.lifted, copied.lifted_from, copied.nargs = (), None, state.func_ir.arg_count
        copied.func_ir = state.func_ir.copy()
        copied.typemap, copied.calltypes = dict(state.typemap), dict(state.calltypes)
        with utils.numba_target_override(), lines.recorded(table):
            result = made._compile_core()
        result.library.finalize()
        return result.library, result.fndesc

    # -- changes -------------------------------------------------------------------------------------------------

    def _install(self) -> None:
        for module in (api, pipeline, dispatcher, cuda):
            if hasattr(module, "get_current_device"):
                module.get_current_device = _Device
        host.install()
        ufuncs.install()
        ranges.know_ranges()
        ranges.keep_locations()
        compiler = self

        def compile_device(self: Any, args: tuple[Any, ...], return_type: Any = None) -> Typed:
            return compiler.device(self, args, return_type)

        def compile_kernel(self: Any, sig: Any) -> Any:
            # When it is decorated: which of its signatures is wanted is the job's to say.
            arguments, _ = sigutils.normalize_signature(sig)
            self.overloads[arguments] = _Eager(arguments)
            return self.overloads[arguments]

        dispatcher.CUDADispatcher.compile_device = compile_device
        dispatcher.CUDADispatcher.compile = compile_kernel
        dispatcher.CUDADispatcher.enable_caching = lambda self: None
        failures.collect(self)


class _Device:
    """What stands for the current device: nothing that we do depends on it."""

    compute_capability = _ANY
    supports_float16 = supports_bfloat16 = True
    id = 0
    name = b"none"


class _Eager:
    """A signature that a decorator gives."""

    objectmode = False
    entry_point = None

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.signature = typing.signature(types.void, *arguments)


def _flags(options: dict[str, Any]) -> Any:
    """As numba-cuda makes them for a dispatcher's options."""
    flags = CUDAFlags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.inline = options.get("inline") or "never"
    flags.error_model = "numpy"
    if options.get("debug"):
        flags.error_model = "python"
        flags.dbg_extend_lifetimes = True
    if options.get("forceinline"):
        flags.forceinline = True
    if options.get("fastmath"):
        flags.fastmath = True
    flags.compute_capability = _ANY
    return flags


def calls_of(state: Any) -> Iterator[tuple[Any, Typed]]:
    """The device functions that a function calls, each with the location of the call."""
    for block in state.func_ir.blocks.values():
        for expression in block.find_exprs("call"):
            callee, signature = state.typemap.get(expression.func.name), state.calltypes.get(expression)
            if isinstance(callee, types.Dispatcher) and signature is not None:
                called = callee.dispatcher.overloads.get(tuple(signature.args))
                if isinstance(called, Typed):
                    yield expression.loc, called


def _below(typed: Typed) -> Iterator[Typed]:
    """The functions that a function calls, each after those that it calls itself."""
    seen: set[int] = {id(typed)}

    def walk(function: Typed) -> Iterator[Typed]:
        for called in function.calls:
            if id(called) not in seen:
                seen.add(id(called))
                yield from walk(called)
                yield called

    return walk(typed)


@register_pass(mutates_CFG=False, analysis_only=True)
class _Stop(FunctionPass):
    _name = "tile_lsp_stop"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        raise _EarlyPipelineCompletion(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lower(pipeline.CUDANativeLowering):
    _name = "tile_lsp_lowering"

    @property
    def lowering_class(self) -> Any:
        return _LineLower


class _LineLower(lowering.CUDALower):
    """Lowers as without debug information, and notes beside each instruction what it comes from."""

    def init(self) -> None:
        super().init()
        self.debuginfo = _LineBuilder(self.module, self.func_ir.loc.filename, self.context, True)

    def lower_inst(self, inst: Any) -> Any:
        # A variable's own place is where it was assigned to, which says nothing of what becomes of it here.
        value = inst.value if isinstance(inst, ir.Assign) and not isinstance(inst.value, ir.Var) else None
        own = getattr(value, "loc", None)
        self.debuginfo.location = own if isinstance(own, Location) else inst.loc
        try:
            return super().lower_inst(inst)
        except Exception as error:
            # Some say nothing of where they are.
            if getattr(error, "loc", None) is None:
                error.loc = self.debuginfo.location  # type: ignore[attr-defined]
            raise


class _LineBuilder(debuginfo.CUDADIBuilder):
    """Debug information whose lines are numbers in the table of places: exact ranges, in what has room for a line."""

    location: Any = None

    def mark_location(self, builder: Any, line: int) -> None:
        builder.debug_metadata = self._di_location(line)

    def _di_location(self, line: int) -> Any:
        location = self.location if self.location is not None else ir.Loc(self.filepath, line)
        number = lines.active().number(location)
        return self.module.add_debug_info("DILocation", {"line": number, "column": 1, "scope": self.subprograms[-1]})

    def _di_subprogram(self, name: str, linkagename: str, line: int, function: Any, argmap: Any) -> Any:
        number = lines.active().number(ir.Loc(self.filepath, line))
        return super()._di_subprogram(name, linkagename, number, function, argmap)

    def _set_module_flags(self) -> None:
        flags = cgutils.get_or_insert_named_metadata(self.module, "llvm.module.flags")
        if not flags.operands:
            # As NVRTC has them: two modules that are linked must not differ in what to do about a difference.
            for name, value in (("Dwarf Version", self.DWARF_VERSION), ("Debug Info Version", self.DEBUG_INFO_VERSION)):
                flags.add(self.module.add_metadata([self._const_int(1), name, self._const_int(value)]))

    def _di_file(self) -> Any:
        # An absolute path is left as it is, where others are taken to be in the working folder.
        return self.module.add_debug_info("DIFile", {"directory": lines.FOLDER, "filename": lines.FILE})

    def mark_variable(self, *arguments: Any, **keywords: Any) -> None:
        pass

    update_variable = mark_variable

    def _di_subroutine_type(self, line: int, function: Any, argmap: Any) -> Any:
        nothing = self.module.add_metadata([llvm.Constant(llvm.MetaDataType(), None)])
        return self.module.add_debug_info("DISubroutineType", {"types": nothing})


def _passes(state: Any, after: bool, change: Callable[[Any], Any]) -> PassManager:
    """numba-cuda's own passes up to type inference, or those after it."""
    (stock,) = _stock_pipelines(state)
    at = [implementation for implementation, _ in stock.passes].index(typed_passes.NopythonTypeInference)
    made = PassManager("tile_lsp")
    kept = stock.passes[at + 1 :] if after else stock.passes[: at + 1]
    made.passes.extend((change(implementation), text) for implementation, text in kept)
    if not after:
        made.passes.append((_Stop, "stop"))
    made.finalize()
    return made


def _stock_pipelines(state: Any) -> list[Any]:
    return pipeline.CUDACompiler.define_pipelines(state)


class _TypesOnly(pipeline.CUDACompiler):
    def define_pipelines(self) -> list[Any]:
        return [_passes(self, False, lambda implementation: implementation)]


class _PartialTypes(pipeline.CUDACompiler):
    def define_pipelines(self) -> list[Any]:
        partial = {typed_passes.NopythonTypeInference: typed_passes.PartialTypeInference}
        return [_passes(self, False, lambda implementation: partial.get(implementation, implementation))]


class _Lowering(pipeline.CUDACompiler):
    def define_pipelines(self) -> list[Any]:
        own = {pipeline.CUDANativeLowering: _Lower}
        return [_passes(self, True, lambda implementation: own.get(implementation, implementation))]


def restart_numbers() -> None:
    """Symbols hold counters of the process. They count for each inference from the start: the same kernel has the same
    names every time.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(1)
    cudaimpl._unique_smem_id = 0
