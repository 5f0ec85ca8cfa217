"""What a piece is for the device: which names it declares, which ones it mentions, and its normalised text.

Names go by their words alone: a piece needs all pieces that declare a word which it mentions. That is more than it
needs at times, and never less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .lexer import CHAR, DIRECTIVE, NUMBER, PUNCT, STRING, WORD, Token, words
from .split import ATTRIBUTES, CLOSE, DECLARATION, DEFINE, INCLUDE, OPEN, Piece, angle, bracket, header, inside

KERNEL, DEVICE, HOST, TYPE, VALUE, OPERATOR, USING = "kernel", "device", "host", "type", "value", "operator", "using"
INSTANTIATION, ASSERTION, MACRO, NOTHING = "instantiation", "assertion", "macro", "nothing"

#: What makes a function, or a variable, one of the device.
_ON_DEVICE = frozenset({"__device__", "__global__", "constexpr", "consteval"})
_MEMORY = frozenset({"__constant__", "__device__", "__managed__", "__shared__", "const", "constexpr", "constinit"})
SPECIFIERS = _ON_DEVICE | _MEMORY | {"__host__"}
_CLASSES = frozenset({"class", "struct", "union", "enum"})
#: Words of the language, and what stands before a name in a declaration.
_KEYWORDS_TEXT = """
alignas alignof and asm auto bool break case catch char char8_t char16_t char32_t class const consteval
constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept nullptr operator
or private protected public register reinterpret_cast requires return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned
using virtual void volatile wchar_t while
"""
KEYWORDS = frozenset(_KEYWORDS_TEXT.split())
#: In the signature of a method, these show that it is the host's.
_OF_HOST = frozenset({"std", "FILE", "ostream", "istream", "string", "vector", "cudaStream_t", "cudaError_t"})
_ACCESS = frozenset({"public", "private", "protected"})


class Facts(NamedTuple):
    role: str
    name: str
    """What it is called in the id of a member."""
    names: frozenset[str]
    """What it declares."""
    mentions: frozenset[str]
    """Words that may stand for what another piece declares."""
    macros: frozenset[str]
    """All words: what may stand for a macro."""
    kept: tuple[Token, ...]
    """Without what is the host's."""
    launches: bool
    """It may start kernels itself."""


def facts_of(piece: Piece, macros: Mapping[str, frozenset[str]]) -> Facts:
    """`macros`: those that stand for specifiers (`#define HD __host__ __device__`), with these."""
    body = piece.body
    all_words = body.facts.get("words")
    if all_words is None:
        all_words = body.facts["words"] = _words(body.tokens)
    seen = frozenset(word for word in macros if word in all_words) if macros else frozenset()
    key = tuple(sorted((word, *sorted(macros[word])) for word in seen))
    found = body.facts.get(key)
    if found is None:
        found = body.facts[key] = _facts(piece, all_words, {word: macros[word] for word in seen})
    return found


def specifier_macros(defines: Iterable[Piece]) -> dict[str, frozenset[str]]:
    """The macros that stand for specifiers, directly or by way of others."""
    bodies: dict[str, set[str]] = {}
    for piece in defines:
        line = piece.tokens[0].text
        if line.startswith("#define"):
            name, *rest = words(line) or [""]
            bodies.setdefault(name, set()).update(rest)
    found: dict[str, frozenset[str]] = {}
    while True:
        grown = {
            name: frozenset(w for word in rest for w in ([word] if word in SPECIFIERS else found.get(word, ())))
            for name, rest in bodies.items()
        }
        grown = {name: kept for name, kept in grown.items() if kept}
        if grown == found:
            return found
        found = grown


def _words(run: Iterable[Token]) -> frozenset[str]:
    found: set[str] = set()
    for token in run:
        if token.kind == WORD:
            found.add(token.text)
        elif token.kind == DIRECTIVE:
            found.update(words(token.text))
    return frozenset(found)


def _facts(piece: Piece, all_words: frozenset[str], macros: Mapping[str, frozenset[str]]) -> Facts:
    run = piece.tokens
    empty: frozenset[str] = frozenset()
    if piece.kind == DEFINE:
        name = next(iter(words(run[0].text)), "")
        return Facts(MACRO, name, frozenset({name}), all_words - {name}, all_words - {name}, run, False)
    if piece.kind in (OPEN, CLOSE):
        return Facts(NOTHING, " ".join(t.text for t in run[:-1]), empty, empty, all_words, run, False)
    if piece.kind != DECLARATION:
        name = run[0].text if piece.kind == INCLUDE else piece.kind
        return Facts(NOTHING, name.removeprefix("#include "), empty, all_words, all_words, run, False)
    outside = header(run)
    role, name, names = _role(run, outside, macros)
    kept = run
    if role == TYPE:
        kept = tuple(_without_host(run, macros))
    elif role in (DEVICE, OPERATOR) and not specifiers(outside, macros) & {"__device__", "__global__"}:
        kept = tuple(_on_device(run))
    if kept is not run:
        all_words = _words(kept)
    return Facts(
        role, name, frozenset(names), _mentions(kept) - KEYWORDS, all_words - KEYWORDS, kept, _launches(kept, all_words)
    )


