"""What triton raises and prints, made into faults."""

from __future__ import annotations

import ast
import os
import re
import tempfile
from collections.abc import Collection
from typing import Any

from ... import faults
from .recording import Recorder

_REPR = re.compile(r"(\w+(?:Error|Exception|Warning|Interrupt|StopIteration))\((.*)\)\Z", re.DOTALL)
_MLIR = re.compile(r"^(?P<loc>\S.*?): (?P<kind>error|warning|remark): (?P<message>.*)$", re.MULTILINE)
_FRAME = re.compile(r'"((?:[^"\\]|\\.)+)":(\d+):(\d+)')
_PLACE = re.compile(r"^at \d+:\d+:\n", re.MULTILINE)
_FAILED = "Failures have been detected while processing an MLIR pass pipeline"
_DIED = re.compile(r"^LLVM ERROR: (?P<error>.*)$|: (?P<assertion>Assertion .* failed)\.?$", re.MULTILINE)
_PASS = re.compile(r"Pipeline failed while executing \[`(\w+)`")
_MOST = 40
#: What is raised without a message, and what it means.
_WORDLESS = {
    "CompileTimeAssertionFailure": "the kernel asserts this, and for these arguments it does not hold",
    "AssertionError": "triton refuses this (an assertion without a message)",
}

#: What newer releases took away, and what to write in its place.
GONE = {
    "make_block_ptr": "make_block_ptr is gone from triton 3.9: use tl.make_tensor_descriptor, or pointer arithmetic",
    "Block pointers": "use tl.make_tensor_descriptor, or pointer arithmetic, in place of tl.make_block_ptr",
    "advance": "tl.advance is gone from triton 3.9 with block pointers: pass the offset to the descriptor's load",
    "trans_b": "tl.dot has no trans_b: give it tl.trans(b)",
    "trans_a": "tl.dot has no trans_a: give it tl.trans(a)",
    "allow_tf32": 'allow_tf32 is deprecated: input_precision="tf32" or "ieee"',
    "does not hold": "other arguments can be given in a comment above the kernel: # tile-lsp: NAME=VALUE",
    "do not support ..meta": "name each constant: BLOCK: tl.constexpr in place of **meta and meta['BLOCK']",
    "tuple_type": "this is a tuple: parentheses with a comma in them make one; leave the comma out",
    "is not a constexpr": "annotate the parameter as tl.constexpr",
    "must be of type tl.constexpr": "annotate the parameter as tl.constexpr",
    "tanh": "tanh is libdevice's: from triton.language.extra import libdevice",
    "libdevice": "tl.libdevice is gone: from triton.language.extra import libdevice",
}


class Captured:
    """What C++ code writes to standard error while the context lasts; it goes on to where it would have gone."""

    def __init__(self, captures: bool = True) -> None:
        """`captures` False: leave it be, for a process that dies takes what was captured with it."""
        self.text = ""
        self._captures = captures

    def __enter__(self) -> Captured:
        if not self._captures:
            return self
        self._file = tempfile.TemporaryFile()
        self._saved = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *error: object) -> None:
        if not self._captures:
            return
        os.dup2(self._saved, 2)
        os.close(self._saved)
        size = os.fstat(self._file.fileno()).st_size
        self._file.seek(0)
        # A flood is read at both ends: errors come first, the crash's last words come last.
        data = self._file.read(1 << 20)
        if size > 1 << 20:
            self._file.seek(size - (1 << 16))
            data += b"\n...\n" + self._file.read(1 << 16)
        self._file.close()
        self.text = data.decode("utf-8", "replace")
        if self.text:
            os.write(2, self.text[-8192:].encode("utf-8", "replace"))


def of_inference(error: BaseException, printed: str, recorder: Recorder, version: str) -> faults.Fault:
    """The innermost error that an inference ended in, at its exact range, with the calls that led there."""
    if isinstance(error, faults.Refused):
        advice = _advice(error.fault["message"])
        return {"help": advice, **error.fault} if advice else error.fault
    if isinstance(error, MemoryError):
        return faults.out_of_memory()
    inner = _innermost(error)
    chain: list[faults.Place] = []
    if hasattr(inner, "tile_place"):
        chain = recorder.chain(*inner.tile_place)
    message, code = _said(inner)
    from_mlir = of_mlir(printed, recorder.members)
    if from_mlir is not None:
        return {**from_mlir, "chain": chain or from_mlir.get("chain", [])}
    if not hasattr(inner, "tile_place"):
        if isinstance(inner, RecursionError):
            return faults.fault(faults.USER, "The kernel nests deeper than triton can follow", code="RecursionError")
        chain = faults.chain_of(inner.__traceback__, recorder.members)
    if not message:
        message = _WORDLESS.get(code, f"triton {version} refuses this, and does not say why ({code})")
    return faults.fault(faults.USER, message, chain, help=_advice(message), code=code)


