"""The parts of triton that are used here, and what changed about them from 3.6 on.

Its stages are driven one by one: no cache folder, no driver, no hash of the whole installation, and no device.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import triton
from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource, code_generator, make_backend
from triton.experimental import gluon
from triton.runtime import driver as runtime_driver
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

from .device import Device
from .recording import Unverified

try:
    from triton.experimental.gluon import GluonASTSource
except ImportError:
    from triton.experimental.gluon._runtime import GluonASTSource

#: The stages that a program outside of triton makes: they are the server's to run.
_ASSEMBLED = frozenset({"cubin", "hsaco"})
#: What triton sets by itself, or that is no option of code generation.
_NOT_HINTS = frozenset(
    {"warp_size", "backend_name", "arch", "extern_libs", "ir_override", "supported_fp8_dtypes", "instrumentation_mode"}
    | {"deprecated_fp8_dot_operand_dtypes", "allowed_dot_input_precisions", "max_num_imprecise_acc_default"}
)


class Compiler:
    """Everything that depends on the installed version is answered here."""

    def __init__(self) -> None:
        self.version: str = triton.__version__
        self.release = _pair(self.version)
        self.code_generator = code_generator
        self.gluon = gluon
        self._prepared: tuple[str, Any] | None = None

    # -- what there is -----------------------------------------------------------------------------------------------

    def is_kernel(self, value: Any) -> bool:
        return isinstance(value, JITFunction)

    def qualname_of(self, kernel: Any) -> str:
        return kernel.fn.__qualname__

    def tools(self) -> dict[str, str]:
        """The programs that the wheel brings: name → path."""
        found = {}
        for name, attribute in (
            ("triton-ptxas", "ptxas"),
            ("triton-ptxas-blackwell", "ptxas_blackwell"),
            ("nvdisasm", "nvdisasm"),
            ("cuobjdump", "cuobjdump"),
        ):
            try:
                found[name] = os.path.abspath(getattr(knobs.nvidia, attribute).path)
            except Exception:
                continue
        return found

    def hints(self) -> list[str]:
        """Names of options that code generation reads, of any backend."""
        names: list[str] = []
        for target in ("sm_90", "gfx942"):
            try:
                options = make_backend(self.target(target)).parse_options({})
                names += [field.name for field in dataclasses.fields(options)]
            except Exception:
                continue
        return [name for name in dict.fromkeys(names) if name not in _NOT_HINTS]

    def target(self, name: str) -> Any:
        """`"sm_90"`, `"gfx942"`. Raises `ValueError` for anything else."""
        if match := re.fullmatch(r"sm_(\d+)", name):
            return GPUTarget("cuda", int(match[1]), 32)
        if re.fullmatch(r"gfx[0-9a-f]+", name):
            return GPUTarget("hip", name, 64 if name.startswith("gfx9") else 32)
        raise ValueError(f"triton has no target {name}")

    def install_device(self, target: str) -> Device:
        """Let code that asks triton for the current device hear of the target."""
        device = Device(self.target(target))
        runtime_driver.set_active(device)
        return device

    # -- what decorators say -----------------------------------------------------------------------------------------

    def tuning(self, found: Any) -> tuple[list[Any], list[Mapping[str, Callable[..., Any]]], Callable[..., Any] | None]:
        """The autotuner's configs and the heuristics around a kernel, the innermost last, and what drops configs before
        they are tried.
        """
        prune: Callable[..., Any] | None = None
        configs: list[Any] = []
        heuristics: list[Mapping[str, Callable[..., Any]]] = []
        seen = 0
        while found is not None and not isinstance(found, JITFunction) and seen < 16:
            if isinstance(found, Autotuner):
                configs = configs or list(found.configs)
                prune = prune or found.early_config_prune
            elif isinstance(found, Heuristics):
                heuristics.append(found.values)
            found = getattr(found, "fn", None) or getattr(found, "__wrapped__", None)
            seen += 1
        return configs, heuristics, prune

    # -- the stages --------------------------------------------------------------------------------------------------

    def backend(self, target: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
        """The backend and its parsed options. Raises what triton raises for values that can't be."""
        backend = make_backend(self.target(target))
        return backend, backend.parse_options(dict(options))

    def source(self, kernel: Any, signature: Mapping[str, Any], constants: Any, attributes: Any) -> Any:
        kind = GluonASTSource if kernel.is_gluon() else ASTSource
        return kind(kernel, signature, constants, attributes)

    def prepare(self) -> None:
        """Make the next context ahead of time: it takes milliseconds, and most kernels are for one backend."""
        backend = make_backend(self.target("sm_80"))
        self._prepared = (backend.target.backend, self._new_context(backend))

    def context(self, backend: Any) -> Any:
        prepared, self._prepared = self._prepared, None
        if prepared is not None and prepared[0] == backend.target.backend:
            return prepared[1]
        return self._new_context(backend)

    def _new_context(self, backend: Any) -> Any:
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        return context

    def typed(self, source: Any, target: str, backend: Any, options: Any) -> Any:
        """The module as the code generator makes it; all types are known by then."""
        context = self.context(backend)
        module = source.make_ir(
            backend.target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        if isinstance(module, Unverified):
            module = module.module
        module.context = context
        return module

    def simplified(self, module: Any, is_gluon: bool, backend: Any, options: Any) -> Any:
        """TTIR: the module after its first passes. It stays what it is for Gluon, whose front end makes a later IR."""
        stages = self._stages(backend, options, Language.GLUON if is_gluon else Language.TRITON)
        if "ttir" in stages:
            if not module.verify():
                raise RuntimeError("the module is not valid")
            context = module.context
            module = stages["ttir"](module, {"target": backend.target})
            module.context = context
        return module

    def generate(
        self, text: str, is_gluon: bool, target: str, backend: Any, options: Any, note: Callable[[str], None]
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Texts of the stages after TTIR by name, up to what an assembler reads, and what they say of the kernel.

        `note` is told each stage's name before it starts.
        """
        module = self._parse(text, backend)
        language = Language.GLUON if is_gluon else Language.TRITON
        metadata: dict[str, Any] = {"target": backend.target, **options.__dict__}
        made: dict[str, str] = {}
        for name, stage in self._stages(backend, options, language).items():
            if name in ("ttir", "glir"):
                continue
            if name in _ASSEMBLED:
                break
            note(name)
            module = stage(module, metadata)
            made[name] = str(module)
        return made, metadata

    def assembler(self, target: str, options: Any) -> tuple[str, list[str]]:
        """The program that makes a cubin as triton would, and its options."""
        from triton.backends.nvidia import compiler as nvidia

        capability = int(target.removeprefix("sm_"))
        path = nvidia.get_ptxas(capability).path
        tool = "triton-ptxas-blackwell" if os.path.basename(path) == "ptxas-blackwell" else "triton-ptxas"
        arguments = ["-lineinfo"]
        if not options.enable_fp_fusion:
            arguments.append("--fmad=false")
        arguments.append("-v")
        if knobs.nvidia.disable_ptxas_opt:
            arguments += ["--opt-level", "0"]
        if self.release >= (3, 9):
            arguments.append("--regAllocOptLevel=2")
        if options.ptx_options:
            arguments += options.ptx_options.split(" ")
        arguments.append(f"--gpu-name={nvidia.sm_arch_from_capability(capability)}")
        return tool, arguments

    def _stages(self, backend: Any, options: Any, language: Any) -> dict[str, Callable[..., Any]]:
        stages: dict[str, Callable[..., Any]] = {}
        backend.add_stages(stages, options, language)
        return stages

    def _parse(self, text: str, backend: Any) -> Any:
        context = self.context(backend)
        descriptor, path = tempfile.mkstemp(suffix=".mlir")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            module = ir.parse_mlir_module(path, context)
        finally:
            os.unlink(path)
        module.context = context
        return module


def _pair(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(re.match(r"\d+", minor)[0])  # type: ignore[index]
