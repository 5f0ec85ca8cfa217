"""Control flow of a listing: its basic blocks, and where each may go on. Read from the text alone, so it is the text's.

SASS: a branch that is predicated, or that takes a predicate, may fall through; `BSYNC` goes on where the `BSSY` of its
barrier says that threads meet again. Calls return, so they end no block.

AMDGCN: lanes that do not take a branch are masked, so only what a whole wave does is control flow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from . import amdgcn, sass


class Edge(msgspec.Struct, frozen=True):
    to: int
    """Index of a block of the same function."""
    when: str = ""
    """What has to hold: `P0`, `!UP1`, `true`, `case 3`; empty if nothing, or if it is what is left."""
    back: bool = False
    """To a block that is on the way there already: the edge closes a loop."""


class Block(msgspec.Struct, frozen=True):
    name: str
    """Its label, `entry` of the first; empty for one that is only fallen into."""
    first: int
    """Its first row and its last, from 0, inclusive. The label's own is not in it."""
    last: int
    edges: tuple[Edge, ...] = ()


class Function(msgspec.Struct, frozen=True):
    name: str
    blocks: tuple[Block, ...]
    """The first is where it begins. Those that nothing leads to are left out."""


def of_sass(rows: Sequence[str]) -> tuple[Function, ...]:
    """Of a listing that `sass.read` made, whatever lines stand between its own."""
    return tuple(
        _function(function.name, [_Found(b.label, b.first, b.last) for b in function.blocks], _sass_edges(rows))
        for function in sass.outline("\n".join(rows))
        if function.blocks
    )


def of_llvm(rows: Sequence[str]) -> tuple[Function, ...]:
    """Of LLVM IR as LLVM prints it."""
    found = []
    index = 0
    while index < len(rows):
        match = _DEFINE.match(rows[index])
        if match is None:
            index += 1
            continue
        first = index
        while index < len(rows) - 1 and rows[index].rstrip() != "}":
            index += 1
        blocks = list(_llvm_blocks(rows, first + 1, index))
        if blocks:
            found.append(_function(match[1].strip('"'), blocks, lambda blocks, at: _llvm_edges(rows, blocks, at)))
    return tuple(found)


def of_amdgcn(rows: Sequence[str]) -> tuple[Function, ...]:
    """Of a listing that `amdgcn.read` made, whatever lines stand between its own."""
    return tuple(
        _function(function.name, [_Found(b.label, b.first, b.last) for b in function.blocks], _amdgcn_edges(rows))
        for function in amdgcn.outline(rows)
    )


# -- what all have in common ------------------------------------------------------------------------------------------


class _Found(msgspec.Struct):
    label: str
    first: int
    last: int


_Targets = Sequence[tuple[str | int, str]]
"""Label, or index of a block, and what has to hold."""
_EdgesOf = Callable[[list[_Found], int], _Targets]


def _function(name: str, found: list[_Found], edges_of: _EdgesOf) -> Function:
    by_label = {block.label: index for index, block in enumerate(found) if block.label}
    edges: list[list[Edge]] = []
    for index in range(len(found)):
        targets = edges_of(found, index)
        known = [(by_label.get(to) if isinstance(to, str) else to, when) for to, when in targets]
        # Two ways to one block are one.
        merged: dict[int, str] = {}
        for to, when in known:
            if to is not None and 0 <= to < len(found):
                merged[to] = ", ".join(filter(None, (merged.get(to, ""), when))) if to in merged else when
        edges.append([Edge(to, when) for to, when in merged.items()])
    kept, back = _reached(edges)
    numbers = {old: new for new, old in enumerate(kept)}
    blocks = []
    for old in kept:
        block = found[old]
        out = tuple(Edge(numbers[edge.to], edge.when, (old, edge.to) in back) for edge in edges[old])
        blocks.append(Block(block.label if old else "entry", block.first, block.last, out))
    return Function(name, tuple(blocks))


def _reached(edges: Sequence[Sequence[Edge]]) -> tuple[list[int], set[tuple[int, int]]]:
    """The blocks that the first leads to, in their order, and the edges that close a loop."""
    seen: set[int] = {0}
    open_: set[int] = {0}
    back: set[tuple[int, int]] = set()
    stack: list[tuple[int, Iterator[Edge]]] = [(0, iter(edges[0]))]
    while stack:
        at, rest = stack[-1]
        edge = next(rest, None)
        if edge is None:
            open_.discard(at)
            stack.pop()
        elif edge.to in open_:
            back.add((at, edge.to))
        elif edge.to not in seen:
            seen.add(edge.to)
            open_.add(edge.to)
            stack.append((edge.to, iter(edges[edge.to])))
    return sorted(seen), back


