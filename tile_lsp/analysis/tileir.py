"""Tile IR text: `tileirdisasm -g` output with its locations taken off, or the copy that a cubin carries.

The two texts agree line by line, which joins SASS → Tile IR line (the cubin's table) to the exact source columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from . import linetable
from .cubin import Cubin

TEXT_SECTION = ".nv.tileir.debug_txt"
_DEEPEST = 64
_LONGEST_LOCATION = 10_000

_ALIAS = re.compile(r"(#[\w.$-]+) = (.+)")
_ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|(.))")
_TOKEN = re.compile(r'\s*(?:(?P<alias>#[\w.$-]+)(?![\w.<])|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<word>#?[\w.]+)|(?P<sign>.))')


def read(text: str) -> Artifact:
    """`tileirdisasm -g` output to clean text with each line's chain; none where a location is not understood."""
    aliases: dict[str, str] = {}
    lines: list[str] = []
    locations: list[str | None] = []
    for line in text.split("\n"):
        if line.startswith("#"):
            if match := _ALIAS.fullmatch(line):
                aliases[match[1]] = match[2]
            continue
        # A location is the last thing of a line, and has no other in its own form; one in a string is followed by `"`.
        start = line.rfind(" loc(") if line.endswith(")") else -1
        lines.append(line[:start] if start >= 0 else line)
        locations.append(line[start + 5 : -1] if start >= 0 else None)
    while lines and not lines[-1].strip():
        lines.pop()
        locations.pop()
    reader = Locations(aliases)
    chains = [reader.chain(location) if location else () for location in locations]
    spread_over_regions(lines, chains)
    return Artifact(
        stage=Stage.TILEIR,
        text="\n".join(lines) + "\n",
        lines=tuple((chain,) if chain else () for chain in chains),
    )


def from_cubin(cubin: Cubin) -> Artifact | None:
    """The cubin's own copy of the text; chains (without columns) by way of the SASS made from each line.

    None where the assembler left no copy (before 13.4). Raises `ValueError` for a damaged cubin.
    """
    text = text_of(cubin)
    if text is None:
        return None
    count = text.count("\n") + 1
    votes: dict[int, Counter[Chain]] = {}
    source = linetable.read(cubin, linetable.SOURCE)
    for section, table in linetable.read(cubin, linetable.TILEIR).items():
        other = source.get(section, linetable.EMPTY)
        for start, frames in zip(table.starts, table.frames, strict=True):
            chain = chain_of(other.at(start))
            if frames and chain and 0 < frames[0].line <= count:
                votes.setdefault(frames[0].line, Counter())[chain] += 1
    lines = tuple(tuple(c for c, _ in votes[n].most_common(1)) if n in votes else () for n in range(1, count + 1))
    return Artifact(stage=Stage.TILEIR, text=text + "\n", lines=lines)


def text_of(cubin: Cubin) -> str | None:
    """The Tile IR text that the cubin carries, without a newline at its end."""
    sections = cubin.named(TEXT_SECTION)
    return sections[0].data.rstrip(b"\0\n").decode("utf-8", "replace") if sections else None


def chain_of(frames: tuple[linetable.Frame, ...]) -> Chain:
    """Frames of a line table as places; frames in generated text are left out."""
    return tuple(
        Place(frame.file, frame.line, frame.column - 1 if frame.column else -1)
        for frame in frames
        if frame.file and frame.line and TEXT_SECTION not in frame.file
    )


def spread_over_regions(lines: list[str], chains: list[Chain]) -> None:
    """An operation with regions has its location after its last brace: its first line and those between get it too."""
    opened: list[int] = []
    open_rows: list[list[int]] = []
    for index, line in enumerate(lines):
        closes = line.lstrip().startswith("}")
        opens = line.endswith("{")
        if closes and not opens and opened:
            opened.pop()
            for row in open_rows.pop():
                chains[row] = chains[row] or chains[index]
        elif opens and not closes:
            # `reduce` and `scan` put their region's arguments on a line of its own, after the operation's.
            rows = [index]
            if line.lstrip().startswith("(") and index and not chains[index - 1]:
                rows.append(index - 1)
            opened.append(index)
            open_rows.append(rows)
        elif opens and opened:
            open_rows[-1].append(index)


class Locations:
    """MLIR location attributes, with their aliases, to chains."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases
        self._known: dict[str, Chain] = {}

    def chain(self, text: str) -> Chain:
        return self._parse(text, 0)

    def _parse(self, text: str, depth: int) -> Chain:
        if depth > _DEEPEST or len(text) > _LONGEST_LOCATION:
            return ()
        tokens = [m for m in _TOKEN.finditer(text) if m.lastgroup]
        try:
            chain, _ = self._location(tokens, 0, depth)
        except IndexError:
            return ()
        return chain[:_DEEPEST]

    def _alias(self, name: str, depth: int) -> Chain:
        if name not in self._known:
            self._known[name] = ()  # an alias that names itself comes to nothing
            self._known[name] = self._parse(self._aliases.get(name, ""), depth + 1)
        return self._known[name]

    def _location(self, tokens: list[re.Match[str]], at: int, depth: int) -> tuple[Chain, int]:
        """One location that starts at token `at`, and the index after it."""
        if depth > _DEEPEST:
            return (), len(tokens)
        token = tokens[at]
        if token["alias"]:
            return self._alias(token["alias"], depth), at + 1
        if token["text"] is not None:
            return self._named(tokens, at, depth)
        word = token["word"]
        if word == "loc":
            chain, at = self._location(tokens, at + 2, depth + 1)
            return chain, at + 1
        if word == "callsite":
            callee, at = self._location(tokens, at + 2, depth + 1)
            caller, at = self._location(tokens, at + 1, depth + 1)
            return callee + caller, at + 1
        if word and word.endswith("di_loc"):
            chain, at = self._location(tokens, at + 2, depth + 1)
            while tokens[at]["sign"] != ">":
                at += 1
            return chain, at + 1
        if word == "fused":
            at += 1
            while tokens[at]["sign"] != "[":
                at += 1
            chain, at = self._location(tokens, at + 1, depth + 1)
            while tokens[at]["sign"] != "]":
                _, at = self._location(tokens, at + 1, depth + 1)
            return chain, at + 1
        return (), at + 1

    def _named(self, tokens: list[re.Match[str]], at: int, depth: int) -> tuple[Chain, int]:
        """`"file":line:column` or `"name"(location)`."""
        name = tokens[at]["text"]
        signs = [t["sign"] or t["word"] for t in tokens[at + 1 : at + 5]]
        if signs[:1] == ["("]:
            chain, at = self._location(tokens, at + 2, depth + 1)
            return chain, at + 1
        if len(signs) < 4 or signs[0] != ":" or signs[2] != ":" or not (signs[1].isdecimal() and signs[3].isdecimal()):
            return (), at + 1
        return (Place(_unescaped(name), int(signs[1]), int(signs[3])),), at + 5


def _unescaped(text: str) -> str:
    """MLIR writes a backslash doubled, and each byte that is no printable ASCII as two hexadecimal digits."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else m[2], text.encode())
    return raw.decode("utf-8", "replace")
