"""What LLVM is asked about a front end's LLVM IR, the same for each that has some, and what is read from its answers.

| blob           | stage          | holds                                                              |
|----------------|----------------|--------------------------------------------------------------------|
| `llvm-sliced`  | `llvm`         | the kernel and what it calls, verified                             |
| `llvm-remarks` | `llvm-remarks` | what LLVM's optimiser has to say, `!NODE: MESSAGE`                 |
| `llvm-ptx`     | `ptx-llvm`     | PTX of LLVM's own NVPTX: to hold against what runs, and never that |

All of them are made of the blob `llvm` by the tool `llvm` (`tile_lsp/llvm`), which the server brings along.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from tile_lsp.analysis import llvm, ptx_text
from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Remark, Severity
from tile_lsp.model.stage import Stage

from .base import ToolRun

TOOL = "llvm"
SOURCE = "llvm"
SLICED, REMARKS, PTX = "llvm-sliced", "llvm-remarks", "llvm-ptx"

STAGES = (Stage.LLVM_REMARKS, Stage.PTX_LLVM)
"""Those that are LLVM's alone."""
BLOBS: Mapping[Stage, tuple[str, ...]] = {
    Stage.LLVM: (SOURCE, f"{SLICED}?"),
    Stage.LLVM_REMARKS: (SOURCE, REMARKS),
    Stage.PTX_LLVM: (PTX,),
}

_REMARK = re.compile(r"(!\d+): (.+)")
_CALLSITE = re.compile(r" at callsite \S+;$")
_CROSS_CHECK = (
    "// What LLVM's own NVPTX makes of the same LLVM IR: to hold against the stage ptx. It is not what runs.",
    "",
)
_OWN_ARCHITECTURE = 90
"""From sm_90 on compilers take what is the architecture's own: `sm_90a`."""


def tool_for(blob: str, target: str | None, *, optimized: bool) -> ToolRun | Fault | None:
    """The run that makes one of LLVM's blobs; None for any other. `optimized`: the IR went through a pipeline already.

    A fault where there is no such thing for the target.
    """
    if blob == SLICED:
        return ToolRun(TOOL, ("slice", _file(SOURCE), _file(SLICED)), (SOURCE,), (SLICED,))
    if blob not in (REMARKS, PTX):
        return None
    cpu = _cpu(target or "")
    if blob == REMARKS:
        return ToolRun(TOOL, ("remarks", _file(SOURCE), _file(REMARKS), "--cpu", cpu), (SOURCE,), (REMARKS,))
    if not cpu.startswith("sm_"):
        message = f"{target} is AMD's: LLVM's PTX is there for NVIDIA's targets"
        return Fault(FaultKind.USER, message, code="stage")
    first = () if optimized else ("--optimize",)
    return ToolRun(TOOL, ("ptx", _file(SOURCE), _file(PTX), "--cpu", cpu, *first), (SOURCE,), (PTX,))


def read(stage: Stage, blobs: Mapping[str, bytes], place: Callable[[Chain], Chain] = lambda chain: chain) -> Artifact:
    """One of the stages of `BLOBS`. `place` makes places of what the debug information holds in their stead."""
    if stage is Stage.LLVM:
        found = _sliced(blobs)
    elif stage is Stage.LLVM_REMARKS:
        found = _remarks(_text(blobs[REMARKS]), _text(blobs[SOURCE]), place)
    else:
        found = _cross_check(_text(blobs[PTX]))
    if stage is Stage.LLVM_REMARKS:
        return found
    lines = tuple(tuple(placed for chain in row if (placed := place(chain))) for row in found.lines)
    return msgspec.structs.replace(found, lines=lines)


def _sliced(blobs: Mapping[str, bytes]) -> Artifact:
    if SLICED in blobs:
        return llvm.read(_text(blobs[SLICED]))
    whole = llvm.read(_text(blobs[SOURCE]))
    why = _text(blobs.get(f"{SLICED}?", b"")).splitlines()
    note = [f"; {line}" for line in ("The whole of what was compiled, not verified:", *why, "")]
    return _under([line.rstrip() for line in note], whole)


def _cross_check(text: str) -> Artifact:
    found = ptx_text.read(text)
    # The tables of the debug information follow the code.
    code = found.text.partition("\n\t.section\t")[0].partition("\n.section\t")[0].rstrip("\n") + "\n"
    found = msgspec.structs.replace(found, stage=Stage.PTX_LLVM, text=code, lines=found.lines[: code.count("\n")])
    return _under(list(_CROSS_CHECK), found)


def _under(head: list[str], artifact: Artifact) -> Artifact:
    lines = (*(() for _ in head), *artifact.lines)
    return msgspec.structs.replace(artifact, text="".join(f"{line}\n" for line in head) + artifact.text, lines=lines)


def _remarks(text: str, source: str, place: Callable[[Chain], Chain]) -> Artifact:
    said = _REMARK.findall(text)
    chains = llvm.chains(source, {number for number, _ in said})
    found: dict[Remark, None] = {}
    for number, message in said:
        if chain := place(chains[number]):
            found[Remark(_CALLSITE.sub("", message), Severity.HINT, chain, "llvm")] = None
    remarks = tuple(sorted(found, key=lambda remark: (remark.chain, remark.message)))
    return Artifact(
        Stage.LLVM_REMARKS,
        "".join(f"{remark.message}\n" for remark in remarks),
        tuple((remark.chain,) for remark in remarks),
        remarks=remarks,
    )


def _cpu(target: str) -> str:
    number = target.removeprefix("sm_")
    return f"{target}a" if number.isdigit() and int(number) >= _OWN_ARCHITECTURE else target


def _file(blob: str) -> str:
    return "{" + blob + "}"


def _text(blob: bytes) -> str:
    return blob.decode("utf-8", "replace")
