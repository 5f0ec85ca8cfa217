"""What launches and explicit instantiations say of a kernel's template arguments, as far as it can be read statically.

scale<float, 128><<<grid, block>>>(d_x, n);        template __global__ void scale<float, 128>(float *, int);
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tile_lsp.analysis.cuda import KernelSite, Workspace
from tile_lsp.analysis.cuda.facts import INSTANTIATION, KERNEL, KEYWORDS, TYPE, parameters
from tile_lsp.analysis.cuda.kernels import template_parameters, text_of
from tile_lsp.analysis.cuda.lexer import NUMBER, WORD, Token, tokens
from tile_lsp.analysis.cuda.split import DECLARATION, DEFINE, angle, bracket, header
from tile_lsp.analysis.cuda.workspace import Entry
from tile_lsp.model.location import Span

_MOST = 8
"""Launches of one kernel that are told apart."""
_DEEPEST = 2
"""Templates inside of templates."""
_DEEPEST_ALIAS = 4
"""Constants and aliases that stand for others."""
#: A type that is declared nowhere is the name that a macro gives it, as `scalar_t` of those that go through types; but
#: for those of the language and the toolkit.
_FOREIGN = re.compile(
    r"(?!u?int(?:_least|_fast)?\d|u?int(?:ptr|max)|s?size_t|ptrdiff_t|max_align_t|nullptr_t|w?char|clock_t|time_t|cu|nv)"
    r"[a-z]\w*_t"
)
_WORD = re.compile(r"[^\W\d]\w*")


class Launch(msgspec.Struct, frozen=True):
    """Template arguments by name; those that can't be read are left out."""

    given: tuple[tuple[str, str], ...]
    kind: str
    """`launch` or `instantiation`."""
    where: str
    """For people: `matmul.cu:120`."""

    @property
    def arguments(self) -> Mapping[str, str]:
        return dict(self.given)


def read_launches(kernel: KernelSite, workspace: Workspace) -> tuple[Launch, ...]:
    """Explicit instantiations, then launches, each set of arguments once."""
    if not kernel.template:
        return ()
    reader = _Reader(kernel, workspace)
    found: dict[tuple[tuple[str, str], ...], Launch] = {}
    for launch in (*reader.instantiations(), *reader.launches(), *reader.launches_of_macros()):
        found.setdefault(launch.given, launch)
    if not found:
        found = {launch.given: launch for launch in reader.references()}
    lacking = {launch: _lacking(kernel, launch) for launch in found.values()}
    best = min(lacking.values(), default=0)
    return tuple(launch for launch in lacking if lacking[launch] == best)[:_MOST]


def _lacking(kernel: KernelSite, launch: Launch) -> int:
    """How many of the template's parameters a launch leaves open."""
    return sum(
        parameter.name not in launch.arguments and parameter.default is None and not parameter.pack
        for parameter in kernel.template
    )


