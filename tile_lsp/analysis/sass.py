"""The SASS listing: raw disassembly + the cubin's own symbols, relocations, branch targets, encodings and line tables.

        .global softmax
        .type softmax,@function
softmax:
    /*0000*/       LDC R1, c[0x0][0x28] ;                               /* B------:R-:W1:-:S02 */
    /*00a0*/   @P1 BRA `(.L_x_1) ;                                      /* B------:R-:W-:Y:S05 */

Instructions read as `nvdisasm -c` writes them, nearer to the margin. The comment behind one is what the scheduler is
told: `B` barriers waited for (0 to 5), `R` barrier set when operands have been read, `W` when results are written, `Y`
if the warp may yield, `S` cycles to the next issue. `parse_line` and `outline` read the listing back: features need
nothing but its text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tile_lsp.model.location import Chain
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from . import disassembly
from .cubin import Cubin, Function, Relocation
from .disassembly import BYTES, Texts
from .sources import Sources

#: Types of relocation whose operand says more than the symbol's name.
_RELOCATIONS = {
    0x38: "32@lo({})",
    0x39: "32@hi({})",
    0x70: "32@lo(fun@unified({}))",
    0x71: "32@hi(fun@unified({}))",
}
_CONSTANT_BANK = 0x42
_CONSTANT = re.compile(r"c\[0x[0-9a-f]+\]\[(\w+)\]")
_LAST_NUMBER = re.compile(r"-?0x[0-9a-f]+(?=[^0-9a-fx]*$)")
_INSTRUCTION = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+"
    r"(?:@(?P<predicate>!?\w+)\s+)?(?P<opcode>[A-Z]\w*)(?P<modifiers>(?:\.\w+)*)\s*(?P<operands>.*?)\s*"
    r"(?:\(\*(?P<note>.*?)\*\))?\s*;\s*/\* (?P<control>\S+) \*/"
)
_WIDTH = 52
"""Columns of nearly every instruction: what the scheduler is told stands in one column behind them."""
_CONTROL = re.compile(r"B([\d-]{6}):R([\d-]):W([\d-]):([Y-]):S(\d\d)")
_LABEL = re.compile(r"([^\s:]+):")
_LABEL_USE = re.compile(r"`\((\.L_x_\d+)\)|(\.L_x_\d+)(?=[,\"])")


class Control(NamedTuple):
    """What an instruction tells the scheduler."""

    stall: int
    """Cycles until the warp may issue its next instruction, 0 to 15."""
    may_yield: bool
    write_barrier: int | None
    """Counts down when results are there."""
    read_barrier: int | None
    """Counts down when operands may be overwritten."""
    waits: tuple[int, ...]
    """Barriers that must be zero before this instruction issues."""
    reuse: int = 0
    """Bit n: operand slot n is kept in the operand cache (shown as `.reuse` in the operands)."""

    def text(self) -> str:
        waits = "".join(str(n) if n in self.waits else "-" for n in range(6))
        read = "-" if self.read_barrier is None else self.read_barrier
        write = "-" if self.write_barrier is None else self.write_barrier
        return f"B{waits}:R{read}:W{write}:{'Y' if self.may_yield else '-'}:S{self.stall:02}"


def control(encoding: bytes) -> Control:
    """Of the 16 bytes of an instruction (sm_70 and later): 21 bits from bit 105 on."""
    bits = int.from_bytes(encoding, "little") >> 105
    write, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 0x3F
    return Control(
        stall=bits & 0xF,
        may_yield=not bits >> 4 & 1,
        write_barrier=None if write == 7 else write,
        read_barrier=None if read == 7 else read,
        waits=tuple(n for n in range(6) if waits >> n & 1),
        reuse=bits >> 17 & 0xF,
    )


def read(
    cubin: Cubin, texts: Sequence[Texts], typed: Artifact | None = None, sources: Sources | None = None
) -> Artifact:
    """The listing with each instruction's chain. `texts`: raw disassembly of `cubin.functions`, in order.

    `typed`: Tile IR read by `tileir.read`, for columns. `sources`: what
    knows better than the cubin's tables. Raises `ValueError` for a damaged cubin or another's texts.
    """
    if [len(t) * BYTES for t in texts] != [len(f.code) for f in cubin.functions]:
        raise ValueError("the disassembly is not of this cubin")
    sources = sources or Sources(cubin, typed)
    labels = _Labels(cubin.functions, texts)
    lines = [f"        .target {cubin.arch}"]
    chains: list[Chain] = [()]

    def add(line: str, chain: Chain = ()) -> None:
        lines.append(line)
        chains.append(chain)

    for function, instructions in zip(cubin.functions, texts, strict=True):
        starts = _symbols_by_address(function)
        relocated = {r.offset: r for r in function.relocations}
        spills, branches = function.spills, function.branch_targets
        add("")
        add(f"//--------------------- .text.{function.name} --------------------------")
        for index, text in enumerate(instructions):
            address = index * BYTES
            for name, is_global in starts.get(address, ()):
                if is_global:
                    add(f"        .global {name}")
                add(f"        .type {name},@function")
                add(f"{name}:")
            if label := labels.printed.get((function.section, address)):
                add(f"{label}:")
            body = labels.resolve(function, text, relocated.get(address))
            note = ""
            if address in branches:
                names = (labels.name(function, to) for to in dict.fromkeys(branches[address]))
                note = f' (*"BRANCH_TARGETS {",".join(names)}"*)'
            elif address in spills:
                note = ' (*"SpillRefill"*)'
            predicate, _, rest = body.partition(" ") if body.startswith("@") else ("", "", body)
            encoding = function.code[address : address + BYTES]
            add(
                f"    /*{address:04x}*/ {predicate:>5} {f'{rest}{note} ;':<{_WIDTH}} /* {control(encoding).text()} */",
                sources.chain(function.section, address),
            )
        if label := labels.printed.get((function.section, len(function.code))):
            add(f"{label}:")
    return Artifact(
        stage=Stage.SASS,
        text="\n".join(lines) + "\n",
        lines=tuple((chain,) if chain else () for chain in chains),
    )


def _symbols_by_address(function: Function) -> dict[int, list[tuple[str, bool]]]:
    found: dict[int, list[tuple[str, bool]]] = {}
    for symbol in function.symbols:
        found.setdefault(symbol.value, []).append((symbol.name, symbol.is_global))
    if not any(name == function.name for name, _ in found.get(0, ())):
        found.setdefault(0, []).insert(0, (f".text.{function.name}", False))
    return found


class _Labels:
    """Names for code addresses: a function's symbol where one starts there, else `.L_x_N`.

    Numbered in nvdisasm's order (return addresses in relocations, then branches, then indirect branches with their
    targets), so that the two listings can be laid side by side.
    """

    def __init__(self, functions: Sequence[Function], texts: Sequence[Texts]) -> None:
        self.printed: dict[tuple[int, int], str] = {}
        self._known: dict[tuple[int, int], str] = {}
        self._count = 0
        self._limits = {f.section: len(f.code) for f in functions}
        for function in functions:
            for symbol in function.symbols:
                self._known.setdefault((function.section, symbol.value), symbol.name)
        for function in functions:
            for relocation in function.relocations:
                if _is_return_address(relocation):
                    self._make(relocation.symbol.section, relocation.symbol.value + relocation.addend)
        for function, instructions in zip(functions, texts, strict=True):
            for text in instructions:
                if place := disassembly.target(text):
                    self._make(function.section, place[2])
        for function in functions:
            for address, targets in function.branch_targets.items():
                # nvdisasm spends a number on the branch itself, to which nothing refers, and on each target anew.
                self._count += (function.section, address) not in self._known
                for to in targets:
                    before = self._count
                    self._make(function.section, to)
                    self._count = before + 1

    def _make(self, section: int, address: int) -> None:
        key = (section, address)
        if key not in self._known and 0 <= address <= self._limits.get(section, -1) and address % BYTES == 0:
            self._known[key] = self.printed[key] = f".L_x_{self._count}"
            self._count += 1

    def name(self, function: Function, address: int) -> str:
        return self._known.get((function.section, address), f"{address:#x}")

    def resolve(self, function: Function, text: str, relocation: Relocation | None) -> str:
        """An instruction's text with the symbols that it names."""
        if relocation is not None:
            return self._relocate(text, relocation)
        place = disassembly.target(text)
        if place is None:
            return text
        start, end, address = place
        name = self._known.get((function.section, address))
        return f"{text[:start]}`({name}){text[end:]}" if name else text

    def _relocate(self, text: str, relocation: Relocation) -> str:
        symbol, addend = relocation.symbol, relocation.addend
        label = self.printed.get((symbol.section, symbol.value + addend))
        if _is_return_address(relocation) and label:
            name = f"({symbol.name} + {label}@srel)"
        elif addend:
            name = f"({symbol.name} + {'-' if addend < 0 else ''}{abs(addend):#x})"
        else:
            name = symbol.name
        written = _RELOCATIONS.get(relocation.type, "`({})").format(name)
        if relocation.type == _CONSTANT_BANK:
            return _CONSTANT.sub(lambda match: f"c[{match[1]}+{written}]", text)
        match = list(_LAST_NUMBER.finditer(text))
        # An indirect call has no number in its text that its offset could replace.
        return f"{text[: match[-1].start()]}{written}{text[match[-1].end() :]}" if match else f"{text} {written}"


