"""The parts of a served document: functions, basic blocks and regions, for symbols and folding."""

from __future__ import annotations

import re

import msgspec

from tile_lsp.analysis import amdgcn, sass
from tile_lsp.ide.documents import Document
from tile_lsp.model.stage import Stage


class Part(msgspec.Struct, frozen=True):
    """Lines are 0-based and inclusive."""

    name: str
    kind: str
    """`function`, `block` or `region`."""
    first: int
    last: int
    parts: tuple[Part, ...] = ()


def outline(document: Document) -> tuple[Part, ...]:
    match document.stage:
        case Stage.SASS:
            return _machine(sass.outline(document.text))
        case Stage.AMDGCN:
            return _machine(amdgcn.outline(document.rows))
        case Stage.PTX | Stage.PTX_LLVM | Stage.LLVM:
            return _labelled(document)
        case Stage.TILEIR | Stage.MLIR | Stage.TTIR | Stage.TTGIR:
            return _braces(document.rows, 0, len(document.rows))
        case _:
            return ()


def _machine(functions: tuple[sass.FunctionRange, ...]) -> tuple[Part, ...]:
    return tuple(
        Part(
            function.name,
            "function",
            function.first,
            function.last,
            tuple(Part(block.label or "entry", "block", block.first, block.last) for block in function.blocks),
        )
        for function in functions
    )


_FUNCTION = re.compile(r"(?:\.visible\s+|\.weak\s+)?\.(?:entry|func)\b.*?([\w$]+)\s*\($|^define\b.*?@([\w$.\"]+)\(")
_LABEL = re.compile(r"^([$\w.%\"-]+):")


def _labelled(document: Document) -> tuple[Part, ...]:
    """PTX and LLVM IR: functions in braces, blocks that begin with a label."""
    found = []
    rows = document.rows
    index = 0
    while index < len(rows):
        match = _FUNCTION.search(rows[index].rstrip())
        if match is None:
            index += 1
            continue
        first = index
        while index < len(rows) - 1 and rows[index].strip() != "}":
            index += 1
        labels = [line for line in range(first, index) if _LABEL.match(rows[line])]
        ends = [*(line - 1 for line in labels[1:]), index - 1]
        blocks = tuple(
            Part(rows[line].split(":")[0], "block", line, end) for line, end in zip(labels, ends, strict=bool(labels))
        )
        found.append(Part(match[1] or match[2], "function", first, index, blocks))
        index += 1
    return tuple(found)


_SYMBOL = re.compile(r"@([\w$.]+|\"[^\"]*\")")
_OPERATION = re.compile(r"(?:[%\w,:# ]+= )?([\w.]+)")


def _braces(rows: tuple[str, ...], start: int, end: int) -> tuple[Part, ...]:
    """MLIR: what a line that ends in an open brace begins, down to the line that closes it at the same depth."""
    found = []
    index = start
    while index < end:
        row = rows[index].strip()
        if not row.endswith("{") or row.startswith("//"):
            index += 1
            continue
        last = _closing(rows, index, end)
        symbol, operation = _SYMBOL.search(row), _OPERATION.match(row)
        name = symbol[1] if symbol else operation[1] if operation else "region"
        kind = "function" if symbol else "region"
        found.append(Part(name, kind, index, last, _braces(rows, index + 1, last)))
        index = last + 1
    return tuple(found)


def _closing(rows: tuple[str, ...], first: int, end: int) -> int:
    depth = 0
    for index in range(first, end):
        row = rows[index].strip()
        if row.startswith("//"):
            continue
        if index > first and row.startswith("}"):
            depth -= 1
            if depth == 0:
                return index
        if row.endswith("{"):
            depth += 1
    return end - 1