# -- SASS --------------------------------------------------------------------------------------------------------------

_JUMPS = frozenset({"BRA", "JMP"})
_INDIRECT = frozenset({"BRX", "BRXU", "JMX", "JMXU"})
_STOPS = frozenset({"EXIT", "RET", "KILL"})
_PREDICATE = re.compile(r"!?UP[0-6]|!?P[0-6]")


def _sass_edges(rows: Sequence[str]) -> _EdgesOf:
    def edges(found: list[_Found], at: int) -> _Targets:
        instruction = sass.parse_line(rows[found[at].last]).instruction
        if instruction is None:
            return [(at + 1, "")]
        opcode = instruction.opcode
        conditions = [instruction.predicate] if instruction.predicate else []
        conditions += [operand for operand in instruction.operands if _PREDICATE.fullmatch(operand)]
        when = " & ".join(conditions)
        rest = [(at + 1, "")] if conditions else []
        if opcode in _JUMPS:
            if "DIV" in instruction.modifiers:
                when, rest = "diverged", [(at + 1, "")]
            return [(label, when) for label in instruction.labels] + rest
        if opcode in _INDIRECT:
            return [(label, "") for label in instruction.labels] + rest
        if opcode in _STOPS:
            return rest
        if opcode == "BSYNC":
            meets = _meeting_point(rows, found[at].last, instruction.operands[:1])
            return [(meets, ""), *rest] if meets else [(at + 1, "")]
        return [(at + 1, "")]

    return edges


def _meeting_point(rows: Sequence[str], row: int, barrier: tuple[str, ...]) -> str | None:
    """The label that the nearest `BSSY` above, of the same barrier, names."""
    for above in range(row - 1, -1, -1):
        if "BSSY" in rows[above]:
            instruction = sass.parse_line(rows[above]).instruction
            if instruction is not None and instruction.operands[:1] == barrier and instruction.labels:
                return instruction.labels[-1]
    return None


# -- AMDGCN ------------------------------------------------------------------------------------------------------------

_CONDITIONS = {
    "scc0": "SCC = 0",
    "scc1": "SCC = 1",
    "vccz": "VCC = 0",
    "vccnz": "VCC ≠ 0",
    "execz": "EXEC = 0",
    "execnz": "EXEC ≠ 0",
}


def _amdgcn_edges(rows: Sequence[str]) -> _EdgesOf:
    def edges(found: list[_Found], at: int) -> _Targets:
        words = rows[found[at].last].split()
        name, label = words[0], words[1] if len(words) > 1 else ""
        if name.startswith("s_cbranch_"):
            condition = name.removeprefix("s_cbranch_")
            return [(label, _CONDITIONS.get(condition, condition)), (at + 1, "")]
        if name == "s_branch":
            return [(label, "")]
        return [] if name.startswith(("s_endpgm", "s_setpc")) else [(at + 1, "")]

    return edges


# -- LLVM IR -----------------------------------------------------------------------------------------------------------

_NAME = r"(\"(?:[^\"\\]|\\.)*\"|[\w.$-]+)"
_DEFINE = re.compile(rf"define\b[^@\n]*@{_NAME}\(")
_LABEL = re.compile(rf"{_NAME}:")
_TERMINATOR = re.compile(r"  (?:%\S+ = )?(?:\w+ )?(br|switch|indirectbr|invoke|callbr|ret|unreachable|resume)\b")
_TO = re.compile(rf"label %{_NAME}")
_CASE = re.compile(rf"(-?\w+), label %{_NAME}")


def _llvm_blocks(rows: Sequence[str], first: int, end: int) -> Iterator[_Found]:
    """`end` is the row of the closing brace."""
    current = _Found("", first, first - 1)
    for row in range(first, end):
        match = _LABEL.match(rows[row])
        if match is not None:
            if current.last >= current.first:
                yield current
            current = _Found(match[1], row + 1, row)
        elif rows[row].strip():
            current.last = row
    if current.last >= current.first:
        yield current


def _llvm_edges(rows: Sequence[str], found: list[_Found], at: int) -> _Targets:
    block = found[at]
    for row in range(block.last, block.first - 1, -1):
        match = _TERMINATOR.match(rows[row])
        if match is None:
            continue
        text = " ".join(rows[row : block.last + 1])
        targets = _TO.findall(text)
        if match[1] == "br" and len(targets) == 2:
            return [(targets[0], "true"), (targets[1], "false")]
        if match[1] == "switch":
            cases = [(label, f"case {value}") for value, label in _CASE.findall(text.partition("[")[2])]
            return [*cases, (targets[0], "default")]
        return [(label, "") for label in targets]
    return []