class _Reader:
    def __init__(self, kernel: KernelSite, workspace: Workspace) -> None:
        self.kernel = kernel
        self.simple = kernel.name.rpartition("::")[2]
        self.entries = [e for e in workspace.unit(kernel.path).entries if e.piece.kind == DECLARATION]
        self.macros = [e for e in workspace.unit(kernel.path).entries if e.piece.kind == DEFINE]
        self.kinds = [e.facts.role for e in workspace.unit(kernel.path).entries]
        self.declared = workspace.unit(kernel.path).declared
        self.defined = workspace.unit(kernel.path).defined
        self.given = {name for name, _ in workspace.options.macros}

    def instantiations(self) -> Iterator[Launch]:
        for entry in self.entries:
            if entry.facts.role != INSTANTIATION or entry.facts.name != self.simple:
                continue
            run = entry.piece.tokens
            at = next((i for i, t in enumerate(run) if t.text == self.simple), len(run))
            if run[at + 1 : at + 2] and run[at + 1].text == "<":
                given = self._named(run, at + 1, {})
            else:
                # `template __global__ void scale(float *, int);`
                opening = at + 1
                types = [text_of(p) for p in parameters(run[opening + 1 : bracket(run, opening)])]
                given = self._deduced(types, {})
            if given:
                yield Launch(tuple(sorted(given.items())), "instantiation", _where(entry, run[at]))

    def launches(self) -> Iterator[Launch]:
        for entry in self.entries:
            body = entry.piece.body
            starts = body.facts.get("launches")
            if starts is None:
                starts = body.facts["launches"] = [i for i, t in enumerate(body.tokens) if t.text == "<<<"]
            for start in starts:
                yield from self._launch(entry, body.tokens, start)

    def launches_of_macros(self) -> Iterator[Launch]:
        """Launches that stand in a macro, where that is used."""
        for macro in self.macros:
            line = macro.piece.tokens[0].text
            if "<<<" not in line or self.simple not in line:
                continue
            for entry, index in self._uses(macro.facts.name):
                run, end = entry.piece.tokens, index
                body = _body(line, macro.facts.name)
                if body.parameters is not None:
                    if run[index + 1 : index + 2] == () or run[index + 1].text != "(":
                        continue
                    end = bracket(run, index + 1)
                    given = dict(zip(body.parameters, parameters(run[index + 2 : end]), strict=False))
                else:
                    given = {}
                place = run[index]
                written = [
                    Token(kind, text, place.start, place.end)
                    for token in body.tokens
                    for kind, text, _, _ in given.get(token.text, (token,))
                ]
                whole = (*run[:index], *written, *run[end + 1 :])
                for start, token in enumerate(written):
                    if token.text == "<<<":
                        yield from self._launch(entry, whole, index + start)

    def references(self) -> Iterator[Launch]:
        """`&scale<float, 128>`: what is launched by a pointer, or given to a function that launches it."""
        for entry, index in self._uses(self.simple):
            run = entry.piece.tokens
            if run[index + 1 : index + 2] == () or run[index + 1].text != "<":
                continue
            end = angle(run, index + 1)
            if run[end + 1 : end + 2] and run[end + 1].text not in (",", ")", ";", "}"):
                continue
            local, outer = _Function(run, index), frozenset(_parameters_of(run))
            for bound in self._instances(entry):
                given = self._named(run, index + 1, bound, local, outer - set(bound))
                if given:
                    yield Launch(tuple(sorted(given.items())), "launch", _where(entry, run[index]))

    def _uses(self, name: str) -> Iterator[tuple[Entry, int]]:
        """Where a word stands in what is no kernel."""
        for entry in self.entries:
            if entry.facts.role != KERNEL and name in entry.piece.body.facts.get("words", (name,)):
                for index, token in enumerate(entry.piece.tokens):
                    if token.text == name:
                        yield entry, index

    def _launch(self, entry: Entry, run: Sequence[Token], start: int) -> Iterator[Launch]:
        at, opening = start - 1, None
        if at > 0 and run[at].text in (">", ">>"):
            depth = 0
            for back in range(at, -1, -1):
                if run[back].text in (">", ">>"):
                    depth += len(run[back].text)
                elif run[back].text == "<":
                    depth -= 1
                    if depth <= 0:
                        at, opening = back - 1, back
                        break
        if at < 0 or run[at].text != self.simple:
            return
        local = _Function(run, at)
        outer = frozenset(_parameters_of(run))
        for bound in self._instances(entry):
            unknown = outer - set(bound)
            given = self._named(run, opening, bound, local, unknown) if opening is not None else {}
            if len(given) < len(self.kernel.template):
                end = next((i for i in range(start, len(run)) if run[i].text == ">>>"), None)
                if end is not None and run[end + 1 : end + 2] and run[end + 1].text == "(":
                    values = parameters(run[end + 2 : bracket(run, end + 1)])
                    types = [self._type_of(value, local) for value in values]
                    types = ["" if _mentions(t, unknown) else _replaced(t, bound) for t in types]
                    given = {**self._deduced(types, given), **given}
            if given:
                yield Launch(tuple(sorted(given.items())), "launch", _where(entry, run[at]))

    def _type_of(self, value: Sequence[Token], local: _Function) -> str:
        """Of an argument of a launch: as it is declared, or of `Op<int>{p}` and `ops::Op(p)` what is made there."""
        value = local.initialiser(value) or value
        end = 1
        while end < len(value) - 1 and value[end].text == "::":
            end += 2
        name = value[end - 1].text if value and value[0].kind == WORD else ""
        if any(self.kinds[number] == TYPE for number in self.declared.get(name, ())):
            end = angle(value, end) + 1 if value[end : end + 1] and value[end].text == "<" else end
            if value[end : end + 1] and value[end].text in ("{", "(") and bracket(value, end) == len(value) - 1:
                return text_of(value[:end])
        return local.type_of(value)

    def _named(
        self,
        run: Sequence[Token],
        opening: int,
        bound: Mapping[str, str],
        local: _Function | None = None,
        unknown: frozenset[str] = frozenset(),
    ) -> dict[str, str]:
        """The arguments between `<` and `>`, by the names of the parameters; those that name what is `unknown` are left
        out.
        """
        values = parameters(run[opening + 1 : angle(run, opening)])
        given: dict[str, str] = {}
        for parameter, value in zip(self.kernel.template, values, strict=False):
            text = self._constant(value, bound, local)
            if text is None or _mentions(text, unknown):
                continue
            if parameter.kind in ("typename", "template") or self._is_value(text):
                given[parameter.name] = text
        return given

    def _is_value(self, text: str) -> bool:
        """False for one word that nothing says the value of: a macro that goes through values gives it."""
        if _WORD.fullmatch(text) is None or text in KEYWORDS:
            return True
        return text in self.declared or text in self.defined or text in self.given

    def _constant(
        self, value: Sequence[Token], bound: Mapping[str, str], local: _Function | None, depth: int = 0
    ) -> str | None:
        """The argument in words that the kernel's own file knows."""
        replaced = dict(bound)
        for index, token in enumerate(value):
            word = token.text
            if token.kind != WORD or word in KEYWORDS or (index and value[index - 1].text == "::"):
                continue
            if word in replaced or word in self.declared or word in self.defined:
                continue
            meant = local.definition(word) if local is not None and depth < _DEEPEST_ALIAS else None
            known = self._constant(meant, bound, local, depth + 1) if meant is not None else None
            if known is not None:
                replaced[word] = f"({known})" if _is_sum(meant or ()) else known
            elif (local is not None and local.declares(word)) or _is_foreign(word):
                return None  # known at run time only, or to a macro that we can't read
        text = text_of(
            [Token(t.kind, replaced.get(t.text, t.text) if t.kind == WORD else t.text, t.start, t.end) for t in value]
        )
        return text or None

    def _deduced(self, types: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
        """What the types of the arguments say of the template's parameters."""
        found: dict[str, str] = {}
        names = [p.name for p in self.kernel.template if p.kind == "typename" and p.name not in given]
        for parameter, actual in zip(self.kernel.arguments, types, strict=False):
            for name in names:
                if name not in found and actual:
                    match = _match(parameter.type, name, actual)
                    if match:
                        found[name] = match
        return found

    def _instances(self, entry: Entry, depth: int = 0) -> list[dict[str, str]]:
        """What the template around a launch is instantiated for: a function's, or that of the class of a method."""
        run = entry.piece.tokens
        outer = _parameters_of(run)
        if not outer:
            return [{}]
        own = {entry.facts.name, *_owners(run)}
        found: list[dict[str, str]] = []
        for other in self.entries:
            words = other.piece.body.facts.get("words", own)
            names = [name for name in own if name in words] if other is not entry else []
            tokens_of = other.piece.tokens
            # Another method of the class names it with parameters, too.
            names = [name for name in names if name not in _owners(tokens_of)]
            for index, token in enumerate(tokens_of[:-1]) if names else ():
                if token.text in names and tokens_of[index + 1].text == "<":
                    values = parameters(tokens_of[index + 2 : angle(tokens_of, index + 1)])
                    around = _Function(tokens_of, index)
                    inner = {name: name for name in _parameters_of(tokens_of)}
                    given = {name: self._constant(v, inner, around) for name, v in zip(outer, values, strict=False)}
                    known = {parameter: text for parameter, text in given.items() if text is not None}
                    found += self._resolved(known, other, depth)
                elif token.text in names and tokens_of[index + 1].text == "(" and other.facts.role == INSTANTIATION:
                    types = parameters(tokens_of[index + 2 : bracket(tokens_of, index + 1)])
                    found.append(_bound_by(run, outer, [text_of(t) for t in types]))
        left = _defaults_of(run)
        unique = {tuple(sorted(one.items())): {**left, **one} for one in found if one}
        return list(unique.values())[:_MOST] or [left]

    def _resolved(self, given: dict[str, str], around: Entry, depth: int) -> Iterator[dict[str, str]]:
        """Arguments that are parameters of a template around them, as what those are instantiated for."""
        names = frozenset(_parameters_of(around.piece.tokens))
        if not any(_mentions(text, names) for text in given.values()):
            yield given
            return
        for bound in self._instances(around, depth + 1) if depth < _DEEPEST else ():
            unknown = names - set(bound)
            yield {name: _replaced(text, bound) for name, text in given.items() if not _mentions(text, unknown)}


def _parameters_of(run: Sequence[Token]) -> list[str]:
    """The names of a template's parameters."""
    return [parameter.name for parameter in template_parameters(run, lambda token: Span(0, 0, 0, 0))]


def _defaults_of(run: Sequence[Token]) -> dict[str, str]:
    """Those of a template's parameters that name no other one."""
    names = frozenset(_parameters_of(run))
    return {
        parameter.name: parameter.default
        for parameter in template_parameters(run, lambda token: Span(0, 0, 0, 0))
        if parameter.default and not _mentions(parameter.default, names)
    }


def _owners(run: Sequence[Token]) -> list[str]:
    """`P` of a method that stands outside of its class's template: `template <class T> void P<T>::run() {}`."""
    outside = header(run)
    return [
        token.text
        for at, token in enumerate(outside[:-1])
        if token.kind == WORD
        and outside[at + 1].text == "<"
        and [t.text for t in outside[angle(outside, at + 1) + 1 :][:1]] == ["::"]
    ]


def _bound_by(run: Sequence[Token], names: Sequence[str], types: Sequence[str]) -> dict[str, str]:
    opening = next((i for i in range(angle(run, 1) + 1, len(run)) if run[i].text == "("), None)
    if opening is None:
        return {}
    wanted = [text_of(part[:-1]) for part in parameters(run[opening + 1 : bracket(run, opening)]) if len(part) > 1]
    found: dict[str, str] = {}
    for pattern, actual in zip(wanted, types, strict=False):
        for name in names:
            match = _match(pattern, name, actual)
            if match:
                found.setdefault(name, match)
    return found


class _Function:
    """The names that a host function declares before a point, with their types and values."""

    def __init__(self, run: Sequence[Token], end: int) -> None:
        self._run = run
        self._end = end

    def declares(self, word: str) -> bool:
        return self._declaration(word) is not None

    def definition(self, word: str) -> Sequence[Token] | None:
        """Of `const int block = 32;`, `32`; of `using T = Pair<int, 2>;`, `Pair<int, 2>`."""
        at = self._declaration(word)
        if at is None or self._run[at + 1].text not in ("=", "{"):
            return None
        is_alias = self._run[at - 1].text == "using"
        before = {token.text for token in self._run[max(0, at - 6) : at]}
        if not is_alias and not before & {"const", "constexpr"}:
            return None
        ends = (";",) if is_alias else (";", ",")
        end = next((i for i in range(at + 1, len(self._run)) if self._run[i].text in ends), at + 2)
        value = self._run[at + 2 : end]
        if any(token.text == "(" for token in value) and not is_alias:
            return None  # what a function returns
        return value or None

    def initialiser(self, value: Sequence[Token]) -> Sequence[Token] | None:
        """What `auto op = Op{p};` gives the one word of a value."""
        at = self._declaration(value[0].text) if len(value) == 1 and value[0].kind == WORD else None
        if at is None or self._run[at - 1].text != "auto" or self._run[at + 1].text != "=":
            return None
        end = next((i for i in range(at + 2, self._end) if self._run[i].text == ";"), self._end)
        return self._run[at + 2 : end]

    def type_of(self, value: Sequence[Token]) -> str:
        """Of an argument of a launch, empty if it is not known."""
        words = [
            t.text for t in value if t.kind == WORD and t.text not in ("data", "get", "thrust", "raw_pointer_cast")
        ]
        if value and value[0].text == "(" and "*" in [t.text for t in value[: bracket(value, 0)]]:
            return text_of(value[1 : bracket(value, 0)])  # a cast
        for word in words[:1]:
            at = self._declaration(word)
            if at is not None:
                return self._type_before(at, word)
        if len(value) == 1 and value[0].kind == NUMBER:
            text = value[0].text.lower()
            if "." in text or "e" in text.removeprefix("0x"):
                return "float" if text.endswith("f") else "double"
            return "int"
        return ""

    def _declaration(self, word: str) -> int | None:
        """The last place before the launch where a word follows a type."""
        run = self._run
        for index in range(min(self._end, len(run) - 1) - 1, 0, -1):
            if run[index].text != word or run[index].kind != WORD:
                continue
            before = run[index - 1]
            is_type = (before.kind == WORD and before.text not in ("return", "new", "delete", "case", "goto")) or (
                before.text in ("*", "&", ">")
                and index > 1
                and (run[index - 2].kind == WORD or run[index - 2].text in "*>")
            )
            if is_type and run[index + 1].text in ("=", ";", ",", ")", "[", "{", "("):
                if before.text in ("*", "&") and not self._starts_statement(index):
                    continue
                return index
            back = index - 1
            while back > 0 and run[back].text in ("*", "&"):
                back -= 1
            if run[back].text == "," and run[index + 1].text in (",", ";", "=", "[") and self._is_declarator(back + 1):
                return index
        return None

    def _starts_statement(self, index: int) -> bool:
        """True if the words before a name go back to the start of a statement, or of a parameter."""
        for back in range(index - 1, max(index - 8, -1), -1):
            word = self._run[back].text
            if word in (";", "{", "}", "(", ","):
                return True
            if self._run[back].kind != WORD and word not in ("*", "&", "::", "<", ">"):
                return False
        return index < 8

    def _is_declarator(self, index: int) -> bool:
        """True for `b` in `float *a, *b, c;`"""
        for back in range(index - 1, max(index - 24, -1), -1):
            word = self._run[back].text
            if word in ("(", ")"):
                return False
            if word in (";", "{", "}"):
                return self._run[back + 1].kind == WORD and (
                    self._run[back + 2].kind == WORD or self._run[back + 2].text == "*"
                )
        return False

    def _type_before(self, at: int, word: str) -> str:
        run = self._run
        start = at
        while start > 0 and run[start - 1].text not in (";", "{", "}", "(", ")"):
            start -= 1
        found = [token for token in run[start:at] if token.text not in ("static", "const", "extern", "__restrict__")]
        comma = next((i for i in range(len(found) - 1, -1, -1) if found[i].text == ","), None)
        if comma is not None:
            # A parameter of the function, or one of several declarators of one type.
            own = found[comma + 1 :]
            if any(token.kind == WORD for token in own):
                found = own
            else:
                first = found[: next(i for i, t in enumerate(found) if t.text in (",", "=", "*"))]
                found = [
                    *(first[:-1] if first and len(first) > 1 and "*" not in [t.text for t in found[:comma]] else first),
                    *own,
                ]
        text = text_of(found)
        return text + "*" if run[at + 1].text == "[" else text


def _match(pattern: str, name: str, actual: str) -> str | None:
    """What `name` stands for where a parameter of type `pattern` is given something of type `actual`."""
    shape = [word for word in re.findall(r"\w+|\S", pattern) if word not in ("const", "volatile", "__restrict__", "&")]
    given = [word for word in re.findall(r"\w+|\S", actual) if word not in ("const", "volatile", "__restrict__", "&")]
    if name not in shape:
        return None
    index = shape.index(name)
    before, after = shape[:index], shape[index + 1 :]
    if given[: len(before)] != before or (after and given[-len(after) :] != after):
        return None
    found = given[len(before) : len(given) - len(after)]
    if not found or (found[-1] == "*" and after == ["*"]):
        return None
    if any(word in ("auto", "=") for word in found) or ("," in found and found[-1] != ">"):
        return None
    return text_of(tokens(" ".join(found))) or None


class _Macro(NamedTuple):
    parameters: list[str] | None
    """None of a macro that takes none."""
    tokens: list[Token]


def _body(line: str, name: str) -> _Macro:
    """Of `#define LAUNCH(T, N) scale<T, N><<<1, N>>>(x)`."""
    rest = line.partition(name)[2]
    if not rest.startswith("("):
        return _Macro(None, tokens(rest))
    given, _, body = rest[1:].partition(")")
    return _Macro([one.strip() for one in given.split(",")], tokens(body))


def _is_sum(value: Sequence[Token]) -> bool:
    """True for a value that is worked out; of types, which have some of the same signs, those are the last word."""
    signs = {token.text for token in value}
    return not signs.isdisjoint("+-*/%|^&?") and value[-1].text not in ("*", "&", ">")


def _is_foreign(word: str) -> bool:
    return _FOREIGN.fullmatch(word) is not None


def _mentions(text: str, names: frozenset[str]) -> bool:
    return not names.isdisjoint(_WORD.findall(text)) if names else False


def _replaced(text: str, bound: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: bound.get(match[0], match[0]), text)


def _where(entry: Entry, token: Token) -> str:
    line = entry.file.point(entry.piece.start + token.start)[0]
    return f"{os.path.basename(entry.file.path)}:{line}"
