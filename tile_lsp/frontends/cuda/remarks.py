"""What NVRTC and its assembler say while they compile: a line each, with its place where there is one."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

import msgspec

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact, Remark, Severity
from tile_lsp.model.stage import Stage

#: `remark: matmul.cu/matmul:31:1: scale inlined into matmul with (cost=5, threshold=…)`
_PLACED = re.compile(
    r"(?:remark: )?(?P<file>[^\s:][^:\n]*?):(?P<line>\d+):(?P<column>\d+):\s*(?:remark:\s*)?(?P<words>.*)"
)
_WARNING = re.compile(r"ptxas (?P<kind>warning|info)\s*: (?P<words>.*)")
#: Said of every kernel, and shown by other views, or different at each run.
_DULL = re.compile(
    r"(?:Compiling entry function|Compile time|\(O\) Potential|0 bytes gmem|Used \d+ registers|Function properties)"
)
_STACK = re.compile(r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def read(log: str, warnings: bytes) -> Artifact:
    """The remarks as an artifact, a line each. `warnings`: JSON of those that are no lines of the log's.

    Raises `ValueError` for warnings that can't be read.
    """
    found = dict.fromkeys(msgspec.json.decode(warnings, type=tuple[Remark, ...]))
    for line in log.split("\n"):
        remark = _remark(line.strip())
        if remark is not None:
            found[remark] = None
    done = {(remark.chain, remark.message.partition(" with ")[0]) for remark in found}
    kept = tuple(
        sorted(
            (remark for remark in found if not _is_overtaken(remark, done)),
            key=lambda remark: (remark.chain, remark.message),
        )
    )
    return Artifact(
        stage=Stage.REMARKS,
        text="".join(f"{_row(remark)}\n" for remark in kept),
        lines=tuple((remark.chain,) if remark.chain else () for remark in kept),
        remarks=kept,
    )


_UNDONE = " will not be inlined "


def _is_overtaken(remark: Remark, done: AbstractSet[tuple[Chain, str]]) -> bool:
    """True for what an early pass says that it won't do and a later one does all the same."""
    return _UNDONE in remark.message and (remark.chain, remark.message.replace(_UNDONE, " inlined ")) in done


def _row(remark: Remark) -> str:
    """As nvcc writes it: `warning #177-D: variable "n" was declared but never referenced`."""
    if remark.code is None or not remark.code.startswith("#"):
        return remark.message
    return f"{remark.severity} {remark.code}: {remark.message}"


def _remark(line: str) -> Remark | None:
    stack = _STACK.search(line)
    if stack is not None:
        _, stores, loads = map(int, stack.groups())
        if not stores and not loads:
            return None
        message = f"registers are spilt to local memory: {stores} bytes stored, {loads} bytes loaded"
        return Remark(message, Severity.WARNING, code="spill")
    match = _WARNING.match(line)
    if match is not None:
        if _DULL.match(match["words"]):
            return None
        severity = Severity.WARNING if match["kind"] == "warning" else Severity.HINT
        return Remark(match["words"].strip(), severity, code="ptxas")
    match = _PLACED.match(line)
    if match is not None and not match["file"].startswith("ptxas"):
        place = Place(match["file"], int(match["line"][:9]), int(match["column"][:9]) - 1)
        words = match["words"].strip()
        return Remark(words, Severity.HINT, (place,), code="inline" if "inlined" in words else "nvrtc")
    return None
