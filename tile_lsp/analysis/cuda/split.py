"""A file's tokens to its pieces: directives, the braces of namespaces, and one piece for each top-level declaration.

By brackets and a few words alone, never by a grammar: what stands between macros that no grammar knows is still split
where a reader would, and a broken function does not swallow those after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .lexer import DIRECTIVE, PUNCT, STRING, WORD, Token, tokens

DECLARATION, OPEN, CLOSE, BROKEN = "declaration", "open", "close", "broken"
IF, ELSE, ENDIF, DEFINE, INCLUDE, OTHER = "if", "else", "endif", "define", "include", "other"

_DIRECTIVES = {
    "if": IF,
    "ifdef": IF,
    "ifndef": IF,
    "elif": ELSE,
    "elifdef": ELSE,
    "elifndef": ELSE,
    "else": ELSE,
    "endif": ENDIF,
    "define": DEFINE,
    "undef": DEFINE,
    "include": INCLUDE,
}
_CLASSES = frozenset({"class", "struct", "union", "enum"})
#: Words with brackets after them that say something about a declaration and are no name of a function.
ATTRIBUTES = frozenset(
    {
        "__align__",
        "__attribute__",
        "__block_size__",
        "__cluster_dims__",
        "__declspec",
        "__launch_bounds__",
        "__maxnreg__",
        "alignas",
        "decltype",
        "explicit",
        "noexcept",
        "requires",
    }
)
#: At the start of a line inside of a function, these begin something else: the function has lost a brace.
_BEGINNINGS = frozenset({"__global__", "namespace", "template"})


class Body:
    """A run of tokens, and what was found out about it: kept while the text around it changes."""

    __slots__ = ("facts", "kind", "tokens")

    def __init__(self, kind: str, tokens: tuple[Token, ...]) -> None:
        self.kind = kind
        self.tokens = tokens
        """Their places count from the piece's start."""
        self.facts: dict[object, Any] = {}


class Piece(NamedTuple):
    body: Body
    start: int
    """In characters of the file."""
    around: tuple[str, ...]
    """The namespaces (`"namespace ops"`) and other braces (`'extern "C"'`) that are open around it, outermost first."""

    @property
    def kind(self) -> str:
        return self.body.kind

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.body.tokens

    @property
    def end(self) -> int:
        return self.start + self.body.tokens[-1].end


def kind_of(directive: str) -> str:
    word = directive[1:].split(" ", 1)[0].partition("(")[0].strip()
    return _DIRECTIVES.get(word, OTHER)


def split(text: str, start: int = 0, end: int | None = None, around: tuple[str, ...] = ()) -> list[Piece]:
    """The pieces of a text, or of the part of it from `start`, where `around` is open, to `end`."""
    return _Splitter(tokens(text, start, end), text, around).all()


def inside(members: Sequence[Token], text: str = "") -> list[tuple[int, int]]:
    """The declarations in the body of a class: first token and the one after the last, as indices into `members`."""
    splitter = _Splitter(list(members), text, ())
    splitter.flat = True
    spans: list[tuple[int, int]] = []
    position = 0
    for piece in splitter.all():
        spans.append((position, position + len(piece.tokens)))
        position += len(piece.tokens)
    return spans


