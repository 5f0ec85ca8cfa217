"""How the values that a name became are laid out over threads: read from the TTGIR of the job, where it is at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from tile_lsp.analysis.layouts import Typed, aliases_of, result_in
from tile_lsp.ide.thread_map import NoMap, ThreadMap, facts, mapped
from tile_lsp.model.location import Place
from tile_lsp.model.outcome import Artifact

_RESULT = re.compile(r"\s*%(?P<name>[A-Za-z_]\w*?)(?:_\d+)?(?::\d+)? = ")
_TENSOR = re.compile(r"\w+<((?:\d+x)+)(bf16|(fp|u?int)(16|32|64|8|1)\b|)")
_MOST = 4


class Tensor(NamedTuple):
    shape: tuple[int, ...]
    element: str
    """As TTGIR writes it; empty where the two notations have no common word."""

    def is_held_by(self, typed: Typed) -> bool:
        """One of several buffers holds it too."""
        return typed.shape[-len(self.shape) :] == self.shape and self.element in ("", typed.element)


def layouts_of(artifact: Artifact, name: str, place: Place, type_: str) -> tuple[tuple[str, str, str], ...]:
    """(layout's name, what it is, in its own notation and in words) of each value of that name in the function of
    `place`, most used first; see `maps_of`.
    """
    aliases = aliases_of(artifact.text)
    found = []
    for typed in values_of(artifact, name, place, tensor_of(type_)):
        (made,) = mapped([typed], aliases)
        words = "; ".join(facts(made)) if isinstance(made, ThreadMap) else ""
        found.append((typed.layout, _meaning(typed.layout, aliases), words))
    return tuple(found)


def _meaning(layout: str, aliases: Mapping[str, str]) -> str:
    """What a layout's alias stands for, or the one that it is made of."""
    return next((aliases[word] for word in re.findall(r"#\w+", layout) if word in aliases), "")


def values_of(artifact: Artifact, name: str, place: Place, like: Tensor | None = None) -> tuple[Typed, ...]:
    """Types of the values of that name in the function of `place`, each layout once, most used first; only those that
    are `like` a tensor, where one is given. Of the values of one layout the last of the line of `place` counts, else
    the last of all: what comes before are steps to it.
    """
    counts: dict[str, int] = {}
    found: dict[str, tuple[bool, Typed]] = {}
    lines = artifact.text.split("\n")
    for index, line in enumerate(lines):
        match = _RESULT.match(line)
        if match is None or match["name"] != name:
            continue
        chains = artifact.lines[index] if index < len(artifact.lines) else ()
        starts = [chain[0] for chain in chains if chain and chain[0].member == place.member]
        typed = result_in(_typed_line(lines, index))
        if not starts or typed is None or (like is not None and not like.is_held_by(typed)):
            continue
        here = any(start.line == place.line for start in starts)
        if here or not found.get(typed.layout, (False,))[0]:
            found[typed.layout] = (here, typed)
        counts[typed.layout] = counts.get(typed.layout, 0) + 1
    return tuple(found[layout][1] for layout in sorted(counts, key=lambda layout: -counts[layout])[:_MOST])


def _typed_line(lines: list[str], index: int) -> str:
    """The line that holds an operation's type: where it has a region in brackets, the one that closes it."""
    line = lines[index]
    if not line.rstrip().endswith("({"):
        return line
    closing = line[: len(line) - len(line.lstrip())] + "})"
    return next((other for other in lines[index + 1 :] if other.startswith(closing)), line)


def maps_of(artifact: Artifact, name: str, place: Place, type_: str) -> list[ThreadMap | NoMap]:
    """The same, gone through. Where the kernel's own type of the name is a tensor's, only values of its shape and
    elements: passes give the name to masks, counters and buffers of theirs.
    """
    return mapped(values_of(artifact, name, place, tensor_of(type_)), aliases_of(artifact.text))


def tensor_of(type_: str) -> Tensor | None:
    """Of a type as Triton writes it (`"tensor<128x64xfp16>"`); None for what is no tensor."""
    match = _TENSOR.match(type_)
    if match is None:
        return None
    element = f"{'f' if match[3] == 'fp' else 'i'}{match[4]}" if match[4] else match[2]
    return Tensor(tuple(map(int, match[1][:-1].split("x"))), element)
