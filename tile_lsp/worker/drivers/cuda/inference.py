"""One inference: NVRTC's front end over a kernel's translation unit, clang's types beside it, and what code
generation needs kept.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ... import distributions, faults
from . import clang_llvm, diagnostics, mangled, nvcc, unit
from .compiler import Compiler, Result

_FILE = re.compile(r'^(\s*\.file\s+\d+ )"/((?:[^"\\]|\\.)*)"', re.MULTILINE)


def infer(compiler: Compiler, request: Mapping[str, Any]) -> tuple[Held | None, dict[str, Any]]:
    """`{"closure", "arguments", "fields"}` → `{"inference", "options"}`. Every fault is in the inference."""
    closure, fields = request["closure"], request.get("fields") or {}
    made = unit.compose(closure, request.get("arguments") or ())
    hints = {name: value for name, value in fields.items() if name != "target"}
    options = unit.options(made, compiler.folders, hints, fields.get("target"), syntax_only=True)
    names = [made.name] if made.is_template else []
    checked: list[Result] = []

    def check() -> None:
        with _at_root():
            shortcuts = unit.shortcuts(made)
            result = compiler.compile(made.source, [*options, *shortcuts], names)
            if shortcuts and not result.ok:
                result = compiler.compile(made.source, options, names)
            checked.append(result)

    # Both are libraries that let go of the interpreter while they work.
    beside = threading.Thread(target=check)
    beside.start()
    types, remarks = _types(compiler, made, options)
    beside.join()
    result = checked[0]
    inference: dict[str, Any] = {
        "types": types,
        "remarks": [*diagnostics.to_remarks(result.log, made.members), *remarks],
        "reached": [],
    }
    unknown = [name for name, value in request.get("arguments") or () if value == unit.UNKNOWN]
    if unknown:
        message, help_ = _not_known(unknown)
        inference["remarks"].append(
            {
                "message": f"{message}: {help_}",
                "severity": "information",
                "chain": _place(made, unknown[0]),
                "code": "callable",
            }
        )
        found = diagnostics.to_faults(result.log, made.members, result.status) if not result.ok else []
        # The stand-in can't do all that a function may: what it can't is no error of the author's.
        found = [fault for fault in found if unit.UNKNOWN not in fault["message"]]
        if found:
            inference["faults"] = found
        return (None if found else Held(compiler, made, unknown=unknown)), {"inference": inference, "options": {}}
    if result.ok:
        if not types and (left_out := _left_out(compiler, made, options)) is not None:
            inference["faults"] = [left_out]
            return None, {"inference": inference, "options": {}}
        return Held(compiler, made), {"inference": inference, "options": {}}
    found = diagnostics.to_faults(result.log, made.members, result.status)
    held = _by_nvcc(compiler, made, hints, fields.get("target"), found, inference)
    if held is None:
        inference["faults"] = found
    return held, {"inference": inference, "options": {}}


def _not_known(names: Sequence[str]) -> tuple[str, str]:
    return (
        f"{', '.join(names)}: no launch that can be read says which function this is",
        f"name a functor in a comment above the kernel: // tile-lsp: {names[0]}=Op",
    )


def _left_out(compiler: Compiler, made: unit.Unit, options: list[str]) -> faults.Fault | None:
    """What to say of a kernel in a condition that does not hold: the text is sound, and the kernel is not in it."""
    directive = unit.condition_of(made)
    if directive is None:
        return None
    with _at_root():
        if compiler.compile(made.source, options, [made.name]).ok:
            return None
    message = f"{made.name} is not compiled: {directive} does not hold"
    help_ = "define what it asks for in the setting tile-lsp.cuda.macros"
    return faults.fault(faults.USER, message, help=help_, code="condition")


def _place(made: unit.Unit, parameter: str) -> list[list[Any]]:
    """Of a parameter of the kernel's template."""
    name = made.name.partition("<")[0].rpartition("::")[2]
    for member, text in reversed(made.members.items()):
        lines = text.split("\n")
        if parameter in lines and name in lines and "__global__" in lines:
            return [[member, lines.index(parameter) + 1, -1, -1, -1]]
    return []


def _by_nvcc(
    compiler: Compiler,
    made: unit.Unit,
    hints: Mapping[str, Any],
    target: str | None,
    found: list[faults.Fault],
    inference: dict[str, Any],
) -> Held | None:
    """What nvcc takes though NVRTC does not, with a remark that says so; None where it won't, or isn't here."""
    messages = [fault["message"] for fault in found]
    program = nvcc.find() if nvcc.may_do(messages, made.members_text) else None
    if program is None or not nvcc.compile_unit(program, made, hints, target or unit.ANY_TARGET).ok:
        return None
    message = f"compiled by nvcc, for NVRTC refuses it: {found[0]['message']}"
    inference["remarks"] = [
        *(remark for remark in inference["remarks"] if remark["severity"] != "error"),
        {"message": message, "severity": "information", "chain": found[0].get("chain") or [], "code": "nvcc"},
    ]
    return Held(compiler, made, program)


