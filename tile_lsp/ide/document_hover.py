"""Hover inside a served document: what an instruction does, the source line that it came from, how it was inlined."""

from __future__ import annotations

import re

from tile_lsp.analysis.opcodes import Explanation, explain, sass
from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.frontends.base import Parameter
from tile_lsp.ide.documents import Document, Link
from tile_lsp.ide.jobs import where
from tile_lsp.ide.links import sources_of
from tile_lsp.ide.markup import Block, Code, Items, Markup, Text, code
from tile_lsp.ide.thread_map import ThreadMap, facts, table, thread_maps
from tile_lsp.model.stage import Stage

_SHOWN = 3
"""At most so many places for one line: optimised code may come from many."""
_MOST_JUMPS = 8


def document_hover(snapshot: Snapshot, document: Document, line: int) -> Markup | None:
    """For a line of the document (0-based); None where it says nothing and came from nowhere in the workspace."""
    blocks: list[Block] = []
    if 0 <= line < len(document.rows) and document.origins[line] >= 0:
        blocks += _instruction(snapshot, document, line) or _label(document, line)
        blocks += _thread_maps(document, line)
    links = sources_of(document, line)
    for link in links[:_SHOWN]:
        blocks += _link(snapshot, link)
    if len(links) > _SHOWN:
        blocks.append(Text(f"and {len(links) - _SHOWN} more places"))
    return Markup(tuple(blocks)) if blocks else None


def _instruction(snapshot: Snapshot, document: Document, line: int) -> list[Block]:
    found = explain(document.stage, document.rows, line)
    if found is None:
        return []
    blocks: list[Block] = [Text(f"`{found.name}`: {found.does or 'not described here.'}")]
    items = [
        *(f"`{modifier}`: {phrase or 'not described here'}" for modifier, phrase in found.parts),
        *_parameters(snapshot, document, line),
        *found.notes,
        *_targets(document, line, found),
    ]
    if items:
        blocks.append(Items(tuple(items)))
    return blocks


_PTX_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")


def _parameters(snapshot: Snapshot, document: Document, line: int) -> list[str]:
    """The kernel's parameters that the line names, in the words of the source."""
    if document.stage is Stage.PTX:
        used = list(_PTX_PARAMETER.finditer(document.rows[line]))
        known = _layout(snapshot, document) if used else ()
        return [f"`{one[0]}`: {_named(known[int(one[1])])}" for one in used if int(one[1]) < len(known)]
    if document.stage is not Stage.SASS:
        return []
    found = []
    for read in sass.parameters(document.rows, line):
        parts = [
            _named(one, read.offset - one.offset)
            for one in _layout(snapshot, document)
            if read.offset < one.offset + one.size and one.offset < read.offset + read.size
        ]
        found.append(f"`{read.written}`: " + (", ".join(parts) or f"byte {read.offset} of the kernel's parameters"))
    return found


def _named(parameter: Parameter, within: int = 0) -> str:
    return f"{'the high half of ' if within > 0 else ''}parameter `{parameter.name}`"


def _layout(snapshot: Snapshot, document: Document) -> tuple[Parameter, ...]:
    from tile_lsp.frontends import FRONTENDS  # they take time to import, and the server starts without
    from tile_lsp.frontends.base import NamesParameters

    job = document.job
    front = next((front for front in FRONTENDS if job is not None and front.name == job.frontend), None)
    if job is None or not isinstance(front, NamesParameters):
        return ()
    kernels = (kernel for file in snapshot.files.values() for kernel in file.kernels)
    kernel = next((kernel for kernel in kernels if any(view.job == job for view in kernel.jobs)), None)
    records = kernel.inference.types if kernel is not None and kernel.inference is not None else ()
    return front.parameters(job.arguments, {one.name: one.type for one in records if one.kind == "param" and one.name})


def _targets(document: Document, line: int, found: Explanation) -> list[str]:
    """Where labels lead: the line of the document, and of the source."""
    leads = []
    for label in dict.fromkeys(found.labels):
        row = _row_of(document, line, label)
        if row is None:
            continue
        link = next((links[0] for links in document.links[row : row + _NEAR] if links), None)
        leads.append(f"{code(label)} is line {row + 1}" + (f", `{where(link[0])}`" if link else ""))
    return leads


_NEAR = 4
"""Lines after a label among which its first instruction is looked for."""


def _row_of(document: Document, line: int, label: str) -> int | None:
    """LLVM IR numbers the blocks of each function anew."""
    first = next((row for row in range(line, -1, -1) if document.rows[row].startswith("define")), 0)
    wanted = f"{label.removeprefix('%')}:"
    return next((row for row in range(first, len(document.rows)) if document.rows[row].startswith(wanted)), None)


def _thread_maps(document: Document, line: int) -> list[Block]:
    """How the values of a line of TTGIR lie over threads or in shared memory, the result first."""
    if document.stage is not Stage.TTGIR:
        return []
    blocks: list[Block] = []
    for found in thread_maps(document, line)[:_MOST_MAPS]:
        blocks.append(Code(found.typed.text, "mlir"))
        if isinstance(found, ThreadMap):
            blocks += [Text("\n".join(facts(found))), Code(table(found), "text")]
        else:
            blocks.append(Text(found.why))
    return blocks


_MOST_MAPS = 2

_LABELS = {
    Stage.SASS: re.compile(r"(\.L_x_\d+):"),
    Stage.PTX: re.compile(r"(\$[\w$]+):"),
    Stage.PTX_LLVM: re.compile(r"(\$[\w$]+):"),
    Stage.LLVM: re.compile(r"([\w.$]+):"),
    Stage.AMDGCN: re.compile(r"(\.L\w+):"),
}


def _label(document: Document, line: int) -> list[Block]:
    """For a label: who jumps to it."""
    pattern = _LABELS.get(document.stage)
    match = pattern.match(document.rows[line]) if pattern else None
    if match is None:
        return []
    name = f"label %{match[1]}" if document.stage is Stage.LLVM else match[1]
    used = re.compile(rf"(?<![\w.$%]){re.escape(name)}(?![\w.$:])")
    rows = [row for row, text in enumerate(document.rows) if name in text and used.search(text)]
    if document.stage is Stage.LLVM:
        rows = [row for row in rows if _row_of(document, row, match[1]) == line]
    if not rows:
        return [Text(f"{code(match[1])}: nothing jumps here by name")]
    shown = ", ".join(str(row + 1) for row in rows[:_MOST_JUMPS])
    more = f" and {len(rows) - _MOST_JUMPS} more" if len(rows) > _MOST_JUMPS else ""
    return [Text(f"{code(match[1])}: reached from line{'s' if len(rows) > 1 else ''} {shown}{more}")]


def _link(snapshot: Snapshot, link: Link) -> list[Block]:
    place = link[0]
    file = snapshot.files.get(place.path)
    cells = next((found.cells for each in link if (found := snapshot.files.get(each.path)) and found.cells), ())
    blocks: list[Block] = []
    if file is not None and place.span.line <= len(file.lines):
        blocks.append(Code(file.lines[place.span.line - 1].strip()))
    way = [f"`{where(place, cells)}`", *(f"called at `{where(caller, cells)}`" for caller in link[1:])]
    blocks.append(Text(", ".join(way)))
    return blocks
