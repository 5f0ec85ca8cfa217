"""One inference: load the closure, generate its TTIR, and keep it for any number of code generations."""

from __future__ import annotations

import base64
import contextlib
import functools
import inspect
import json
import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ... import faults
from ...absent import Absent
from ...loading import Loader, find_kernel
from ...standins import StandIns
from . import errors, pruning, recording, signature
from .compiler import Compiler
from .device import shared_memory
from .world import answers

#: What a kernel is typed for where the job names no target.
_TARGET = "sm_80"
_THREADS = 1024


def infer(compiler: Compiler, request: Mapping[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
    """`{"closure", "arguments", "fields"}` → `{"inference", "options"}`. Every fault is in the inference."""
    recording.install(compiler.code_generator, compiler.release)
    fields = dict(request.get("fields") or {})
    target = str(fields.pop("target", None) or _TARGET)
    compiler.install_device(target)
    absent = Absent(answers(target, compiler.version), ("triton",))
    with Loader(request["closure"], standins, absent) as loader, _quick_sources(loader.sources):
        run = _Run(compiler, loader, target)
        held = run.all(request["arguments"], fields)
    return held, {"inference": run.inference, "options": run.options}


class _Run:
    def __init__(self, compiler: Compiler, loader: Loader, target: str) -> None:
        self._compiler = compiler
        self._loader = loader
        self._target = target
        self._recorder = recording.Recorder(loader.sources.keys())
        self._facts: dict[str, tuple[tuple[str, str], ...]] = {}
        self._typing: Callable[[], Any] | None = None
        self.inference: dict[str, Any] = {}
        self.options: dict[str, dict[str, Any]] = {}

    def all(self, arguments: Any, fields: Mapping[str, Any]) -> Held | None:
        held = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                held = self._type(arguments, fields)
        except BaseException as error:
            fault = errors.of_inference(error, self._printed(error), self._recorder, self._compiler.version)
            self.inference["faults"] = [fault]
        recorder = self._recorder
        self.inference["types"] = recorder.records(self._facts)
        inactive = recorder.inactive() if held is not None else []
        if inactive:
            self.inference["inactive"] = inactive
        self.inference["reached"] = sorted(recorder.reached | self._loader.executed.members)
        return held

    def _printed(self, error: BaseException) -> str:
        """What MLIR prints of an error of its own: it is made to say it again, since to capture it from the start would
        swallow the last words of a process that it ends.
        """
        if self._typing is None or not errors.leaves_it_to_mlir(error):
            return ""
        captured = errors.Captured()
        with captured, contextlib.suppress(Exception):
            self._typing()
        return captured.text

    def _type(self, arguments: Any, fields: Mapping[str, Any]) -> Held:
        compiler, loader = self._compiler, self._loader
        found, module = loader.load()
        kernel = find_kernel(found, loader.entry["qualname"], compiler.is_kernel, compiler.qualname_of)
        if kernel is None:
            raise faults.Refused(_no_kernel(found, loader.entry))
        configs, heuristics, prune = compiler.tuning(found)
        own = _own_options(configs)
        self.options = {"default": own}
        evaluate = functools.partial(_evaluated, loader, module)
        given = signature.read(kernel, arguments, evaluate, configs, heuristics)
        self._facts = given.facts
        if prune is not None:
            self._facts = {**given.facts, **pruning.facts(prune, configs, kernel, dict(arguments), evaluate)}
        options = {**own, **fields}
        if getattr(kernel, "debug", None) is not None:
            options.setdefault("debug", kernel.debug)
        try:
            backend, parsed = compiler.backend(self._target, options)
        except (ValueError, AssertionError, TypeError) as error:
            raise faults.Refused(faults.fault(faults.USER, str(error), code="options")) from error
        source = compiler.source(kernel, given.types, given.constants, given.attributes)
        self._typing = lambda: compiler.typed(source, self._target, backend, parsed)
        with self._recorder:
            typed = self._typing()
        # Functions that triton calls while it compiles are plain ones; those that it compiles itself are recorded.
        compiled = [name for name, text in loader.sources.items() if "jit" in text.partition("def ")[0]]
        loader.executed.assume_all(but=compiled)
        finish = functools.partial(compiler.simplified, typed, kernel.is_gluon(), backend, parsed)
        return Held(compiler, finish, kernel.is_gluon(), own, options, frozenset(loader.sources))


def _evaluated(loader: Loader, module: Any, text: str) -> Any:
    return loader.evaluate(text, module)


def _own_options(configs: list[Any]) -> dict[str, Any]:
    """What the first of the autotuner's configs says beside the kernel's arguments."""
    if not configs:
        return {}
    config = configs[0]
    own = {"num_warps": config.num_warps, "num_stages": config.num_stages, "num_ctas": config.num_ctas}
    if getattr(config, "maxnreg", None) is not None:
        own["maxnreg"] = config.maxnreg
    return own


def _no_kernel(found: Any, entry: Mapping[str, Any]) -> faults.Fault:
    name = getattr(found, "__qualname__", None)
    what = f"the {type(found).__name__} {name}" if isinstance(name, str) else f"of type {type(found).__qualname__}"
    message = f"{entry['expression']} is no triton kernel: it is {what}"
    return faults.fault(faults.USER, message, code="kernel")


class Held:
    """The typed IR of one kernel for one set of arguments."""

    def __init__(
        self,
        compiler: Compiler,
        finish: Callable[[], Any],
        is_gluon: bool,
        own: Mapping[str, Any],
        options: Mapping[str, Any],
        members: frozenset[str],
    ) -> None:
        self._compiler = compiler
        self._finish = finish
        self._is_gluon = is_gluon
        self._own = own
        self._options = options
        self._members = members

    @functools.cached_property
    def _finished(self) -> str | faults.Fault:
        """TTIR as text. The passes run once, whatever comes of it: what they leave half done is not to be run again."""
        captured = errors.Captured()
        try:
            with captured:
                return str(self._finish())
        except Exception as error:
            return errors.of_stage(error, captured.text, "ttir", self._members, self._compiler.version)

    def listings(self) -> dict[str, Any]:
        # Where there is none code generation says why.
        return {"typed": {"stage": "ttir", "text": self._finished}} if isinstance(self._finished, str) else {}

    def codegen(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Blobs `ttgir`, `llvm`, `ptx` or `amdgcn`, and `remarks`, for the first of the targets."""
        targets = list(request.get("targets") or ())
        target = targets[0] if targets else _TARGET
        hints = {name: value for name, value in (request.get("hints") or {}).items() if value is not None}
        unknown = sorted(set(hints) - set(self._compiler.hints()))
        if unknown:
            known = ", ".join(self._compiler.hints())
            message = f"triton {self._compiler.version} has no option {', '.join(unknown)}; it has {known}"
            return {"faults": {"": [faults.fault(faults.USER, message, code="options")]}}
        try:
            backend, options = self._compiler.backend(target, {**self._options, **hints})
        except (ValueError, AssertionError, TypeError) as error:
            return {"faults": {"": [faults.fault(faults.USER, str(error), code="options")]}}
        text = self._finished
        if not isinstance(text, str):
            return {"faults": {"": [text]}}
        stage = ["ttgir"]
        captured = errors.Captured(not request.get("again"))
        try:
            with captured, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made, metadata = self._compiler.generate(
                    text, self._is_gluon, target, backend, options, lambda name: stage.__setitem__(0, name)
                )
        except Exception as error:
            fault = errors.of_stage(error, captured.text, stage[0], self._members, self._compiler.version)
            return {"faults": {"": [fault]}}
        found = errors.remarks(captured.text, self._members)
        blobs = {"llvm" if name == "llir" else name: text.encode() for name, text in made.items()}
        blobs["remarks"] = json.dumps(found).encode()
        values = self._values(target, backend, options, metadata)
        # The code says everything but the memory that a launch gives.
        blobs["usage"] = json.dumps({"shared": values["shared"], "shared_limit": values["shared_limit"]}).encode()
        return {
            "blobs": {name: base64.b64encode(data).decode() for name, data in blobs.items()},
            "values": values,
        }

    def _values(self, target: str, backend: Any, options: Any, metadata: Mapping[str, Any]) -> dict[str, Any]:
        threads = options.num_warps * backend.target.warp_size
        values: dict[str, Any] = {
            "shared": int(metadata.get("shared") or 0),
            "shared_limit": shared_memory(backend.target),
            "tensor_memory": int(metadata.get("tmem_size") or 0),
            "threads": int(metadata.get("num_warps") or options.num_warps) * backend.target.warp_size,
            "threads_limit": _THREADS,
        }
        values["threads"] = max(values["threads"], threads)
        if backend.target.backend == "cuda":
            tool, arguments = self._compiler.assembler(target, options)
            values["assembler"] = tool
            values["assembler_arguments"] = json.dumps(arguments)
        return values


@contextlib.contextmanager
def _quick_sources(sources: Mapping[str, str]) -> Iterator[None]:
    """`inspect.getsourcelines` for functions of the closure, whose ends are known, without a walk over all modules."""
    original = inspect.getsourcelines

    def getsourcelines(value: Any) -> Any:
        code = getattr(value, "__code__", None)
        if code is None or code.co_filename not in sources:
            return original(value)
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        # A member is one statement: a function that is not within another ends where it ends.
        whole = lines and not lines[0][0].isspace()
        return (lines if whole else inspect.getblock(lines)), code.co_firstlineno

    inspect.getsourcelines = getsourcelines
    try:
        yield
    finally:
        inspect.getsourcelines = original
