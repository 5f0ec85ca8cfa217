"""What a kernel costs, said in one line."""

from __future__ import annotations

import re

from tile_lsp.analysis.snapshot import JobView
from tile_lsp.model.stage import Stage

_ROW = re.compile(r"  (?P<name>\S.*?) {2,}(?P<value>\S.*?)(?: {2,}(?P<note>.*))?")
_INSTRUCTIONS = re.compile(r"(\d+) instructions")


def resources_line(view: JobView) -> str | None:
    """`"40 registers · 17 KiB shared · 212 instructions"` where the resources of the job are at hand, else None."""
    return " · ".join(f"{value} {word}" for value, word in _parts(view)) or None


_SHORT = {"registers": "regs", "instructions": "instrs"}


def resources_brief(view: JobView, width: int) -> str | None:
    """The same in at most `width` characters: shorter words, and what comes last left out where there is no room."""
    parts = [f"{value} {_SHORT.get(word, word)}" for value, word in _parts(view)]
    while len(line := " · ".join(parts)) > width:
        parts.pop()
    return line or None


def _parts(view: JobView) -> list[tuple[str, str]]:
    """Values and what they are of, the most telling first."""
    artifact = view.artifacts.get(Stage.RESOURCES)
    if artifact is None:
        return []
    rows = {match["name"]: match for line in artifact.text.splitlines() if (match := _ROW.fullmatch(line))}
    parts: list[tuple[str, str]] = []
    if registers := rows.get("registers"):
        parts.append((registers["value"], "registers"))
    for name, word in (("spills", "spilled"), ("shared memory", "shared"), ("local memory", "local")):
        if (row := rows.get(name)) and (size := _size(row["value"])):
            parts.append((size, word))
    if (code := rows.get("code")) and (count := _INSTRUCTIONS.search(code["note"] or "")):
        parts.append((count[1], "instructions"))
    return parts


def _size(text: str) -> str | None:
    """`"17408 B"` as `"17 KiB"`; None for nothing."""
    count = int(text.split()[0])
    if count == 0:
        return None
    return f"{count} B" if count < 1024 else f"{round(count / 1024, 1):g} KiB"
