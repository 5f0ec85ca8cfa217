"""What a kernel costs, said in one line."""

from __future__ import annotations

import re

from tile_lsp.analysis.snapshot import JobView
from tile_lsp.model.stage import Stage

_ROW = re.compile(r"  (?P<name>\S.*?) {2,}(?P<value>\S.*?)(?: {2,}(?P<note>.*))?")
_INSTRUCTIONS = re.compile(r"(\d+) instructions")


def resources_line(view: JobView) -> str | None:
    """`"40 registers · 17 KiB shared · 212 instructions"` where the resources of the job are at hand, else None."""
    artifact = view.artifacts.get(Stage.RESOURCES)
    if artifact is None:
        return None
    rows = {match["name"]: match for line in artifact.text.splitlines() if (match := _ROW.fullmatch(line))}
    parts = []
    if registers := rows.get("registers"):
        parts.append(f"{registers['value']} registers")
    for name, word in (("shared memory", "shared"), ("spills", "spilled"), ("local memory", "local")):
        if (row := rows.get(name)) and (size := _size(row["value"])):
            parts.append(f"{size} {word}")
    if (code := rows.get("code")) and (count := _INSTRUCTIONS.search(code["note"] or "")):
        parts.append(f"{count[1]} instructions")
    return " · ".join(parts) or None


def _size(text: str) -> str | None:
    """`"17408 B"` as `"17 KiB"`; None for nothing."""
    count = int(text.split()[0])
    if count == 0:
        return None
    return f"{count} B" if count < 1024 else f"{round(count / 1024, 1):g} KiB"
