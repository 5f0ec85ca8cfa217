"""One inference, as for numba-cuda, and what is generated from it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from ... import faults
from ...loading import Loader, find_kernel
from ...standins import StandIns
from . import errors, lines, listing, records, signature, texts
from .answers import answer, no_kernel, no_parameters, options_of
from .compiler import Compiler, Typed, restart_numbers, texts_of


def infer(compiler: Compiler, request: Mapping[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
    """`{"closure", "arguments"}` → `{"inference", "options"}`. Every fault is in the inference."""
    with Loader(request["closure"], standins) as loader, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        restart_numbers()
        inference: dict[str, Any] = {}
        held = _all(compiler, loader, request["arguments"], inference)
    return held, {"inference": inference, "options": {}}


def _all(compiler: Compiler, loader: Loader, arguments: Any, inference: dict[str, Any]) -> Held | None:
    members = loader.sources.keys()
    sources = records.Sources(loader.sources)
    compiler.entered = []
    found: list[records.Path] = []
    held, kernel, types = None, None, ()
    try:
        value, module = loader.load()
        kernel = find_kernel(value, loader.entry["qualname"], compiler.is_kernel, compiler.qualname_of)
        if kernel is None:
            raise faults.Refused(no_kernel(value, loader.entry, "numba-cuda-mlir"))
        types = signature.types_of(arguments, lambda text: loader.evaluate(text, module))
        wanted = kernel.py_func.__code__.co_argcount
        if not types and wanted:
            raise faults.Refused(no_parameters(kernel.py_func, wanted))
        typed = compiler.infer(kernel, types)
        found = records.paths(typed, members)
        records.locate_parameters(typed.state, sources)
        held = Held(compiler, typed, loader, found)
    except faults.Refused as refused:
        inference["faults"] = [refused.fault]
    except BaseException as error:
        inference["faults"] = [errors.to_fault(error, members)]
        if kernel is not None and isinstance(error, Exception):
            state, failures = compiler.explain(kernel, types)
            if state is not None:
                records.locate_parameters(state, sources)
                found = [records.Path(state, [])]
                inference["faults"] = errors.of_failures(failures, members) or inference["faults"]
    inference["types"] = records.types_of(found, sources)
    inference["remarks"] = records.doubles(found, sources)
    entered = {function.__code__.co_filename for function in compiler.entered if hasattr(function, "__code__")}
    inference["reached"] = sorted((entered & members) | loader.executed.members)
    return held


class Held:
    """The typed IR of one kernel for one set of arguments."""

    def __init__(self, compiler: Compiler, typed: Typed, loader: Loader, paths: list[records.Path]) -> None:
        self._compiler = compiler
        self._typed = typed
        self._loader = loader
        self._paths = paths

    def listings(self) -> dict[str, Any]:
        return {"typed": listing.artifact(self._paths, self._loader.sources)}

    def codegen(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Blobs `mlir`, `llvm`, `ptx`, `cubin`, `lined` (the same code with line tables) and `places` (what its lines
        count).
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self._generate(options_of(request.get("hints") or {}), list(request.get("targets") or ()))
        except BaseException as error:
            return {"faults": {"": [errors.to_fault(error, self._loader.sources.keys())]}}

    def _generate(self, options: dict[str, Any], targets: list[str]) -> dict[str, Any]:
        if len(targets) != 1:
            fault = faults.fault(faults.USER, "code is generated for one target at a time", code="target")
            return {"faults": {"": [fault]}}
        table = lines.Table()
        plain = self._compiler.build(self._typed, options, targets[0], None)
        lined = self._compiler.build(self._typed, options, targets[0], table)
        llvm, ptx = texts_of(lined)
        members = self._loader.sources.keys()
        places = json.dumps([place if place[0] in members else None for place in table.places()]).encode()
        return answer(
            {
                "mlir": texts.mlir(lined.metadata["mlir_module_optimized"]).encode(),
                "llvm": lines.together([texts.llvm(llvm)]).encode(),
                "ptx": lines.portable(ptx).encode(),
                "cubin": bytes(plain.metadata["cubin"]),
                "lined": bytes(lined.metadata["cubin"]),
                "places": places,
                "llvm-places": places,
            }
        )
