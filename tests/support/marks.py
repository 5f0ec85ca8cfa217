"""What is marked in a file of a workbench, as text."""

from __future__ import annotations

from tests.support.workbench import Workbench
from tile_lsp.ide.diagnostics import diagnostics


async def marks(bench: Workbench, name: str, text: str) -> list[tuple[str, str]]:
    """The source of each mark in a file, once its jobs are inferred, with the first line of what is said there."""
    bench.write(name, text)
    bench.session.open(bench.path(name), text)
    await bench.session.settled()
    lines = bench.text(name).split("\n")
    found = diagnostics(bench.session.snapshot())[bench.path(name)]
    return [
        (
            lines[one.span.line - 1].encode()[one.span.column : one.span.end_column].decode(),
            one.message.partition("\n")[0],
        )
        for one in found
    ]
