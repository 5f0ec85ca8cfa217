"""`tile-lsp graph STAGE FILE::KERNEL`: control flow as DOT, or drawn by Graphviz where that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tile_lsp.ide.documents import Document
from tile_lsp.ide.graph import graph

from . import show
from .exits import Exit, UsageError
from .output import write, write_error

_DRAWN = (".svg", ".pdf", ".png")
_WRITTEN = (".dot", ".gv")


def run(request: show.ShowRequest, output: str | None) -> Exit:
    """A graph for each job. A picture needs Graphviz, DOT needs nothing."""
    suffix = Path(output).suffix.lower() if output else ".dot"
    if suffix not in (*_DRAWN, *_WRITTEN):
        raise UsageError(f"-o {output}: the name ends in {', '.join((*_DRAWN, *_WRITTEN))}")
    if suffix in _DRAWN and shutil.which("dot") is None:
        write_error(f"tile-lsp: error: {suffix[1:]} is drawn by Graphviz, and there is no dot on PATH")
        write_error(f"help: install Graphviz (apt-get install graphviz), or ask for -o {Path(output or '').stem}.dot")
        return Exit.ENVIRONMENT
    graphs: list[str] = []

    def draw(document: Document, path: str) -> str:
        found = graph(document, path)
        if found is not None:
            graphs.append(found.dot)
        return ""

    code = show.run(request._replace(draw=draw))
    if not graphs:
        return code
    if output is None:
        for one in graphs:
            write(one)
    elif suffix in _WRITTEN:
        Path(output).write_text("".join(graphs), encoding="utf-8")
    else:
        return max(code, _picture(graphs, output, suffix))
    return code


def _picture(graphs: list[str], output: str, suffix: str) -> Exit:
    """One for each graph: the second of `matmul.svg` is `matmul.2.svg`."""
    stem, _ = os.path.splitext(output)
    for number, dot in enumerate(graphs, start=1):
        name = output if number == 1 else f"{stem}.{number}{suffix}"
        drawn = subprocess.run(
            ["dot", f"-T{suffix[1:]}", "-o", name], input=dot.encode(), stderr=subprocess.PIPE, check=False
        )
        if drawn.returncode != 0:
            write_error(f"tile-lsp: error: dot: {drawn.stderr.decode(errors='replace').strip()}")
            return Exit.ENVIRONMENT
    return Exit.OK
