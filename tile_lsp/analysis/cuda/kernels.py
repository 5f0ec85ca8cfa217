"""Which functions are kernels, where they are, and what is written in their signatures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from tile_lsp.analysis.language import CommentLine
from tile_lsp.model.location import Span

from .facts import KERNEL, KEYWORDS, facts_of, function_name, specifiers
from .facts import parameters as commas
from .lexer import DIRECTIVE, WORD, Token
from .split import BROKEN, DECLARATION, Piece, angle, bracket, header
from .workspace import CudaFile, Workspace


class Parameter(NamedTuple):
    """One of a kernel's parameters."""

    name: str
    span: Span
    """The name alone."""
    type: str
    """As it is written: `const float *__restrict__`."""


class TemplateParameter(NamedTuple):
    name: str
    span: Span
    kind: str
    """`typename`, `template`, or the type of its value: `int`, `bool`."""
    default: str | None = None
    pack: bool = False


@dataclasses.dataclass(frozen=True)
class KernelSite:
    """A kernel in the text; satisfies `analysis.language.Site`."""

    path: str
    qualname: str
    """`"ops::scale"`; of several of one name, those after the first one have a number: `"scale#2"`."""
    span: Span
    name_span: Span
    arguments: tuple[Parameter, ...]
    """Of the function."""
    template: tuple[TemplateParameter, ...]
    broken: bool
    comment_lines: tuple[CommentLine, ...]
    name: str
    """As a compiler is told it: `"ops::scale"`."""
    specialised: str
    """For `template <> __global__ void scale<float>(…)`, `"<float>"`, else empty."""
    bounds: str
    """What is in `__launch_bounds__(…)`."""
    piece: Piece = dataclasses.field(repr=False, compare=False, default=None)  # type: ignore[assignment]

    @property
    def parameters(self) -> tuple[TemplateParameter | Parameter, ...]:
        """The template's, which a job gives, before the function's."""
        return (*self.template, *self.arguments)


def find_kernels(path: str, workspace: Workspace) -> tuple[KernelSite, ...]:
    """Definitions of kernels in a file, in source order; of a file that is no header, those of no other file."""
    file = workspace.file(path)
    if file is None:
        return ()
    macros = workspace.unit(path).macros
    found: list[KernelSite] = []
    counted: dict[str, int] = {}
    for piece in file.pieces:
        if piece.kind == DECLARATION and piece.tokens[-1].text == "}":
            facts = facts_of(piece, macros)
            if facts.role != KERNEL:
                continue
            broken = False
        elif piece.kind == BROKEN and "__global__" in specifiers(header(piece.tokens), macros):
            broken = True
        else:
            continue
        site = _site(file, piece, broken, counted)
        if site is not None:
            found.append(site)
    return tuple(found)


def _site(file: CudaFile, piece: Piece, broken: bool, counted: dict[str, int]) -> KernelSite | None:
    run = piece.tokens
    outside = header(run)
    simple = function_name(outside)
    at = next((i for i, t in enumerate(run) if t.text == simple and t in outside), None) if simple else None
    if simple is None or at is None:
        return None
    spaces = [name.removeprefix("namespace").strip() for name in piece.around if name.startswith("namespace")]
    name = "::".join([*(space for space in spaces if space), simple])
    counted[name] = counted.get(name, 0) + 1
    qualname = name if counted[name] == 1 else f"{name}#{counted[name]}"
    opening = at + 1
    specialised = ""
    if run[opening : opening + 1] and run[opening].text == "<":
        end = angle(run, opening)
        specialised = text_of(run[opening : end + 1])
        opening = end + 1
    closing = bracket(run, opening) if opening < len(run) else len(run) - 1

    def span(token: Token) -> Span:
        return file.span(piece.start + token.start, piece.start + token.end)

    found = tuple(
        parameter for part in commas(run[opening + 1 : closing]) if (parameter := _parameter(part, span)) is not None
    )
    bounds = next((i for i, t in enumerate(run) if t.text == "__launch_bounds__"), None)
    first = file.point(piece.start)[0]
    return KernelSite(
        file.path,
        qualname,
        file.span(piece.start, piece.end),
        span(run[at]),
        found,
        tuple(template_parameters(run, span)),
        broken,
        _comments(file, first, span(run[at]).line),
        name,
        specialised,
        text_of(run[bounds + 2 : bracket(run, bounds + 1)]) if bounds is not None else "",
        piece,
    )


def text_of(run: Sequence[Token]) -> str:
    """Tokens in one line, with blanks where words would run together."""
    text = ""
    for token in run:
        if token.kind == DIRECTIVE:
            continue
        if text and (text[-1].isalnum() or text[-1] == "_") and (token.text[0].isalnum() or token.text[0] == "_"):
            text += " "
        text += token.text
        if token.text == ",":
            text += " "
    return text.strip()


def _parameter(part: Sequence[Token], span) -> Parameter | None:  # noqa: ANN001
    part = [token for token in part if token.kind != DIRECTIVE]
    equals = next((i for i, token in enumerate(part) if token.text == "="), len(part))
    part = part[:equals]
    if not part or [token.text for token in part] == ["void"]:
        return None
    # `float (&tile)[16]`, `const float *x`, `float x[]`
    end = next((i for i, token in enumerate(part) if token.text == "["), len(part))
    index = next((i for i in range(end - 1, -1, -1) if part[i].kind == WORD and part[i].text not in KEYWORDS), None)
    if index is None or (index == 0 and len(part) == 1):
        return None
    rest = [*part[:index], *part[index + 1 :]]
    if not rest or part[index].text.startswith("__"):
        return None
    return Parameter(part[index].text, span(part[index]), text_of(rest))


def template_parameters(run: Sequence[Token], span) -> list[TemplateParameter]:  # noqa: ANN001
    """Those of the innermost `template <…>` before a declaration's name; empty for `template <>`."""
    if not run or run[0].text != "template" or run[1:2] == () or run[1].text != "<":
        return []
    found = []
    for part in commas(run[2 : angle(run, 1)]):
        equals = next((i for i, token in enumerate(part) if token.text == "="), len(part))
        named = part[:equals]
        index = next((i for i in range(len(named) - 1, -1, -1) if named[i].kind == WORD), None)
        if index is None:
            continue
        before = [token.text for token in named[:index] if token.text != "..."]
        if not before and named[index].text in KEYWORDS:
            continue
        kind = "typename" if before in (["typename"], ["class"]) else text_of(named[:index]).removesuffix("...")
        if before[:1] == ["template"]:
            kind = "template"
        elif before and before[0] not in KEYWORDS and len(before) == 1 and before[0][0].isupper():
            kind = before[0]
        default = text_of(part[equals + 1 :]) if equals < len(part) else None
        found.append(
            TemplateParameter(
                named[index].text,
                span(named[index]),
                kind.strip(),
                default,
                any(token.text == "..." for token in named),
            )
        )
    return found


def _comments(file: CudaFile, first: int, last: int) -> tuple[CommentLine, ...]:
    """Comment lines directly above line `first`, and those from there to line `last`."""
    row = first - 1
    while row > 0 and file.line(row).lstrip().startswith("//"):
        row -= 1
    found = []
    for number in range(row + 1, last + 1):
        line = file.line(number)
        stripped = line.strip()
        if stripped.startswith("//"):
            start = len(line[: len(line) - len(line.lstrip())].encode())
            found.append(CommentLine(stripped, Span(number, start, number, start + len(stripped.encode()))))
    return tuple(found)
