"""The control-flow graph of a served listing: its blocks with their code and their source, and the graph as DOT."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Sequence

import msgspec

from tile_lsp.analysis import flow
from tile_lsp.ide.documents import Document
from tile_lsp.model.location import SourceRange
from tile_lsp.model.stage import Stage

STAGES = (Stage.LLVM, Stage.SASS, Stage.AMDGCN)
"""Those whose control flow can be read from their text."""

_READERS = {Stage.SASS: flow.of_sass, Stage.LLVM: flow.of_llvm, Stage.AMDGCN: flow.of_amdgcn}
_COMMENT = re.compile(r"/\*.*?\*/|^\s*(?://|;).*|;\s*(?=/\*|$)|(?:, ![\w.]+ !\d+)+$")
"""What is no part of an instruction: comments, the semicolon that ends it, metadata."""
_COMMENTS = {Stage.AMDGCN: re.compile(r"\s*;.*")}
_HEAD, _TAIL = 8, 3
"""Rows of a block that are shown, of its first and its last ones."""
_WIDTH = 88


class Node(msgspec.Struct, frozen=True):
    id: str
    """Of the node in the DOT, and of its group in a picture made of it: `b0_3`."""
    function: str
    name: str
    first: int
    """Row of the document, from 0, of its first line of code."""
    last: int
    """Inclusive."""
    code: tuple[str, ...]
    """Its instructions."""
    source: SourceRange | None
    """What most of it comes from."""
    lines: tuple[int, ...]
    """Lines of the kernel's file that it comes from, in order."""


class Graph(msgspec.Struct, frozen=True):
    nodes: tuple[Node, ...]
    dot: str


def graph(document: Document, path: str) -> Graph | None:
    """None for a document whose control flow is not known. `path`: the file of the kernel."""
    reader = _READERS.get(document.stage)
    functions = reader(document.rows) if reader is not None else ()
    if not functions:
        return None
    nodes: list[Node] = []
    # Courier, for it is the font of one width whose letters Graphviz can measure wherever it runs.
    dot = [
        "digraph {",
        '  graph [fontname="Courier", rankdir=TB, nodesep=0.4, ranksep=0.4];',
        '  node [shape=box, fontname="Courier", fontsize=10, margin="0.1,0.06"];',
        '  edge [fontname="Courier", fontsize=9];',
    ]
    for number, function in enumerate(functions):
        made = [_node(document, path, function, number, index) for index in range(len(function.blocks))]
        nodes += made
        body = [f'{node.id} [id="{node.id}", label="{_label(node)}", tooltip="{_tooltip(node)}"];' for node in made]
        for node, block in zip(made, function.blocks, strict=True):
            body += [f"{node.id} -> {made[edge.to].id}{_attributes(edge)};" for edge in block.edges]
        if len(functions) > 1:
            body = [f"subgraph cluster_{number} {{", f'  label="{_quoted(function.name)}";', *_indented(body), "}"]
        dot += _indented(body)
    return Graph(tuple(nodes), "\n".join([*dot, "}"]) + "\n")


def _node(document: Document, path: str, function: flow.Function, number: int, index: int) -> Node:
    block = function.blocks[index]
    rows = range(block.first, block.last + 1)
    comment = _COMMENTS.get(document.stage, _COMMENT)
    code = [text for row in rows if (text := comment.sub("", document.rows[row]).strip())]
    places = [links[0][0] for row in rows if (links := document.links[row]) and document.origins[row] >= 0]
    # An outer place counts where the inner one is in another file: the kernel's own lines are what one looks at.
    own = [
        place.span.line
        for row in rows
        for link in document.links[row][:1]
        if document.origins[row] >= 0
        for place in link
        if place.path == path
    ]
    common = collections.Counter(places).most_common(1)
    return Node(
        f"b{number}_{index}",
        function.name,
        block.name,
        block.first,
        block.last,
        tuple(code),
        common[0][0] if common else None,
        tuple(sorted(set(own))),
    )


def _label(node: Node) -> str:
    count = len(node.code)
    head = [node.name or f"row {node.first + 1}", f"{count} instruction{'s' if count != 1 else ''}"]
    if node.lines:
        head.append(f"line{'s' if len(node.lines) > 1 else ''} {runs(node.lines)}")
    code = node.code
    if count > _HEAD + _TAIL + 1:
        code = (*code[:_HEAD], f"… {count - _HEAD - _TAIL} more", *code[-_TAIL:])
    return "".join(f"{_quoted(_short(row))}\\l" for row in (" · ".join(head), *code))


def _tooltip(node: Node) -> str:
    return _quoted(node.name or f"row {node.first + 1}")


def _attributes(edge: flow.Edge) -> str:
    given = []
    if edge.when:
        given.append(f'label="{_quoted(edge.when)}"')
    if edge.back:
        given.append("class=back, style=bold")
    return f" [{', '.join(given)}]" if given else ""


def runs(lines: Sequence[int]) -> str:
    """`"12-14, 20"`."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
