"""NVRTC's log to faults and remarks: message, severity, number, and the chain of places that led there."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ... import distributions, faults

_HEAD = re.compile(
    r"^(?P<file>[^\s()][^()\n]*)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning|remark)"
    r"(?: #(?P<number>\d+(?:-D)?))?: (?P<words>.*)$"
)
#: `detected during instantiation of "…" at line 7 of f.cu/g`, or a line for each step after `detected during:`.
_DURING = re.compile(r"at line (?P<line>\d+)(?: of (?P<file>.+?))?\s*$")
_INSTANCE = re.compile(r'instantiation of (?:\w+ )?"(?:[^"(<]*[\s:&*])?(\w+)\s*[(<]')
_DECLARED = re.compile(r'\s*\(declared at line \d+(?: of "[^"]*")?\)')
_ASSEMBLER = re.compile(r"^ptxas\s.*?(?:error|fatal)\s*:\s*(?P<words>.*)$")
_GENERAL = re.compile(r"^nvrtc: (?:error|fatal): (?P<words>.*)$")
_UNRESOLVED = re.compile(r"Unresolved extern function '(\w+)'")
_LOST = re.compile(r'(?:cannot|could not) open source file "([^"]+)"')
#: Start of a header's name → what brings it.
_PACKAGES = (
    ("curand", "nvidia-curand"),
    ("cub/", "nvidia-cuda-cccl"),
    ("thrust/", "nvidia-cuda-cccl"),
    ("cuda/", "nvidia-cuda-cccl"),
    ("nv/", "nvidia-cuda-cccl"),
    ("crt/", "nvidia-cuda-crt"),
    ("cu", "nvidia-cuda-runtime"),
    ("cooperative_groups", "nvidia-cuda-runtime"),
    ("mma.h", "nvidia-cuda-runtime"),
)
_DEEPEST = 16
#: Where NVRTC says that it is while it reads a name expression.
_NAMES = "__nv_name_map"


class Diagnostic(NamedTuple):
    severity: str
    """`error`, `warning` or `remark`."""
    message: str
    chain: list[list[Any]]
    """`[member, line, -1, -1, -1]`, innermost first."""
    code: str | None
    own: bool
    """It is in a member, not in a header from elsewhere that one of them uses."""


def parse(log: str, members: Mapping[str, str]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    lines = log.split("\n")
    index = 0
    while index < len(lines):
        head = _HEAD.match(lines[index])
        if head is None:
            index += 1
            continue
        message = [head["words"]]
        chain = [] if head["file"] not in members else [_place(head["file"], head["line"])]
        current = head["file"]
        index += 1
        # The message may go on; then come the line of source and a caret, then the instantiations around it.
        while index < len(lines) and lines[index].strip() and not _HEAD.match(lines[index]):
            line = lines[index]
            during = _DURING.search(line) if "detected during" in line or line.startswith(" " * 12) else None
            if during is not None:
                current = (during["file"] or current).strip('"')
                if current in members and len(chain) < _DEEPEST:
                    chain.append(_place(current, _called(line, members[current], int(during["line"]))))
            elif (
                line.startswith("          ")
                and index + 1 < len(lines)
                and not lines[index + 1].strip().startswith("^")
            ):
                words = line.strip()
                if (
                    "detected during" not in words
                    and not words.startswith(("^", "instantiation of", "["))
                    and len(message) < 4
                ):
                    message.append(words)
            index += 1
        words = _DECLARED.sub("", " ".join(message)).strip()
        if head["file"] == _NAMES:
            if words.startswith("Error in parsing name expression"):
                continue
            words = f"in the arguments of the template: {words}"
        elif head["file"] not in members:
            words = f"{os.path.basename(head['file'])}:{head['line']}: {words}"
        number = head["number"]
        own = head["file"] in members
        found.append(Diagnostic(head["kind"], words, chain, f"#{number}" if number else None, own))
    return found


def to_faults(log: str, members: Mapping[str, str], status: str) -> list[faults.Fault]:
    """Every error of a log, or, if there is none in it that can be read, all of its words. Each once."""
    made = [_fault(one) for one in parse(log, members) if one.severity == "error"]
    for line in log.split("\n"):
        general, assembler = _GENERAL.match(line.strip()), _ASSEMBLER.match(line.strip())
        if general is not None:
            made.append(faults.fault(faults.USER, general["words"].strip(), code="options"))
        elif assembler is not None:
            made.append(_of_assembler(assembler["words"].strip()))
    if not made:
        made = [faults.fault(faults.USER, log.strip() or status, code=status)]
    unique = {(one["message"], repr(one.get("chain"))): one for one in made}
    return list(unique.values())


def _fault(one: Diagnostic) -> faults.Fault:
    lost = _LOST.search(one.message)
    package = next((package for start, package in _PACKAGES if lost is not None and lost[1].startswith(start)), None)
    if package is None:
        return faults.fault(faults.USER, one.message, one.chain or None, code=one.code or "nvrtc")
    return faults.fault(
        faults.ENVIRONMENT, one.message, one.chain or None, help=distributions.pip(package), code=one.code or "nvrtc"
    )


def _of_assembler(words: str) -> faults.Fault:
    found = _UNRESOLVED.search(words)
    if found is None:
        return faults.fault(faults.USER, words, code="ptxas")
    return faults.fault(
        faults.USER,
        f"{_readable(found[1])} is called, and no device code defines it",
        help="mark its definition __device__, or __host__ __device__",
        code="ptxas",
    )


def _readable(symbol: str) -> str:
    """The names in a mangled symbol: `_ZN1P3getEv` → `P::get`."""
    at = 3 if symbol.startswith("_ZN") else 2 if symbol.startswith("_Z") else len(symbol)
    at += len(re.match(r"[rVKSt]*", symbol[at:])[0])  # type: ignore[index]
    names = []
    while (length := re.match(r"\d+", symbol[at:])) is not None:
        start = at + length.end()
        at = start + int(length[0])
        names.append(symbol[start:at])
    return "::".join(names) or symbol


def to_remarks(log: str, members: Mapping[str, str]) -> list[dict[str, Any]]:
    """Warnings, and what is said besides, of the user's own code; what headers of the toolkit do is none of it."""
    found = []
    for one in parse(log, members):
        if one.severity != "error" and one.own:
            severity = "warning" if one.severity == "warning" else "information"
            found.append(
                {"message": one.message, "severity": severity, "chain": one.chain, "code": one.code or "nvrtc"}
            )
    unique = {(one["message"], repr(one["chain"])): one for one in found}
    return list(unique.values())


def _called(words: str, text: str, line: int) -> int:
    """The line of the name of what is instantiated: NVRTC tells where the statement ends that calls it."""
    found = _INSTANCE.search(words)
    lines = text.split("\n")
    for number in range(min(line, len(lines)), 0, -1) if found is not None else ():
        if lines[number - 1] == found[1]:
            return number
    return line


def _place(member: str, line: str | int) -> list[Any]:
    return [member, int(line), -1, -1, -1]
