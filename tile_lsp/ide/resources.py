"""What a kernel costs, said in one line."""

from __future__ import annotations

from tile_lsp.analysis.snapshot import JobView
from tile_lsp.model.stage import Stage


def resources_line(view: JobView) -> str | None:
    """`"40 registers · 16384 bytes shared"` where the resources of the job are at hand, else None."""
    artifact = view.artifacts.get(Stage.RESOURCES)
    if artifact is None:
        return None
    lines = [line.strip() for line in artifact.text.splitlines() if line.strip()]
    return " · ".join(" ".join(line.split()) for line in lines) or None