class _Splitter:
    def __init__(self, found: list[Token], text: str, around: tuple[str, ...]) -> None:
        self.tokens = found
        self.text = text
        self.around = list(around)
        self.flat = False
        """In the body of a class: there are no namespaces."""
        self.pieces: list[Piece] = []
        self.position = 0

    def all(self) -> list[Piece]:
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.kind == DIRECTIVE:
                self._take(kind_of(token.text), 1)
            elif token.text == "}":
                if self.around and not self.flat:
                    self.around.pop()
                    self._take(CLOSE, 1)
                else:
                    self._take(BROKEN, 1)
            elif not self.flat and (length := self._opening()):
                self._take(OPEN, length)
                self.around.append(name_of(self.pieces[-1].tokens[:-1]))
            else:
                self._declaration()
        return self.pieces

    def _take(self, kind: str, length: int) -> None:
        run = self.tokens[self.position : self.position + length]
        start = run[0].start
        moved = tuple(Token(t.kind, t.text, t.start - start, t.end - start) for t in run)
        self.pieces.append(Piece(Body(kind, moved), start, tuple(self.around)))
        self.position += length

    def _opening(self) -> int:
        """How many tokens `namespace ops {`, `extern "C" {` take; 0 for anything else."""
        position = self.position
        if self._word(position) == "inline":
            position += 1
        first = self._word(position)
        if first == "extern" and self._kind(position + 1) == STRING and self._word(position + 2) == "{":
            return position + 3 - self.position
        if first != "namespace":
            return 0
        for index in range(position + 1, min(position + 24, len(self.tokens))):
            word = self._word(index)
            if word == "{":
                return index + 1 - self.position
            if word in (";", "=", "(") or self._kind(index) == DIRECTIVE:
                return 0
        return 0

    def _word(self, index: int) -> str:
        return self.tokens[index].text if index < len(self.tokens) else ""

    def _kind(self, index: int) -> int:
        return self.tokens[index].kind if index < len(self.tokens) else -1

    # -- one declaration

    def _declaration(self) -> None:
        depth = parens = 0
        body: bool | None = None
        saved: list[tuple[int, int]] = []
        start = index = self.position
        while index < len(self.tokens):
            kind, word, at, _ = self.tokens[index]
            if kind == DIRECTIVE:
                self._condition(word, saved, depth, parens)
                depth, parens = self._resumed(word, saved, depth, parens)
            elif kind == PUNCT:
                if word in "([":
                    parens += 1
                elif word in ")]":
                    parens = max(parens - 1, 0)
                    if not depth and not parens and self._is_macro_call(start, index):
                        return self._take(DECLARATION, index + 1 - start)
                elif word == "{":
                    if not depth and not parens and body is None:
                        body = _is_function(self.tokens[start:index])
                    depth += 1
                elif word == "}":
                    if not depth:  # of what is around; something before it lost its end
                        return self._take(BROKEN, index - start)
                    depth -= 1
                    after = self._word(index + 1)
                    if not depth and not parens and body and after not in ("{", ",", "catch"):
                        return self._take(DECLARATION, index + 1 - start)
                elif word == ";" and not depth and not parens:
                    return self._take(DECLARATION, index + 1 - start)
            elif word in _BEGINNINGS and body and depth and (word == "__global__" or self._starts_line(at)):
                return self._take(BROKEN, self._back(start, index) - start)
            index += 1
        return self._take(BROKEN, len(self.tokens) - start)

    @staticmethod
    def _condition(line: str, saved: list[tuple[int, int]], depth: int, parens: int) -> None:
        if kind_of(line) == IF:
            saved.append((depth, parens))

    @staticmethod
    def _resumed(line: str, saved: list[tuple[int, int]], depth: int, parens: int) -> tuple[int, int]:
        """Each branch of a condition begins with the brackets that were open before the first one."""
        kind = kind_of(line)
        if kind == ELSE:
            return saved[-1] if saved else (0, 0)
        if kind == ENDIF and saved:
            saved.pop()
        return depth, parens

    def _is_macro_call(self, start: int, index: int) -> bool:
        """True for `DEFINE_KERNEL(float)` with nothing after it that could belong to it, at the end of its line."""
        if self._kind(start) != WORD or self._word(start + 1) != "(" or self._word(start) in ATTRIBUTES:
            return False
        following = index + 1
        if following >= len(self.tokens):
            return False
        gap = self.text[self.tokens[index].end : self.tokens[following].start]
        word = self._word(following)
        return "\n" in gap and (self._kind(following) in (WORD, DIRECTIVE) or word == "}") and word != "const"

    def _starts_line(self, at: int) -> bool:
        return at == 0 or self.text[at - 1 : at] == "\n"

    def _back(self, start: int, index: int) -> int:
        """The first token of the line that a token stands in, so that what is before it goes with it."""
        while index - 1 > start and "\n" not in self.text[self.tokens[index - 1].end : self.tokens[index].start]:
            index -= 1
        while index - 1 > start and self._word(index - 1) in (">", "static", "inline", "extern"):
            # `template <typename T>` on the line before
            back = index - 1
            while back > start and self._word(back) != "template":
                back -= 1
            if back == start:
                break
            index = back
        return index


def name_of(run: Sequence[Token]) -> str:
    return " ".join(token.text for token in run if token.text != "inline").replace(" :: ", "::")


def header(run: Sequence[Token]) -> list[Token]:
    """The tokens of a declaration up to its body or initialiser, outside all brackets but with `(`, template parameters
    and attributes left out.
    """
    found: list[Token] = []
    index, depth = 0, 0
    while index < len(run):
        token = run[index]
        word = token.text
        if token.kind == DIRECTIVE:
            pass
        elif not depth and word == "template" and index + 1 < len(run) and run[index + 1].text == "<":
            index = angle(run, index + 1)
        elif not depth and word in ATTRIBUTES and index + 1 < len(run) and run[index + 1].text == "(":
            index = bracket(run, index + 1)
        elif not depth and word == "[" and index + 1 < len(run) and run[index + 1].text == "[":
            index = bracket(run, index)
        elif word in ("(", "["):
            if not depth:
                found.append(token)
            depth += 1
        elif word in (")", "]"):
            depth -= 1
        elif not depth:
            found.append(token)
            if word == "{":
                break
        index += 1
    return found


def angle(run: Sequence[Token], index: int) -> int:
    """The index of the `>` that closes the `<` at `index`, or of the last token."""
    depth = parens = 0
    for position in range(index, len(run)):
        word = run[position].text
        if word in "([{":
            parens += 1
        elif word in ")]}":
            parens -= 1
        elif not parens and run[position].kind == PUNCT:
            if word == "<":
                depth += 1
            elif word in (">", ">>", ">>>"):
                depth -= len(word)
                if depth <= 0:
                    return position
        if word == ";" and parens <= 0:
            break
    return len(run) - 1


def bracket(run: Sequence[Token], index: int) -> int:
    """The index of what closes the bracket at `index`, or of the last token."""
    depth = 0
    for position in range(index, len(run)):
        word = run[position].text
        if run[position].kind == PUNCT:
            if word in "([{":
                depth += 1
            elif word in ")]}":
                depth -= 1
                if depth == 0:
                    return position
    return len(run) - 1


def _is_function(run: Sequence[Token]) -> bool:
    """True if the `{` after these tokens begins the body of a function."""
    outside = header(run)
    kept = [token.text for token in outside]
    for index, word in enumerate(kept):
        if word == "=" and (not index or kept[index - 1] != "operator"):
            return False
        if word in _CLASSES:
            return "(" in kept[index:]
    return "(" in kept