def _launches(run: Sequence[Token], all_words: frozenset[str]) -> bool:
    return any(token.text == "<<<" for token in run) or any(word.startswith("cudaLaunch") for word in all_words)


def _mentions(run: Sequence[Token]) -> frozenset[str]:
    """Words, less those after `.` and `->`, which are found by way of their class."""
    found: set[str] = set()
    previous = ""
    for kind, text, _, _ in run:
        if kind == WORD:
            if previous not in (".", "->"):
                found.add(text)
        elif kind == DIRECTIVE:
            found.update(words(text))
        elif text == ":" and previous not in ("", "?"):
            # A loop over a range calls these without naming them.
            found.update(("begin", "end"))
        elif text == "[" and previous == "auto":
            found.update(("get", "tuple_size", "tuple_element"))
        previous = text
    return frozenset(found)


def specifiers(outside: Iterable[Token], macros: Mapping[str, frozenset[str]]) -> set[str]:
    found: set[str] = set()
    for token in outside:
        if token.text in SPECIFIERS:
            found.add(token.text)
        elif token.text in macros:
            found |= macros[token.text]
    return found


def _role(
    run: Sequence[Token], outside: Sequence[Token], macros: Mapping[str, frozenset[str]]
) -> tuple[str, str, set[str]]:
    kept = [token.text for token in outside]
    first = kept[0] if kept else ""
    if first in ("static_assert", "_Static_assert"):
        return ASSERTION, "static_assert", set()
    if first == "using" or (first == "template" and "using" in kept):
        return _using(kept)
    if first == "namespace":
        return USING, kept[1] if len(kept) > 1 else "namespace", {kept[1]} if len(kept) > 1 else set()
    if first == "typedef":
        return TYPE, _typedef(run)[0], set(_typedef(run)[1])
    words_of_run = [token.text for token in run[:2]]
    if words_of_run[:1] == ["template"] and words_of_run[1:] != ["<"]:
        name = function_name(outside) or ""
        return INSTANTIATION, name, set()
    if words_of_run == ["extern", "template"]:
        return INSTANTIATION, "", set()
    said = specifiers(outside, macros)
    brackets = kept.index("(") if "(" in kept else len(kept)
    equals = next((i for i, w in enumerate(kept) if w == "=" and (not i or kept[i - 1] != "operator")), len(kept))
    key = next((i for i, w in enumerate(kept) if w in _CLASSES), len(kept))
    if key < min(brackets, equals) and "(" not in kept[key:]:
        return (TYPE, *_class(run, outside, key))
    if brackets < equals:
        if "operator" in kept:
            return (OPERATOR if said & _ON_DEVICE else HOST), "operator", _operator_names(run)
        name = function_name(outside)
        if name is None:
            return HOST, "", set()
        names = {name, *_qualifiers(kept, name)}
        if "__global__" in said:
            return KERNEL, name, names
        # A deduction guide, or a call of a macro that declares something: whatever it names may be meant.
        if not said and _is_guide(kept):
            return TYPE, name, names
        if not said and run[-1].text == ")":
            mentioned = {t.text for t in run if t.kind == WORD} - KEYWORDS
            return VALUE, name, mentioned
        return (DEVICE if said & _ON_DEVICE else HOST), name, names
    variables = _variables(run)
    name, names = next(iter(variables), "*"), set(variables)
    if any(word in kept for word in ("concept",)):
        return TYPE, name, names
    memory = said & _MEMORY or {"const", "constexpr"} & set(kept)
    return (VALUE if memory else HOST), name, names


def _using(kept: list[str]) -> tuple[str, str, set[str]]:
    """`using namespace ops;` declares nothing, and everything."""
    rest = kept[kept.index("using") + 1 :]
    if rest[:1] == ["namespace"]:
        return USING, "using namespace", {""}
    if "=" in rest:
        return TYPE, rest[0], {rest[0]}
    names = {word for index, word in enumerate(rest) if rest[index + 1 : index + 2] in ([";"], [","], [])}
    names.discard(";")
    return TYPE, next(iter(sorted(names)), "using"), names