def _is_return_address(relocation: Relocation) -> bool:
    return relocation.type in (0x38, 0x39) and relocation.symbol.function and relocation.addend > 0


class LineKind(enum.StrEnum):
    INSTRUCTION = "instruction"
    LABEL = "label"
    DIRECTIVE = "directive"
    COMMENT = "comment"
    BLANK = "blank"


class Instruction(msgspec.Struct, frozen=True):
    address: int
    """In its section, in bytes."""
    predicate: str
    """`"P0"`, `"!UP1"`; empty if it always runs."""
    opcode: str
    """`"LDG"`."""
    modifiers: tuple[str, ...]
    """`("E", "128")`."""
    operands: tuple[str, ...]
    control: Control
    """Without the reuse bits, which are in the operands."""
    note: str
    """The compiler's annotation: `SpillRefill`, `BRANCH_TARGETS …`."""
    labels: tuple[str, ...]
    """The labels that it may continue at."""


class Line(msgspec.Struct, frozen=True):
    kind: LineKind
    label: str = ""
    """Of a label line, without the colon."""
    instruction: Instruction | None = None


class Block(msgspec.Struct, frozen=True):
    """Instructions that run one after the other. Lines count from 0; `last` is inclusive."""

    label: str
    """Empty if it is only fallen into."""
    first: int
    last: int


