"""Triton's layouts as TTGIR writes them: `#ttg.blocked<{sizePerThread = [1, 4], …}>`, and the types that name them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class Layout(msgspec.Struct, frozen=True):
    kind: str
    """`blocked`, `nvidia_mma`, `slice`, `linear`, `swizzled_shared` …"""
    fields: Mapping[str, Any]
    """Numbers, words, lists of them; `parent` is a `Layout`."""


class Typed(msgspec.Struct, frozen=True):
    """A type that says how its elements are laid out."""

    text: str
    """As written."""
    shape: tuple[int, ...]
    element: str
    layout: str
    """As written: an alias, or in full."""


_ALIAS = re.compile(r"(?P<alias>#\w+) = (?P<text>#[\w.]+<.*>)\s*", re.DOTALL)
_TYPE = re.compile(r"(?:tensor|!ttg\.memdesc)<(?P<dims>(?:\d+x)+)")
_OPERATION = re.compile(r" = \"?([a-z_]\w*\.[\w.]+)")
_POINTER = re.compile(r"!tt\.ptr<(\w+)(?:, \d+)?>")
_TOKEN = re.compile(r"\s*(#?[\w.]+|[<>{}\[\](),=:+]|-\d+)")


def aliases_of(text: str) -> dict[str, str]:
    """Alias → layout as written, of a module's text."""
    lines = (line for line in text.split("\n") if line.startswith("#"))
    return {match["alias"]: match["text"] for line in lines if (match := _ALIAS.fullmatch(line))}


def types_in(line: str) -> tuple[Typed, ...]:
    """Types with a layout in a line, in their order."""
    found = []
    for match in _TYPE.finditer(line):
        end = _closing(line, line.index("<", match.start()))
        parts = _split(line[match.end() : end])
        if len(parts) > 1 and parts[1].startswith("#"):
            shape = tuple(int(length) for length in match["dims"].split("x")[:-1])
            found.append(Typed(line[match.start() : end + 1], shape, parts[0], parts[1]))
    return tuple(found)


def result_in(line: str) -> Typed | None:
    """The type of a line's (last) result. Some operations write types of their operands alone."""
    types = types_in(line.rpartition(" -> ")[2])
    if not types:
        return None
    if " -> " in line or (match := _OPERATION.search(line)) is None:
        return types[-1]
    operation = match[1]
    if operation.startswith("arith.cmp"):
        return _of_elements("i1", types[-1])
    if operation == "tt.addptr":
        return types[0]
    if operation == "tt.load" and (pointer := _POINTER.fullmatch(types[0].element)) is not None:
        return _of_elements(pointer[1], types[0])
    return types[-1]


def _of_elements(element: str, like: Typed) -> Typed:
    dims = "".join(f"{length}x" for length in like.shape)
    return Typed(f"tensor<{dims}{element}, {like.layout}>", like.shape, element, like.layout)


def parse(text: str, aliases: Mapping[str, str]) -> Layout:
    """A layout from its text. Raises `ValueError`."""
    return _Parser(text, aliases).layout()


class _Parser:
    def __init__(self, text: str, aliases: Mapping[str, str], depth: int = 0) -> None:
        self.aliases = aliases
        self.depth = depth
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def layout(self) -> Layout:
        name = self.take()
        if self.peek() != "<":
            if name not in self.aliases or self.depth > 8:
                raise ValueError(f"no layout is called {name}")
            return _Parser(self.aliases[name], self.aliases, self.depth + 1).layout()
        self.take("<")
        fields = self.body()
        self.take(">")
        return Layout(name.rpartition(".")[2].removeprefix("#"), fields)

    def body(self) -> dict[str, Any]:
        """`{name = value, …}`, or the same without braces; what has no name is a number of its own."""
        fields: dict[str, Any] = {}
        while (token := self.peek()) not in (">", ""):
            if token in "{},":
                self.take()
            elif self.peek(1) == "=":
                name = self.take()
                self.take("=")
                fields[name] = self.value()
            else:
                fields[f"_{len(fields)}"] = self.value()
        return fields

    def value(self) -> Any:
        token = self.peek()
        if token == "[":
            self.take()
            items = []
            while self.peek() not in ("]", ""):
                items.append(self.value())
                if self.peek() == ",":
                    self.take()
            self.take("]")
            return items
        if token == "{":
            self.take()
            inner: dict[str, Any] = {}
            while self.peek() not in ("}", ""):
                name = self.take()
                self.take("=")
                inner[name] = self.value()
                if self.peek() == ",":
                    self.take()
            self.take("}")
            return inner
        if token.startswith("#"):
            return self.layout()
        word = self.take()
        if self.peek() == ":":
            # `512:+8` of padded layouts: an interval and what is put after it.
            self.take()
            self.take("+")
            return (int(word), int(self.take()))
        if word.lstrip("-").isdecimal():
            return int(word)
        return {"true": True, "false": False}.get(word, word)

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted is not None and token != wanted):
            raise ValueError(f"{wanted or 'more'} is wanted in place of {token or 'the end'}")
        self.at += 1
        return token


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "<") - (text[index] == ">" and text[index - 1] != "-")
        if depth == 0:
            return index
    return len(text) - 1


def _split(text: str) -> Sequence[str]:
    """The parts between commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character in "<[{(") - (character in ">]})")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()]
