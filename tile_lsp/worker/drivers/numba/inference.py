"""One inference: load the closure, type the kernel and what it calls, and keep its state for code generation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from ... import faults
from ...loading import Loader, find_kernel
from ...standins import StandIns
from . import building, errors, host, lines, listing, records, signature, ufuncs
from .answers import answer, no_kernel, no_parameters, options_of
from .compiler import Compiler, Typed, restart_numbers


def infer(compiler: Compiler, request: Mapping[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
    """`{"closure", "arguments"}` → `{"inference", "options"}`. Every fault is in the inference."""
    with Loader(request["closure"], standins) as loader, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        restart_numbers()
        run = _Run(compiler, loader)
        held = run.all(request["arguments"])
    return held, {"inference": run.inference, "options": {}}


class _Run:
    def __init__(self, compiler: Compiler, loader: Loader) -> None:
        self._compiler = compiler
        self._loader = loader
        self._sources = records.Sources(loader.sources)
        self.inference: dict[str, Any] = {}

    def all(self, arguments: Any) -> Held | None:
        compiler, members = self._compiler, self._loader.sources.keys()
        compiler.entered = []
        found: list[records.Path] = []
        held = None
        kernel: Any = None
        types: tuple[Any, ...] = ()
        try:
            kernel = self._kernel()
            types = signature.types_of(arguments, self._evaluate)
            wanted = kernel.py_func.__code__.co_argcount
            if not types and wanted:
                raise faults.Refused(no_parameters(kernel.py_func, wanted))
            core = None
            if ufuncs.is_ufunc(kernel):
                kernel, types, core = ufuncs.kernel_of(kernel, types)
            typed = compiler.infer(kernel, types)
            found = [*(records.paths(core, members) if core is not None else ()), *records.paths(typed, members)]
            for path in found:
                records.locate_parameters(path.state, self._sources)
            host.note_linked(typed.options.get("link") or ())
            held = Held(compiler, typed, self._loader, found)
        except faults.Refused as refused:
            self.inference["faults"] = [refused.fault]
        except BaseException as error:
            found, self.inference["faults"] = self._explained(error, kernel, types)
        self.inference["types"] = records.types_of(found, self._sources)
        self.inference["remarks"] = records.doubles(found, self._sources)
        entered = {function.__code__.co_filename for function in compiler.entered if hasattr(function, "__code__")}
        self.inference["reached"] = sorted((entered & members) | self._loader.executed.members)
        return held

    def _explained(
        self, error: BaseException, kernel: Any, types: tuple[Any, ...]
    ) -> tuple[list[records.Path], list[faults.Fault]]:
        """All that is wrong, and the types of what is not."""
        members = self._loader.sources.keys()
        fault = errors.to_fault(error, members)
        if kernel is None or not isinstance(error, Exception):
            return [], [fault]
        state, failures = self._compiler.explain(kernel, types)
        if state is None:
            return [], [fault]
        records.locate_parameters(state, self._sources)
        return [records.Path(state, [])], errors.of_failures(failures, members) or [fault]

    def _kernel(self) -> Any:
        compiler, loader = self._compiler, self._loader
        found, self._module = loader.load()
        kernel = find_kernel(found, loader.entry["qualname"], compiler.is_kernel, compiler.qualname_of)
        if kernel is None:
            raise faults.Refused(no_kernel(found, loader.entry, "numba.cuda"))
        return kernel

    def _evaluate(self, text: str) -> Any:
        return self._loader.evaluate(text, self._module)


class Held:
    """The typed IR of one kernel for one set of arguments, and the LLVM IR made of it so far."""

    def __init__(self, compiler: Compiler, typed: Typed, loader: Loader, paths: list[records.Path]) -> None:
        self._compiler = compiler
        self._typed = typed
        self._loader = loader
        self._paths = paths
        self._lowered: dict[str, tuple[Any, lines.Table]] = {}

    def listings(self) -> dict[str, Any]:
        return {"typed": listing.artifact(self._paths, self._loader.sources)}

    def codegen(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Blobs `ptx`, `cubin`, `lined` (the same code with line tables) and `places` (what its lines count); of the
        part `llvm` the blobs `llvm` and `llvm-places`, for which neither libNVVM nor the linker runs.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                hints = dict(request.get("hints") or {})
                if request.get("part") == "llvm":
                    return self._generate_llvm(hints)
                return self._generate(hints, list(request.get("targets") or ()))
        except building.Refused as refused:
            return {"faults": {"": [faults.fault(faults.USER, str(refused), refused.place, code=refused.code)]}}
        except BaseException as error:
            return {"faults": {"": [errors.to_fault(error, self._loader.sources.keys())]}}

    def _generate(self, hints: dict[str, Any], targets: list[str]) -> dict[str, Any]:
        if len(targets) != 1:
            raise building.Refused("code is generated for one target at a time", "target")
        options = {**self._typed.options, **options_of(hints)}
        library, table = self._lower(options)
        built = building.build(library, options, building.capability(targets[0]))
        return answer({**built, "places": self._places(table)})

    def _generate_llvm(self, hints: dict[str, Any]) -> dict[str, Any]:
        library, table = self._lower({**self._typed.options, **options_of(hints)})
        return answer({"llvm": lines.together(library.llvm_strs).encode(), "llvm-places": self._places(table)})

    def _places(self, table: lines.Table) -> bytes:
        members = self._loader.sources.keys()
        return json.dumps([place if place[0] in members else None for place in table.places()]).encode()

    def _lower(self, options: dict[str, Any]) -> tuple[Any, lines.Table]:
        """Lowering reads two options; what differs in others shares its result."""
        changes = {name: options.get(name) for name in ("fastmath", "launch_bounds")}
        key = repr(changes)
        if key not in self._lowered:
            table = lines.Table()
            self._lowered[key] = (self._compiler.lower(self._typed, changes, table), table)
        return self._lowered[key]
