"""Statements in syntax that is newer than the Python which runs the server: the kernels' own Python tells them from
broken ones.

Text is analysed by the server's own Python. What that one can't read another may: then nothing is wrong with the text,
and what mends it is another Python for the server.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from tile_lsp.analysis.language import Blocked, ClosureResult, ReadByPython
from tile_lsp.analysis.snapshot import ProblemView
from tile_lsp.analysis.stale import NoPositions
from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Severity

from .analyse import FileAnalysis, KernelAnalysis
from .lru import Lru
from .workers import Environment, WorkerPool

CODE = "python"
"""Of what is wrong with the server's Python, not with the text."""
_MOST = 32
"""Statements of a text that are asked about: one with more broken ones is no source."""


class _Verdict(NamedTuple):
    reader: Environment | None
    """What can read the statement; None for what is broken there too."""


class Newer:
    """What is known of broken statements. Use it on one event loop."""

    def __init__(self, pool: WorkerPool, read: Callable[[str], str | None]) -> None:
        self._pool = pool
        self._read = read
        self._verdicts: Lru[_Verdict] = Lru(256)

    def told(self, analysis: FileAnalysis, python: str) -> FileAnalysis:
        """The analysis, with the truth about what `python` can read, as far as that is known."""
        known: dict[tuple[str, Span], tuple[str, Environment]] = {}
        for path, span, message, text in self._broken(analysis):
            verdict = self._verdicts.get(_key(python, text))
            if verdict is not None and verdict.reader is not None:
                known[path, span] = message, verdict.reader
        if not known:
            return analysis
        problems = tuple(
            _problem(problem, *known[analysis.path, problem.span])
            if (analysis.path, problem.span) in known and problem.code == "syntax"
            else problem
            for problem in analysis.problems
        )
        kernels = tuple(_kernel(kernel, known) for kernel in analysis.kernels)
        return analysis._replace(problems=problems, kernels=kernels)

    def may_learn(self, analysis: FileAnalysis, python: str) -> bool:
        """True if there are statements that `python` was not asked about."""
        return any(self._verdicts.get(_key(python, text)) is None for *_, text in self._broken(analysis))

    async def learn(self, analysis: FileAnalysis, python: str, drivers: str) -> bool:
        """Ask `python` about them; True if it can read one. It isn't asked if it is no newer than our own."""
        environment = await self._pool.environment(python, drivers)
        if not isinstance(environment, Environment) or _version(environment.python) <= sys.version_info[:2]:
            return False
        readable = False
        for _, _, _, text in self._broken(analysis):
            key = _key(python, text)
            if self._verdicts.get(key) is None:
                answer = await self._pool.parse(python, text)
                self._verdicts.put(key, _Verdict(environment if "tree" in answer else None))
                readable |= "tree" in answer
        return readable

    def _broken(self, analysis: FileAnalysis) -> Iterator[tuple[str, Span, str, str]]:
        """Path, place, message and text of each statement that a file's kernels are broken by, or that is its own."""
        paths = {analysis.path: analysis.text}
        for kernel in analysis.kernels:
            blocked = kernel.result.blocked_by if kernel.result is not None else None
            if blocked is not None and blocked.syntax and blocked.at is not None and blocked.at.path not in paths:
                paths[blocked.at.path] = self._read(blocked.at.path) or ""
        for path, text in paths.items():
            language = next((one.language for one in FRONTENDS if one.language.claims(path)), None)
            if isinstance(language, ReadByPython):
                for region in language.broken(path, text)[:_MOST]:
                    yield path, region.problem.span, region.problem.message, region.text


def _key(python: str, text: str) -> str:
    return f"{python}\0{text}"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


def _why(message: str, reader: Environment) -> str:
    theirs, ours = ".".join(reader.python.split(".")[:2]), f"{sys.version_info[0]}.{sys.version_info[1]}"
    return f"Python {theirs}, which runs the kernels, can read this, but not the Python {ours} of tile-lsp: {message}"


def _mend(reader: Environment) -> str:
    return f"Run tile-lsp by that Python: pipx install --force --python {reader.executable} tile-lsp"


def _problem(problem: ProblemView, message: str, reader: Environment) -> ProblemView:
    told = f"{_why(message, reader)}\n{_mend(reader)}"
    return msgspec.structs.replace(problem, message=told, severity=Severity.WARNING, code=CODE)


def _kernel(kernel: KernelAnalysis, known: dict[tuple[str, Span], tuple[str, Environment]]) -> KernelAnalysis:
    """Why there is no closure: of a kernel in such a statement, and of one that needs such a statement."""
    blocked = kernel.result.blocked_by if kernel.result is not None else None
    if blocked is not None and blocked.at is not None and (found := known.get((blocked.at.path, blocked.at.span))):
        message, reader = found
        told = blocked.message.replace(message, _why(message, reader))
        blocked = dataclasses.replace(blocked, message=told, help=_mend(reader), newer=True)
        return kernel._replace(result=dataclasses.replace(kernel.result, blocked_by=blocked))
    if kernel.result is None:
        for (path, span), (message, reader) in known.items():
            if path == kernel.site.path and kernel.site.span.contains(span.line, span.column):
                at = SourceRange(path, span)
                blocked = Blocked(_why(message, reader), at, _mend(reader), syntax=True, newer=True)
                return kernel._replace(result=ClosureResult(None, NoPositions(), frozenset(), blocked_by=blocked))
    return kernel
