"""Sources whose comments say what is expected of the line above: `#   ^^^^ tensor<64xfp32>` under the range, or just
the range for one where nothing is said."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.workbench import Workbench
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.ide.type_index import typed_on
from tile_lsp.model.location import Span
from tile_lsp.model.outcome import Severity

HEADER = "import triton\nimport triton.language as tl\n\n\n"
_CARETS = re.compile(r"\s*#\s*(?P<carets>\^+)(?:\s+(?P<expected>.*))?")


class Caret(NamedTuple):
    span: Span
    expected: str


def carets(text: str) -> list[Caret]:
    found = []
    line = 0
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        match = _CARETS.fullmatch(row)
        if match is None:
            line = number
        else:
            above = rows[line - 1]
            start, end = (len(above[:at].encode()) for at in match.span("carets"))
            found.append(Caret(Span(line, start, line, end), match["expected"] or ""))
    assert found, "nothing is expected of this text"
    return found


async def write(bench: Workbench, name: str, text: str) -> str:
    """The file, with its imports in front; open, with its types there."""
    whole = HEADER + text
    bench.write(name, whole)
    await bench.open(name)
    return whole


def types_at(bench: Workbench, name: str, span: Span) -> set[str]:
    """Types of just that range, from every kernel."""
    snapshot = bench.session.snapshot()
    return {e.record.type for e in typed_on(snapshot, bench.path(name), span.line) if e.span == span}


async def typed(bench: Workbench, name: str, text: str) -> tuple[list[str], list[str]]:
    """What there is at each range, and what is expected: to be equal."""
    whole = await write(bench, name, text)
    faults = [kernel.faults for kernel in bench.session.snapshot().files[bench.path(name)].kernels if kernel.faults]
    if faults:
        return [str(faults)], []
    wanted = carets(whole)
    shown = [_said(caret.span, " | ".join(sorted(types_at(bench, name, caret.span)))) for caret in wanted]
    return shown, [_said(*caret) for caret in wanted]


def _said(span: Span, words: str) -> str:
    return f"{span.line}:{span.column}-{span.end_line}:{span.end_column} {words}"


async def faulty(bench: Workbench, name: str, text: str) -> tuple[list[str], list[str]]:
    """`error: MESSAGE` and `called from here` at their exact ranges: all that there is, and what is expected."""
    whole = await write(bench, name, text)
    found = []
    for item in diagnostics(bench.session.snapshot())[bench.path(name)]:
        if item.severity is Severity.HINT:
            continue
        found.append(_said(item.span, f"error: {item.message.splitlines()[0]}"))
        found += [_said(other.place.span, other.message) for other in item.related]
    return sorted(found), sorted(_said(*caret) for caret in carets(whole))