class FunctionRange(msgspec.Struct, frozen=True):
    name: str
    first: int
    """Line of the label, from 0."""
    last: int
    """Inclusive."""
    blocks: tuple[Block, ...]


def parse_line(text: str) -> Line:
    """What one line of a listing is."""
    if not text.strip():
        return Line(LineKind.BLANK)
    if match := _INSTRUCTION.match(text):
        told = _CONTROL.fullmatch(match["control"])
        if told is not None:
            return Line(LineKind.INSTRUCTION, instruction=_instruction(match, told))
    if match := _LABEL.fullmatch(text):
        return Line(LineKind.LABEL, label=match[1])
    return Line(LineKind.COMMENT if text.lstrip().startswith("//") else LineKind.DIRECTIVE)


def _instruction(match: re.Match[str], told: re.Match[str]) -> Instruction:
    waits, read, write, may_yield, stall = told.groups()
    return Instruction(
        address=int(match["address"], 16),
        predicate=match["predicate"] or "",
        opcode=match["opcode"],
        modifiers=tuple(match["modifiers"].split(".")[1:]),
        operands=tuple(_operands(match["operands"])),
        control=Control(
            stall=int(stall),
            may_yield=may_yield == "Y",
            write_barrier=None if write == "-" else int(write),
            read_barrier=None if read == "-" else int(read),
            waits=tuple(int(n) for n in waits if n != "-"),
        ),
        note=(match["note"] or "").strip('"'),
        labels=tuple(a or b for a, b in _LABEL_USE.findall(match[0])),
    )


def _operands(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, last] if (last := text[start:].strip()) else parts


#: After these a block ends: what follows is reached by its label only, or not in every case.
_ENDS = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "EXIT", "RET", "BREAK", "BSYNC", "KILL"})


def outline(text: str) -> tuple[FunctionRange, ...]:
    """Functions and their basic blocks, for folding, symbols and navigation."""
    functions: list[FunctionRange] = []
    name, start, last = "", -1, -1
    blocks: list[Block] = []
    label, first = "", -1

    def end_block() -> None:
        nonlocal label, first
        if first >= 0:
            blocks.append(Block(label, first, last))
        label, first = "", -1

    def end_function() -> None:
        end_block()
        if start >= 0 and last >= start:
            functions.append(FunctionRange(name, start, last, tuple(blocks)))
        blocks.clear()

    for number, line in enumerate(text.split("\n")):
        parsed = parse_line(line)
        if parsed.kind is LineKind.LABEL:
            if parsed.label.startswith(".L_x_"):
                end_block()
                label = parsed.label
            else:
                end_function()
                name, start, last = parsed.label, number, number
                label = parsed.label
        elif parsed.instruction is not None:
            if first < 0:
                first = number
            last = number
            if parsed.instruction.opcode in _ENDS:
                end_block()
    end_function()
    return tuple(functions)
