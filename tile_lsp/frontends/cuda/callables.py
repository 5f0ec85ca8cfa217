"""Which of a template's parameters stand for functions: lambdas and functors, which no type that is guessed fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tile_lsp.analysis.cuda import KernelSite, TemplateParameter, Workspace
from tile_lsp.analysis.cuda.facts import function_name
from tile_lsp.analysis.cuda.facts import parameters as commas
from tile_lsp.analysis.cuda.lexer import WORD, Token
from tile_lsp.analysis.cuda.split import bracket, header
from tile_lsp.analysis.cuda.workspace import Unit

_WORD = re.compile(r"[^\W\d]\w*")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_HANDED = frozenset({"move", "forward"})
"""Functions that give what they are given."""


class Passed(NamedTuple):
    """Where a value is handed on, as it is."""

    function: str
    index: int
    """Of the argument."""


def is_called(kernel: KernelSite, parameter: TemplateParameter, workspace: Workspace) -> bool:
    """True for a parameter that stands for functions: `F f` and then `f(x)`, `F{}(x)`, or `apply(f)` where `apply`
    calls what it is given.
    """
    if parameter.kind != "typename":
        return False
    words = [token.text for token in kernel.piece.tokens]
    made = (["{", "}", "("], ["(", ")", "("])
    if any(word == parameter.name and words[at + 1 : at + 4] in made for at, word in enumerate(words)):
        return True
    unit = workspace.unit(kernel.path)
    return any(_is_called(words, name, unit, set()) for name in _values(kernel, parameter))


def is_passed(kernel: KernelSite, parameter: TemplateParameter) -> bool:
    """True if a value of that type is handed on as it is: to a library, it may be, that calls it."""
    words = [token.text for token in kernel.piece.tokens]
    return any(True for name in _values(kernel, parameter) for _ in _passed(words, name))


def _values(kernel: KernelSite, parameter: TemplateParameter) -> Iterator[str]:
    """The kernel's parameters of exactly that type."""
    for one in kernel.arguments:
        if set(_WORD.findall(one.type)) - {"const"} == {parameter.name} and "*" not in one.type:
            yield one.name


def _is_called(words: Sequence[str], name: str, unit: Unit, seen: set[Passed]) -> bool:
    for at, word in enumerate(words[:-1]):
        if word == name and words[at + 1] == "(" and words[at - 1] not in (".", "->", "::"):
            return True
    for passed in _passed(words, name):
        if passed not in seen:
            seen.add(passed)
            for tokens in _definitions(passed.function, unit):
                inner = _parameter(tokens, passed)
                if inner is not None and _is_called([token.text for token in tokens], inner, unit, seen):
                    return True
    return False


def _passed(words: Sequence[str], name: str) -> Iterator[Passed]:
    for at, word in enumerate(words[:-1]):
        start = end = at
        while word == name and words[start - 1] in ("(", ",") and words[end + 1] in (")", ","):
            depth = index = 0
            for opening in range(start - 1, -1, -1):
                depth += (words[opening] in _CLOSING) - (words[opening] in _OPENING)
                if depth < 0:
                    break
                index += depth == 0 and words[opening] == ","
            callee = _before_angle(words, opening)
            if words[opening] != "(" or callee < 0 or not _WORD.fullmatch(words[callee]):
                break
            if words[callee] not in _HANDED or words[end + 1] != ")":
                yield Passed(words[callee], index)
                break
            # `std::forward<F>(f)` is `f`: what is that given to?
            end += 1
            start = callee - 2 if words[callee - 2 : callee] == ["std", "::"] else callee


def _before_angle(words: Sequence[str], opening: int) -> int:
    """Where the name of what is called stands, before `<…>` if there is that; -1 if nowhere."""
    at = opening - 1
    if at >= 0 and words[at] in (">", ">>"):
        depth = 0
        while at >= 0:
            depth += len(words[at]) if words[at] in (">", ">>") else -(words[at] == "<")
            at -= 1
            if depth <= 0:
                break
    return at


def _definitions(name: str, unit: Unit) -> Iterator[Sequence[Token]]:
    for number in unit.declared.get(name, ()):
        tokens = unit.entries[number].piece.tokens
        if tokens[-1].text == "}" and function_name(header(tokens)) == name:
            yield tokens


def _parameter(tokens: Sequence[Token], passed: Passed) -> str | None:
    """What a function calls the argument."""
    head = {id(token) for token in header(tokens)}
    at = next((i for i, token in enumerate(tokens) if id(token) in head and token.text == passed.function), None)
    if at is None or tokens[at + 1].text != "(":
        return None
    given = commas(tokens[at + 2 : bracket(tokens, at + 1)])
    part = given[passed.index] if passed.index < len(given) else ()
    words = [token.text for token in part if token.kind == WORD]
    return words[-1] if len(words) > 1 else None