def _typedef(run: Sequence[Token]) -> tuple[str, list[str]]:
    """The last word, and those in brackets of their own: `typedef float (*Op)(float);`. All that a body declares."""
    found = [t.text for i, t in enumerate(run) if t.kind == WORD and run[i + 1 : i + 2] and _ends_name(run, i)]
    found = [word for word in found if word not in KEYWORDS]
    return (found[-1] if found else "typedef"), found


def _ends_name(run: Sequence[Token], index: int) -> bool:
    return run[index + 1].text in (";", ",", "[", "=", "}", "{") or (
        run[index + 1].text == ")" and index > 0 and run[index - 1].text == "*"
    )


def _class(run: Sequence[Token], outside: Sequence[Token], key: int) -> tuple[str, set[str]]:
    kept = outside[key + 1 :]
    name, names = "", set()
    for index, token in enumerate(kept):
        if token.text in (":", "{", ";", "="):
            break
        if token.kind == WORD and token.text not in KEYWORDS and token.text not in ("final",):
            if kept[index + 1 : index + 2] and kept[index + 1].text == "<":
                name = token.text
                break
            name = token.text
    if name:
        names.add(name)
    enum = outside[key].text == "enum"
    body = next((i for i, token in enumerate(run) if token.text == "{"), None)
    if body is not None:
        end = bracket(run, body)
        if enum:
            names |= {
                token.text
                for i, token in enumerate(run[body:end])
                if token.kind == WORD and run[body + i - 1].text in ("{", ",")
            }
        # `} origin, *unit;`
        names |= {t.text for t in run[end + 1 :] if t.kind == WORD} - KEYWORDS
    return name or next(iter(sorted(names)), outside[key].text), names


def function_name(outside: Sequence[Token]) -> str | None:
    """The word before the first bracket that is no attribute's."""
    for index, token in enumerate(outside):
        if token.text == "(" and index:
            before = outside[index - 1]
            if before.text in (">", ">>"):
                # `template <> void scale<float>(…)`
                depth = 0
                for back in range(index - 1, -1, -1):
                    if outside[back].text in (">", ">>"):
                        depth += len(outside[back].text)
                    elif outside[back].text == "<":
                        depth -= 1
                        if depth <= 0:
                            before = outside[back - 1] if back else before
                            break
            if before.kind == WORD and before.text not in ATTRIBUTES:
                return before.text
    return None


def _qualifiers(kept: Sequence[str], name: str) -> set[str]:
    """The class that a method is of, written outside of it."""
    found = set()
    for index, word in enumerate(kept):
        if word == name and index >= 2 and kept[index - 1] == "::":
            found.add(next((w for w in reversed(kept[: index - 1]) if re.fullmatch(r"\w+", w)), ""))
    return found


def _is_guide(kept: Sequence[str]) -> bool:
    return "->" in kept and "auto" not in kept[: kept.index("->")]


def _operator_names(run: Sequence[Token]) -> set[str]:
    """The words of its parameters' types: it is needed where they are in use. A template's are anything."""
    start = next((i for i, token in enumerate(run) if token.text == "operator"), 0)
    opening = next((i for i in range(start + 1, len(run)) if run[i].text == "("), None)
    if opening is None or run[0].text == "template":
        return {""}
    if run[opening + 1 : opening + 2] and run[opening + 1].text == ")" and run[opening + 2].text == "(":
        opening += 2  # operator()
    closing = bracket(run, opening)
    found: set[str] = set()
    for parameter in parameters(run[opening + 1 : closing]):
        kept = [token.text for token in parameter if token.kind == WORD and token.text not in KEYWORDS]
        found.update(kept[:-1] or kept)
    return found


def parameters(run: Sequence[Token]) -> list[Sequence[Token]]:
    """What stands between commas outside all brackets."""
    found: list[Sequence[Token]] = []
    depth = first = 0
    for index, token in enumerate(run):
        if token.kind == PUNCT:
            if token.text in "([{<":
                depth += 1
            elif token.text in (")", "]", "}", ">", ">>"):
                depth -= len(token.text)
            elif token.text == "," and depth <= 0:
                found.append(run[first:index])
                first = index + 1
    if run[first:]:
        found.append(run[first:])
    return found