def leaves_it_to_mlir(error: BaseException) -> bool:
    """True where what is wrong is only printed: `assert reduce_op.verify()`."""
    if isinstance(error, (faults.Refused, MemoryError)):
        return False
    inner = _innermost(error)
    return not _said(inner)[0] or (isinstance(inner, RuntimeError) and not hasattr(inner, "tile_place"))


def _innermost(error: BaseException) -> BaseException:
    """Of those that passed a generator."""
    while error.__cause__ is not None and hasattr(error.__cause__, "tile_place"):
        error = error.__cause__
    return error


def of_stage(error: BaseException, printed: str, stage: str, members: Collection[str], version: str) -> faults.Fault:
    """What ended a stage after TTIR: MLIR says why, and where, on standard error."""
    if isinstance(error, MemoryError):
        return faults.out_of_memory()
    from_mlir = of_mlir(printed, members)
    if from_mlir is not None:
        return from_mlir
    message, code = _said(error)
    return faults.fault(faults.USER, f"triton {version} failed at {stage}: {message or code}", code=code)


def of_mlir(printed: str, members: Collection[str]) -> faults.Fault | None:
    """`loc("main/kernel":12:5): error: …`, the first that says something."""
    for match in _MLIR.finditer(printed):
        if match["kind"] != "error":
            continue
        chain = [place for place in _places(match["loc"]) if place[0] in members]
        message = match["message"].strip()
        if message.startswith(_FAILED):
            message = _last_words(printed) or message
        return faults.fault(faults.USER, message, chain, code="MLIR")
    return None


def _last_words(printed: str) -> str | None:
    """Of a pass that crashed and was caught: MLIR itself only says that one failed."""
    died, ended = _DIED.search(printed), _PASS.search(printed)
    if died is None and ended is None:
        return None
    words = f"triton's own pass {ended[1]} failed" if ended is not None else "a pass of triton's own failed"
    return f"{words}: {(died['error'] or died['assertion']).strip()}" if died is not None else words


def remarks(printed: str, members: Collection[str]) -> list[dict[str, Any]]:
    """Warnings and remarks of passes, each once, as the server's `Remark`s."""
    found: dict[str, dict[str, Any]] = {}
    for match in _MLIR.finditer(printed):
        if match["kind"] == "error" or len(found) >= _MOST:
            continue
        remark = {
            "message": match["message"].strip(),
            "severity": "warning" if match["kind"] == "warning" else "information",
            "chain": [place for place in _places(match["loc"]) if place[0] in members],
            "code": "MLIR",
        }
        found.setdefault(repr(remark), remark)
    return list(found.values())


def _places(text: str) -> list[faults.Place]:
    """Columns counted from 1, as the recording code generator gives them on every version."""
    found = [[m[1], int(m[2]), int(m[3]) - 1, -1, -1] for m in _FRAME.finditer(text)]
    if found:
        return found
    plain = re.fullmatch(r"(.+):(\d+):(\d+)", text)
    return [[plain[1], int(plain[2]), int(plain[3]) - 1, -1, -1]] if plain else []


def _said(error: BaseException) -> tuple[str, str]:
    """Message and code, without the excerpt of the source, which the place says better."""
    code = type(error).__name__
    message = getattr(error, "error_message", None)
    if message is None:
        message = str(error) if not hasattr(error, "node") else ""
    original = error.__context__ if hasattr(error, "error_message") else None
    if isinstance(original, KeyError) and _raised_in(original, "call_JitFunction"):
        # It looks for what the function returns, which it knows only when it is through with it.
        return "recursion is not supported: this calls a function that is still being compiled", "recursion"
    match = _REPR.match(message)
    if match is not None:
        code = match[1]
        if original is not None and type(original).__name__ == code:
            message = str(original.args[0]) if isinstance(original, KeyError) and original.args else str(original)
        else:
            try:
                parsed = ast.literal_eval(f"({match[2].rstrip(',')},)")
                message = " ".join(map(str, parsed))
            except (SyntaxError, ValueError):
                message = match[2]
    return _PLACE.sub("", message).strip(), code


def _raised_in(error: BaseException, function: str) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_name == function


def _advice(message: str) -> str | None:
    return next((advice for word, advice in GONE.items() if re.search(rf"['\"` ]{word}\b", f" {message}")), None)