def _types(compiler: Compiler, made: unit.Unit, options: list[str]) -> tuple[list[Any], list[Any]]:
    """Types and remarks on them; where there is no clang, a remark that says what to install."""
    try:
        from . import clang_library, clang_types
    except ImportError:
        return [], []
    try:
        found = clang_types.read(made.source, made.name, options, compiler.version)
    except clang_library.Unavailable as missing:
        first = next(iter(made.members))
        message = f"no types: {missing} ({distributions.pip('libclang')})"
        return [], [{"message": message, "severity": "hint", "chain": [[first, 1, -1, -1, -1]], "code": "clang"}]
    return found.types, found.remarks


@contextlib.contextmanager
def _at_root() -> Iterator[None]:
    """NVRTC puts the current folder before names in line tables: no path of this machine is to be in them."""
    before = os.getcwd()
    os.chdir("/")
    try:
        yield
    finally:
        os.chdir(before)


class Held:
    """A translation unit that compiles."""

    def __init__(
        self, compiler: Compiler, made: unit.Unit, program: str | None = None, unknown: Sequence[str] = ()
    ) -> None:
        """`program`: the nvcc that makes its code, where NVRTC won't. `unknown`: arguments that it lacks for that."""
        self._unknown = tuple(unknown)
        self._compiler = compiler
        self._unit = made
        self._nvcc = program

    def listings(self) -> dict[str, Any]:
        return {}

    def codegen(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Blobs `ptx`, `cubin`, `log` and `warnings`."""
        targets = list(request.get("targets") or ())
        if len(targets) != 1:
            refused = faults.fault(faults.USER, "code is generated for one target at a time", code="target")
            return {"faults": {"": [refused]}}
        if self._unknown:
            message, help_ = _not_known(self._unknown)
            return {"faults": {"": [faults.fault(faults.USER, message, help=help_, code="callable")]}}
        made = self._unit
        if self._nvcc is not None:
            return self._generate_by_nvcc(self._nvcc, dict(request.get("hints") or {}), targets[0])
        options = unit.options(made, self._compiler.folders, dict(request.get("hints") or {}), targets[0])
        names = [made.name] if made.is_template else []
        with _at_root():
            result = self._compiler.compile(made.source, options, names, ("ptx", "cubin"))
        if not result.ok:
            return {"faults": {"": diagnostics.to_faults(result.log, made.members, result.status)}}
        blobs = {
            "ptx": self._named(result.blobs["ptx"].decode("utf-8", "replace").rstrip("\0")).encode(),
            "cubin": result.blobs["cubin"],
            "log": mangled.readable(result.log).encode(),
            "warnings": self._warnings(result.log),
        }
        clang = clang_llvm.find()
        if clang is not None:
            blobs.update(clang_llvm.blobs(made, options, self._compiler.version, clang))
        encoded = {name: base64.b64encode(data).decode() for name, data in blobs.items()}
        return {"blobs": encoded, "values": {"clang": clang is not None}, "faults": {}}

    def _generate_by_nvcc(self, program: str, hints: dict[str, Any], target: str) -> dict[str, Any]:
        made = nvcc.compile_unit(program, self._unit, hints, target)
        if not made.ok:
            return {"faults": {"": diagnostics.to_faults(made.log, self._unit.members, "nvcc")}}
        blobs = {
            **made.blobs,
            "log": mangled.readable(made.log).encode(),
            "warnings": self._warnings(made.log),
        }
        encoded = {name: base64.b64encode(data).decode() for name, data in blobs.items()}
        return {"blobs": encoded, "values": {"clang": False}, "faults": {}}

    def _warnings(self, log: str) -> bytes:
        """As the server's `Remark`s, in JSON: the log's own way of saying where needs the members' texts to be read."""
        return json.dumps(diagnostics.to_remarks(log, self._unit.members)).encode()

    def _named(self, ptx: str) -> str:
        """Files by the names of the members, as the text had them."""

        def own(match: re.Match[str]) -> str:
            name = match[2].replace("\\'", "'")
            return f'{match[1]}"{name}"' if name in self._unit.members else match[0]

        return _FILE.sub(own, ptx)