def _variables(run: Sequence[Token]) -> list[str]:
    """The names that a declaration of variables gives, in their order."""
    found: list[str] = []
    depth, index, initialised = 0, 0, False
    while index < len(run):
        token = run[index]
        if token.text == "template" and run[index + 1 : index + 2] and run[index + 1].text == "<":
            index = angle(run, index + 1)
        elif token.text in ATTRIBUTES and run[index + 1 : index + 2] and run[index + 1].text == "(":
            index = bracket(run, index + 1)
        elif token.kind == PUNCT and token.text in "([{":
            depth += 1
        elif token.kind == PUNCT and token.text in ")]}":
            depth -= 1
        elif not depth and token.text in ("=", ","):
            initialised = token.text == "="
        elif (
            token.kind == WORD
            and not depth
            and not initialised
            and index + 1 < len(run)
            and run[index + 1].text in "=;[,{("
            and token.text not in KEYWORDS
        ):
            found.append(token.text)
        index += 1
    return found


# -- classes without their host functions


def _without_host(run: Sequence[Token], macros: Mapping[str, frozenset[str]]) -> Sequence[Token]:
    """A class whose methods without specifiers, which are the host's, have lost their bodies."""
    opening = next((i for i, token in enumerate(run) if token.text == "{"), None)
    if opening is None or any(t.text == "enum" for t in run[:opening]):
        return run
    closing = bracket(run, opening)
    members = run[opening + 1 : closing]
    kept: list[Token] = []
    changed = False
    for first, last in inside(members):
        member = members[first:last]
        found = _member(member, macros)
        changed = changed or found is not member
        kept += found
    return [*run[: opening + 1], *kept, *run[closing:]] if changed else run


def _member(member: Sequence[Token], macros: Mapping[str, frozenset[str]]) -> Sequence[Token]:
    label = 2 if member[0].text in _ACCESS and member[1:2] and member[1].text == ":" else 0
    rest = member[label:]
    if not rest or rest[0].kind == DIRECTIVE:
        return member
    outside = header(rest)
    kept = [token.text for token in outside]
    equals = next((i for i, w in enumerate(kept) if w == "=" and (not i or kept[i - 1] != "operator")), len(kept))
    brackets = kept.index("(") if "(" in kept else len(kept)
    key = next((i for i, w in enumerate(kept) if w in _CLASSES), len(kept))
    if key < brackets and "(" not in kept[key:]:
        found = _without_host(rest, macros)
        return member if found is rest else [*member[:label], *found]
    if brackets >= equals or brackets == len(kept) or kept[0] in ("using", "static_assert", "typedef"):
        return member
    said = specifiers(outside, macros)
    if said & {"__device__", "__global__"}:
        return member
    if equals < len(kept) and kept[equals + 1 : equals + 2] in (["default"], ["delete"]):
        return member
    if said & _ON_DEVICE:
        return [*member[:label], *_on_device(rest)]
    start = _body(rest)
    signature = rest[:start] if start is not None else rest
    if "virtual" not in kept and any(token.text in _OF_HOST for token in signature):
        return member[:label]
    if start is not None:
        place = rest[start]
        rest = [*rest[:start], Token(PUNCT, ";", place.start, place.start + 1)]
    return [*member[:label], *_on_device(rest)]


def _on_device(run: Sequence[Token]) -> list[Token]:
    """A function that has no specifier, with one: NVRTC takes it for the host's otherwise, and refuses it.

    `constexpr` functions are for both, as nvcc has it with `--expt-relaxed-constexpr`.
    """
    at = 0
    while at < len(run):
        following = run[at + 1].text if at + 1 < len(run) else ""
        if run[at].text == "template" and following == "<":
            at = angle(run, at + 1) + 1
        elif run[at].text == "[" and following == "[":
            at = bracket(run, at) + 1
        elif run[at].text == "requires" and following == "(":
            at = bracket(run, at + 1) + 1
        else:
            break
    at = min(at, len(run) - 1)
    return [*run[:at], Token(WORD, "__device__", run[at].start, run[at].start), *run[at:]]


def _body(rest: Sequence[Token]) -> int | None:
    """Where the body of a method begins, or what a constructor initialises; None for a mere declaration."""
    depth = 0
    closed = False
    for index, token in enumerate(rest):
        if token.kind != PUNCT:
            continue
        if not depth and closed and token.text in (":", "{"):
            return index
        if token.text in "([":
            depth += 1
        elif token.text in ")]":
            depth -= 1
            closed = not depth
    return None


# -- normalised text


def lines_of(kept: Sequence[Token]) -> tuple[str, tuple[int, ...]]:
    """One token a line, which makes a compiler's line a token: the text, and the first line (from 1) of each token."""
    starts: list[int] = []
    line = 1
    for token in kept:
        starts.append(line)
        line += token.text.count("\n") + 1
    return "\n".join(token.text for token in kept), tuple(starts)


def suffixes(run: Iterable[Token]) -> bool:
    """True if literals have a suffix of the user's."""
    return any(token.kind in (NUMBER, STRING, CHAR) and "_" in token.text.rpartition('"')[2] for token in run)
