"""The slice of a translation unit that one kernel needs.

A fixpoint over words: the kernel mentions words; what declares or defines one of them is needed too, with the words
that it mentions. Host functions and their headers are left out. What is kept stays in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tile_lsp.analysis.language import Blocked, ClosureResult
from tile_lsp.model.closure import Closure, Entry, Member, Module, Note
from tile_lsp.model.location import SourceRange

from . import headers
from .facts import ASSERTION, HOST, INSTANTIATION, KERNEL, KEYWORDS, MACRO, USING, lines_of, suffixes
from .kernels import KernelSite
from .lexer import WORD, tokens
from .positions import Part, Positions
from .split import CLOSE, ELSE, IF, INCLUDE, OPEN, OTHER
from .workspace import Entry as UnitEntry
from .workspace import Unit, Workspace

_NEVER = frozenset({HOST, INSTANTIATION, ASSERTION})
#: What is known of a name of which a macro's argument is a part.
_BEGUN, _ENDED = re.compile(r"(\w+_)\s*##"), re.compile(r"##\s*(_\w+)")
#: The module of the macros that come from settings and build systems.
COMMAND_LINE = "-D"


def build_closure(
    site: KernelSite, workspace: Workspace, bindings: Mapping[str, str] = {}, expressions: Sequence[str] = ()
) -> ClosureResult:
    """The closure of a kernel. `expressions`: types and values that its template is specialised for."""
    unit = workspace.unit(site.path)
    own = next(
        (n for n, e in enumerate(unit.entries) if e.piece.body is site.piece.body and e.file.path == site.path), -1
    )
    files = frozenset(unit.files) | workspace.options.files
    if own < 0 or site.broken:
        blocked = Blocked(
            f"{site.qualname} can't be read as it stands: a bracket is missing",
            SourceRange(site.path, site.span),
            syntax=True,
        )
        return ClosureResult(None, Positions(), files, workspace.missing, blocked)
    builder = _Builder(unit, own, expressions)
    builder.work_out()
    closure, parts = builder.assemble(site, workspace)
    return ClosureResult(closure, Positions(parts), files, workspace.missing)


class _Builder:
    def __init__(self, unit: Unit, own: int, expressions: Sequence[str]) -> None:
        self.unit = unit
        self.own = own
        self.kept: set[int] = set()
        self.groups: set[int] = set()
        self.words: set[str] = set()
        """All that are in what is kept."""
        self.opens_std = False
        """There is a `using namespace std;`, which says nothing of what is used."""
        self.expressions = expressions

    def work_out(self) -> None:
        unit = self.unit
        queue = [self.own]
        mentioned: set[str] = set()
        given = {token.text for text in self.expressions for token in tokens(text)} - KEYWORDS
        options = {word for _, value in unit.workspace.options.macros for word in _names(value)}
        queue += self._meant(given | options, given | options)
        self.words |= given | options
        queue += self._everywhere()
        while queue or (queue := self._operators() + self._headers()):
            number = queue.pop()
            if number in self.kept:
                continue
            self.kept.add(number)
            entry = unit.entries[number]
            for group in entry.groups:
                if group not in self.groups:
                    self.groups.add(group)
                    queue += unit.groups[group]
            facts = entry.facts
            if facts.role == USING:
                # It needs the namespace itself, though nothing that is declared there may be the device's.
                queue += self.unit.namespaces.get(entry.piece.tokens[-2].text, ())
                if [token.text for token in entry.piece.tokens] == ["using", "namespace", "std", ";"]:
                    self.opens_std = True
                    continue
            if entry.piece.kind in (IF, ELSE) or facts.role == MACRO or entry.piece.kind not in (INCLUDE, OPEN, CLOSE):
                fresh = (facts.mentions | facts.macros) - self.words
                self.words |= fresh
                queue += self._meant(facts.mentions - mentioned, fresh, launches=facts.launches)
                if facts.role == MACRO and "##" in entry.piece.tokens[0].text:
                    made = self._put_together(entry.piece.tokens[0].text)
                    queue += self._meant(made, made)
                mentioned |= facts.mentions

    def _meant(self, mentions: set[str] | frozenset[str], words: set[str], *, launches: bool = False) -> list[int]:
        """The entries that declare one of `mentions`, or define one of `words`."""
        found: list[int] = []
        for word in mentions:
            for number in self.unit.declared.get(word, ()):
                role = self.unit.entries[number].facts.role
                if role in _NEVER or (
                    role == KERNEL and number != self.own and not launches and not self._is_own(word)
                ):
                    continue
                found.append(number)
        for word in words:
            found += self.unit.defined.get(word, ())
        return found

    def _put_together(self, line: str) -> set[str]:
        """The names that a macro may make of parts: `ASK_##x` is any that begins so."""
        unit = self.unit
        starts = tuple(found for found in _BEGUN.findall(line) if len(found) > 1)
        ends = tuple(found for found in _ENDED.findall(line) if len(found) > 1)
        return {name for name in (*unit.defined, *unit.declared) if name.startswith(starts) or name.endswith(ends)}

    def _is_own(self, word: str) -> bool:
        """True for declarations of the kernel itself, and what its template is specialised from."""
        return word == self.unit.entries[self.own].facts.name

    def _everywhere(self) -> list[int]:
        """What concerns all that follows it: `using namespace`, pragmas."""
        found = [number for number in self.unit.declared.get("", ()) if self._is_opened(self.unit.entries[number])]
        for number, entry in enumerate(self.unit.entries):
            if entry.piece.kind == OTHER and entry.piece.tokens[0].text.startswith("#pragma"):
                line = entry.piece.tokens[0].text
                if not line.startswith(("#pragma once", "#pragma comment", "#pragma region", "#pragma endregion")):
                    found.append(number)
        return [
            n for n in found if self.unit.entries[n].facts.role == USING or self.unit.entries[n].piece.kind == OTHER
        ]

    def _is_opened(self, entry: UnitEntry) -> bool:
        """False for `using namespace torch;`: nothing that the device reads opens that."""
        path = [token.text for token in entry.piece.tokens[2:] if token.kind == WORD]
        if not path or path[0] in headers.NAMESPACES:
            return path[:1] != ["std"] or len(path) == 1
        return path[0] in self.unit.opened

    def _operators(self) -> list[int]:
        """Operators of types that are in use, and of anything; literals with suffixes are operators too."""
        found = []
        for number in self.unit.operators:
            if number in self.kept:
                continue
            names = self.unit.entries[number].facts.names
            if "" in names or names & self.words or suffixes(self.unit.entries[number].piece.tokens):
                found.append(number)
        return found

    def _wanted(self, header: str) -> str | None:
        find = headers.wanted_of_open if self.opens_std and "std" not in self.words else headers.wanted
        return find(header, self.words)

    def _headers(self) -> list[int]:
        """Headers of the toolkit that the kept words call for."""
        entries = self.unit.entries
        return [
            number
            for number in self.unit.includes
            if number not in self.kept and self._wanted(entries[number].facts.name[1:-1]) is not None
        ]

    # -- the closure

    def assemble(self, site: KernelSite, workspace: Workspace) -> tuple[Closure, dict[str, Part]]:
        unit = self.unit
        members: list[Member] = []
        parts: dict[str, Part] = {}
        for name, value in workspace.options.macros:
            members.append(Member(f"{COMMAND_LINE}/{name}", COMMAND_LINE, f"#define {name} {value}".rstrip()))
        taken: dict[str, int] = {}
        included: set[str] = set()
        for number in sorted(self.kept):
            entry = unit.entries[number]
            kept = entry.facts.kept
            text, lines = lines_of(kept)
            if entry.piece.kind == INCLUDE:
                wanted = self._wanted(entry.facts.name[1:-1])
                if wanted is None or wanted in included:
                    continue
                if not entry.groups:
                    included.add(wanted)
                text = headers.inclusion(wanted, self.words)
            name = f"{entry.label}/{_id(entry.facts.name or entry.piece.kind)}"
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                name = f"{name}.{taken[name]}"
            members.append(Member(name, entry.label, text))
            parts[name] = Part(entry.file, entry.piece.start, kept, lines)
        label = unit.entries[self.own].label
        entry_point = Entry(
            label, f"{site.name}{site.specialised}", site.qualname, tuple(p.name for p in site.template)
        )
        notes = self._notes()
        draft = Closure("", entry_point, (Module(label, site.path, False, tuple(members)),))
        closure = Closure(draft.digest_of(frozenset()), entry_point, draft.modules, notes=notes)
        return closure, parts

    def _notes(self) -> tuple[Note, ...]:
        kept_files = {self.unit.entries[number].file.path for number in self.kept}
        return tuple(
            Note(self.unit.workspace.lost(name), span if path == self.unit.path else None)
            for name, path, span, _ in self.unit.unknown
            if path in kept_files
        )


def _names(text: str) -> set[str]:
    return {token.text for token in tokens(text)} - KEYWORDS


def _id(name: str) -> str:
    """Fit for a compiler's `#line` and for a URI."""
    return name.replace('"', "'").replace("\\", "/")
