"""The parts of cuda.tile that are used here, and what changed about them from 1.3 to 1.7."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import cuda.tile as ct
from cuda.tile import _compile, _exception
from cuda.tile._compiler_options import CompilerOptions
from cuda.tile._ir import hir, hir_stubs, ir
from cuda.tile._passes import ast2hir, hir2ir
from cuda.tile._passes.check_dtype_support import check_dtype_support
from cuda.tile.compilation import CallingConvention, KernelSignature

_PORTABLE = (13, 3)


class Compiler:
    """Everything that depends on the installed version is answered here."""

    def __init__(self) -> None:
        self.version: str = ct.__version__
        self.release = _pair(self.version)
        self.exceptions = _exception
        self.hir = hir
        self.stubs = hir_stubs
        self.hir2ir = hir2ir
        self.ast2hir = ast2hir
        self.tileiras: tuple[int, int] | None = None
        """Version of the assembler that the bytecode is for, where there is one."""
        self.convention = getattr(CallingConvention, "cutile_python_v2", CallingConvention.cutile_python_v1)()
        self._has_annotations = hasattr(_compile, "_TileTypingHooks")

    # -- what there is -----------------------------------------------------------------------------------------------

    def bytecode_versions(self) -> list[str]:
        """Formats that both cuda.tile writes and the assembler reads, oldest first."""
        known = [version.as_string() for version in _compile._SUPPORTED_VERSIONS]
        if self.tileiras is not None:
            return [text for text in known if _pair(text) <= self.tileiras]
        return known

    def portable_bytecode_versions(self) -> list[str]:
        """Those whose bytecode is the same for every architecture."""
        # Before 1.5 hints are written for one architecture, whatever the format.
        return [text for text in self.bytecode_versions() if _pair(text) >= _PORTABLE and self._has_annotations]

    def hints(self) -> list[str]:
        return [field.name for field in dataclasses.fields(CompilerOptions)]

    def dtypes(self) -> list[str]:
        return [name for name in vars(ct) if isinstance(getattr(ct, name), ct.DType)]

    def dtype(self, name: str) -> Any:
        """cuTile's dtype of that name. Raises `LookupError`."""
        value = getattr(ct, name, None)
        if not isinstance(value, ct.DType):
            raise LookupError(name)
        return value

    def register_dtype(self, foreign: object, name: str) -> None:
        native = getattr(ct, name, None)
        if native is None:
            return
        try:
            from cuda.tile._cext import foreign_dtype_object_register
        except ImportError:
            from cuda.tile._ir.typing_support import register_dtypes

            register_dtypes({foreign: native})
        else:
            foreign_dtype_object_register(foreign, native)

    def is_kernel(self, value: Any) -> bool:
        return isinstance(value, ct.kernel)

    def qualname_of(self, kernel: Any) -> str:
        return kernel._annotated_function.pyfunc.__qualname__

    # -- the front end -----------------------------------------------------------------------------------------------

    def parse_bytecode_version(self, text: str | None) -> Any:
        """Raises `ValueError` for a format that this version doesn't write."""
        if text is None:
            choice = self.bytecode_versions() or [_compile._SUPPORTED_VERSIONS[0].as_string()]
            text = choice[-1]
        return _compile.parse_bytecode_version(text)

    def entry_hir(self, function: Any) -> Any:
        modes = getattr(ast2hir, "HirMode", None)
        return ast2hir.get_function_hir(function, True if modes is None else modes.ENTRY_POINT)

    def context(self, version: Any) -> Any:
        if self._has_annotations:
            return ir.IRContext(False, version, _compile._TileTypingHooks())
        return ir.IRContext(False, version)

    def builder(self, context: Any, function: Any) -> Any:
        return ir.Builder(context, function.body.loc)

    def implementations(self) -> Any:
        """The context in which operations have their implementations."""
        return _compile.tile_impl_registry.as_current()

    def parameters(self, annotated: Any, constraints: Sequence[Any], function: Any, context: Any) -> Any:
        annotations = (
            annotated.parameter_annotations
            if hasattr(annotated, "parameter_annotations")
            else annotated.constant_parameter_mask
        )
        names = tuple(annotated.pysig.parameters)
        return _compile._create_kernel_parameters(constraints, annotations, names, function.param_locs, context)

    def finish(self, function: Any, context: Any, builder: Any, parameters: Any, version: Any) -> tuple[Any, Any]:
        """Run the passes over what inference built: the final IR, and what the analysis of its data flow found."""
        body = ir.Block(context, function.body.loc)
        body.params = sum((variables for variables, _ in parameters.nonconstant_flat_vars), ())
        body.extend(builder.ops)
        return body, _compile._transform_ir(body, version, parameters.nonconstant_flat_vars)

    # -- code generation ---------------------------------------------------------------------------------------------

    def is_portable(self, version: Any) -> bool:
        return version.as_string() in self.portable_bytecode_versions()

    def signature(self, constraints: Sequence[Any]) -> Any:
        return KernelSignature(constraints, self.convention)

    def options(self, kernel: Any, hints: Mapping[str, Any]) -> Any:
        """The kernel's own options, with those in `hints` in their place. Raises `ValueError` for a value out of
        range.
        """
        return dataclasses.replace(kernel._compiler_options, **hints)

    def options_by_target(self, options: Any) -> dict[str, dict[str, Any]]:
        """`{"default": {"num_ctas": None, "opt_level": 3}, "sm_100": {"num_ctas": 2}}`"""
        table: dict[str, dict[str, Any]] = {"default": {}}
        for field in dataclasses.fields(options):
            value = getattr(options, field.name)
            if isinstance(value, ct.ByTarget):
                for target, own in value._by_target.items():
                    table.setdefault(target, {})[field.name] = own
                given = value._default
                value = given if isinstance(given, int) or given is None else field.default
            table["default"][field.name] = value
        return table

    def bytecode(
        self, held: Any, symbol: str | None, options: Any, target: str | None
    ) -> tuple[bytes, tuple[str, ...]]:
        """Bytecode, and the preview features that the assembler must be told of. `target`: for a format that is made
        for one.
        """
        signature = held.signature
        name = held.annotated.pyfunc.__name__
        signature = signature.with_symbol(symbol) if symbol else _mangled(signature, name)
        keeper = _compile._IrKeeper(held.annotated, held.function, [signature], held.version, target, False, True)
        keeper.final_ir[0] = held.body
        if hasattr(keeper, "_dataflow_results"):
            keeper._dataflow_results[0] = held.dataflow
        result = _compile._get_bytecode(keeper, options, False)
        if isinstance(result, (bytes, bytearray)):
            return bytes(result), ()
        return bytes(result.bytecode), tuple(result.preview_features)

    def check_target(self, held: Any, target: str) -> None:
        """Raises a `TileError` where the architecture doesn't have a dtype that the kernel uses."""
        check_dtype_support(held.body, target, held.version)


def _pair(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def _mangled(signature: Any, name: str) -> Any:
    try:
        return signature.with_mangled_symbol(name)
    except Exception:
        # Some constants have no mangled form; a launch couldn't pass them either.
        return signature.with_symbol(name)
