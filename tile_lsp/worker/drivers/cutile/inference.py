"""One inference: load the closure, type the kernel, and keep its IR for any number of code generations."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping
from typing import Any

from cuda.tile._ir import ir

from ... import faults
from ...loading import Loader, find_kernel
from ...standins import StandIns
from . import errors, listing, recording, signature
from .compiler import Compiler
from .places import Places

_installed = False


def infer(compiler: Compiler, request: Mapping[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
    """`{"closure", "arguments", "fields"}` → `{"inference", "options"}`. Every fault is in the inference."""
    _install(compiler)
    with Loader(request["closure"], standins) as loader:
        run = _Run(compiler, loader)
        held = run.all(request["arguments"], request.get("fields") or {})
    return held, {"inference": run.inference, "options": run.options}


def _install(compiler: Compiler) -> None:
    global _installed
    if not _installed:
        stubs = compiler.stubs
        names = ("do_static_eval", "do_static_assert")
        static = frozenset(getattr(stubs, name) for name in names if hasattr(stubs, name))
        recording.install(compiler.hir2ir, static, stubs.store_var, stubs.load_var)
        _installed = True


class _Run:
    def __init__(self, compiler: Compiler, loader: Loader) -> None:
        self._compiler = compiler
        self._loader = loader
        self._places = Places(loader.sources.keys())
        self._recorder = recording.Recorder(loader.executed.assume_all)
        self._function: Any = None
        self._parameters: dict[str, signature.Parameter] = {}
        self._variables: dict[str, Any] = {}
        self.inference: dict[str, Any] = {}
        self.options: dict[str, dict[str, Any]] = {}

    def all(self, arguments: Any, fields: Mapping[str, Any]) -> Held | None:
        held = None
        try:
            held = self._type(arguments, fields)
        except faults.Refused as refused:
            self.inference["faults"] = [refused.fault]
        except BaseException as error:
            locations = {}
            if self._function is not None:
                locations = dict(zip(self._function.signature.parameters, self._function.param_locs, strict=True))
            self.inference["faults"] = [
                errors.to_fault(error, self._compiler, self._places, self._loader.sources.keys(), locations)
            ]
        self._report()
        if held is None and self._function is not None:
            self.inference["hir"] = self._high_level()
        return held

    def _type(self, arguments: Any, fields: Mapping[str, Any]) -> Held:
        compiler, loader = self._compiler, self._loader
        found, module = loader.load()
        kernel = find_kernel(found, loader.entry["qualname"], compiler.is_kernel, compiler.qualname_of)
        if kernel is None:
            raise faults.Refused(_no_kernel(found, loader.entry))
        self.options = compiler.options_by_target(kernel._compiler_options)
        version = self._version(fields)
        annotated = kernel._annotated_function
        given = signature.constraints(compiler, kernel, arguments, lambda text: loader.evaluate(text, module))
        self._parameters = {parameter.name: parameter for parameter in given}
        constraints = [parameter.constraint for parameter in given]
        self._function = function = compiler.entry_hir(annotated.pyfunc)
        context = compiler.context(version)
        with self._recorder, compiler.builder(context, function) as builder, compiler.implementations():
            parameters = compiler.parameters(annotated, constraints, function, context)
            self._variables = dict(zip(self._parameters, parameters.aggregate_vars, strict=True))
            compiler.hir2ir.hir2ir(function, parameters.aggregate_vars, context)
        return Held(
            compiler,
            kernel,
            self._signature(constraints),
            function,
            version,
            lambda: compiler.finish(function, context, builder, parameters, version),
            self._places,
            loader,
            self._high_level,
        )

    def _signature(self, constraints: list[Any]) -> Any:
        try:
            return self._compiler.signature(constraints)
        except ValueError as error:
            raise faults.Refused(faults.fault(faults.USER, str(error), code="signature")) from error

    def _version(self, fields: Mapping[str, Any]) -> Any:
        try:
            return self._compiler.parse_bytecode_version(fields.get("bytecode_version"))
        except ValueError as error:
            raise faults.Refused(faults.fault(faults.USER, str(error), code="bytecode_version")) from error

    def _report(self) -> None:
        """What there is to show, after a fault too."""
        recorder, places = self._recorder, self._places
        if self._function is not None:
            recorder.functions.setdefault(id(self._function), self._function)
        self.inference["types"] = recorder.records(places, self._parameters, self._variables)
        entered = {function.desc.filename for function in recorder.functions.values()}
        self.inference["reached"] = sorted((entered & self._loader.sources.keys()) | self._loader.executed.members)

    def _high_level(self) -> dict[str, Any]:
        kernel_first = sorted(self._recorder.functions.values(), key=lambda function: function is not self._function)
        lines = listing.high_level(kernel_first, self._compiler.hir, self._compiler.stubs, self._places)
        return listing.artifact("hir", lines)


def _no_kernel(found: Any, entry: Mapping[str, Any]) -> faults.Fault:
    message = f"{entry['expression']} is no cuTile kernel: it is {_described(found)}"
    if callable(found):
        message += ", in which no kernel made by cuda.tile.kernel was found"
    return faults.fault(faults.USER, message, code="kernel")


def _described(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return f"the {type(value).__name__} {name}" if isinstance(name, str) else f"of type {type(value).__qualname__}"


class Held:
    """The typed IR of one kernel for one set of arguments."""

    def __init__(
        self,
        compiler: Compiler,
        kernel: Any,
        signature: Any,
        function: Any,
        version: Any,
        finish: Callable[[], tuple[Any, Any]],
        places: Places,
        loader: Loader,
        high_level: Callable[[], dict[str, Any]],
    ) -> None:
        self._compiler = compiler
        self._kernel = kernel
        self.annotated = kernel._annotated_function
        self.signature = signature
        self.function = function
        self.version = version
        self._finish = finish
        self._places = places
        self._loader = loader
        self._high_level = high_level
        self._objections: dict[str, faults.Fault | None] = {}

    @functools.cached_property
    def _finished(self) -> tuple[Any, Any] | Exception:
        """The passes run once, whatever comes of it: what they leave half done is not to be run over again."""
        try:
            return self._finish()
        except Exception as error:
            return error

    @property
    def body(self) -> Any:
        """The final IR. The passes that make it add no type and find no fault of the user's, so types don't wait for
        them; what raises here is an error of the compiler's own.
        """
        if isinstance(self._finished, Exception):
            raise self._finished
        return self._finished[0]

    @property
    def dataflow(self) -> Any:
        """What the analysis of the data flow found on the way."""
        return None if isinstance(self._finished, Exception) else self._finished[1]

    def listings(self) -> dict[str, Any]:
        if isinstance(self._finished, Exception):
            return {"hir": self._high_level()}  # code generation says why there is no more
        typed = listing.artifact("typed", listing.typed(self.body, self._places, ir))
        return {"hir": self._high_level(), "typed": typed}

    def codegen(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Blob `bytecode` (for a format that is made for one architecture: of the first target, and `bytecode@TARGET`
        for each).
        """
        targets: list[str] = list(request.get("targets") or ())
        hints = {name: value for name, value in (request.get("hints") or {}).items() if name != "bytecode_version"}
        unknown = sorted(set(hints) - set(self._compiler.hints()))
        if unknown:
            known = ", ".join(self._compiler.hints())
            message = f"cuda-tile {self._compiler.version} has no hint {', '.join(unknown)}; it has {known}"
            return {"faults": {"": [faults.fault(faults.USER, message, code="hints")]}}
        try:
            options = self._compiler.options(self._kernel, hints)
        except (ValueError, TypeError) as error:
            return {"faults": {"": [faults.fault(faults.USER, str(error), code="hints")]}}
        try:
            blobs, preview = self._blobs(request.get("symbol"), options, targets)
        except Exception as error:
            return {"faults": {"": [self._fault(error)]}}
        return {
            "blobs": {name: base64.b64encode(data).decode() for name, data in blobs.items()},
            "values": self._values(options, preview),
            "faults": {target: [fault] for target in targets if (fault := self._objection(target)) is not None},
        }

    def _blobs(self, symbol: str | None, options: Any, targets: list[str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
        if self._compiler.is_portable(self.version):
            bytecode, preview = self._compiler.bytecode(self, symbol, options, None)
            return {"bytecode": bytecode}, preview
        if not targets:
            message = f"bytecode format {self.version.as_string()} is made for one architecture: a target is needed"
            raise faults.Refused(faults.fault(faults.USER, message, code="target"))
        blobs: dict[str, bytes] = {}
        preview = ()
        for target in targets:
            blobs[f"bytecode@{target}"], preview = self._compiler.bytecode(self, symbol, options, target)
        return {"bytecode": blobs[f"bytecode@{targets[0]}"], **blobs}, preview

    def _values(self, options: Any, preview: tuple[str, ...]) -> dict[str, Any]:
        table = self._compiler.options_by_target(options)
        values: dict[str, Any] = {"opt_level": table.pop("default").get("opt_level", 3)}
        values["bytecode_version"] = self.version.as_string()
        for target, own in table.items():
            if "opt_level" in own:
                values[f"opt_level.{target}"] = own["opt_level"]
        if preview:
            values["preview"] = ",".join(preview)
        if self._compiler.tileiras is not None:
            values["tileiras"] = "{}.{}".format(*self._compiler.tileiras)
        return values

    def _objection(self, target: str) -> faults.Fault | None:
        """Why an architecture can't have the kernel, whatever its hints."""
        if target not in self._objections:
            self._objections[target] = self._check(target)
        return self._objections[target]

    def _check(self, target: str) -> faults.Fault | None:
        try:
            self._compiler.check_target(self, target)
        except Exception as error:
            return self._fault(error)
        return None

    def _fault(self, error: BaseException) -> faults.Fault:
        return errors.to_fault(error, self._compiler, self._places, self._loader.sources.keys(), {})
