"""The assembler's remarks: the YAML of `tileiras --remark-format=yaml`, which is LLVM's remark format.

Only that subset is read: documents, `key: value` lines, one flow map (`DebugLoc`), one list of single pairs (`Args`).
What does not fit is left out. Asking for remarks leaves the cubin as it is, byte for byte.
"""

from __future__ import annotations

import re

from tile_lsp.model.location import Place
from tile_lsp.model.outcome import Artifact, Remark, Severity
from tile_lsp.model.stage import Stage

_DOCUMENT = re.compile(r"^--- !(\w+)[^\n]*\n", re.MULTILINE)
_PAIR = re.compile(r"^(\w+):[ \t]+(.*)$", re.MULTILINE)
_ARGUMENT = re.compile(r"^  - (\w+):[ \t]*(.*)$", re.MULTILINE)
_LOCATION = re.compile(r"\{ *File: *('(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,]*), *Line: *(\d+), *Column: *(\d+) *\}")
_PREFIX = re.compile(r"loc\([^()]*(?:\([^()]*\)[^()]*)*\): ")
_SEVERITIES = {"Missed": Severity.INFORMATION, "Failure": Severity.INFORMATION}
_HIDDEN = frozenset({"RemarkId", "Remark", "Reason", "Instruction", "String"})


def parse(text: str) -> tuple[Remark, ...]:
    """Each remark once, in the order of its place. Never raises."""
    starts = list(_DOCUMENT.finditer(text))
    found: dict[Remark, None] = {}
    for index, start in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        remark = _remark(start[1], text[start.end() : end])
        if remark is not None:
            found[remark] = None
    return tuple(sorted(found, key=lambda r: (r.chain, r.message)))


def read(text: str) -> Artifact:
    """The remarks as an artifact, a line each."""
    remarks = parse(text)
    return Artifact(
        stage=Stage.REMARKS,
        text="".join(f"{remark.message}\n" for remark in remarks),
        lines=tuple((remark.chain,) if remark.chain else () for remark in remarks),
        remarks=remarks,
    )


def _remark(kind: str, body: str) -> Remark | None:
    pairs = {match[1]: match[2] for match in _PAIR.finditer(body)}
    arguments = [(match[1], _scalar(match[2])) for match in _ARGUMENT.finditer(body)]
    said = [value for key, value in arguments if key in ("Remark", "String") and value]
    # One line says why, once, without the location that the remark has anyway.
    reasons = dict.fromkeys(_PREFIX.sub("", value).strip() for key, value in arguments if key == "Reason")
    chosen = [value for key, value in arguments if key == "Instruction"]
    details = [f"{_words(key)} {value}" for key, value in arguments if key not in _HIDDEN and value]
    message = " ".join(said) or _scalar(pairs.get("Name", ""))
    if not message:
        return None
    if tail := [*chosen, *(r for r in reasons if r), *details]:
        message = f"{message}: {', '.join(tail)}"
    place = _LOCATION.search(pairs.get("DebugLoc", ""))
    file = _scalar(place[1]) if place else ""
    return Remark(
        message=message,
        severity=_SEVERITIES.get(kind, Severity.HINT),
        chain=(Place(file, int(place[2][:9]), int(place[3][:9])),) if place and file else (),
        code=_scalar(pairs.get("Name", "")) or None,
    )


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _words(key: str) -> str:
    """`NumCTAs` → `num CTAs`, `Shape` → `shape`."""
    parts = re.findall(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]", key)
    return " ".join(part if part[:2].isupper() else part.lower() for part in parts)
