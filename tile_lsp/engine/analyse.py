"""Text to kernels with closures and job specs, for one file: pure, and run in the analysis thread."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from tile_lsp.analysis.comments import JobComment, read_comments
from tile_lsp.analysis.language import AsksWhy, Blocked, ClosureResult, SeesFolders, Site, TellsComments
from tile_lsp.analysis.snapshot import ProblemView, Written
from tile_lsp.analysis.stale import NoPositions
from tile_lsp.frontends.base import FrontEnd, JobSpec, Problem
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import Severity
from tile_lsp.model.settings import Settings

from .settings import written_setting

_LINE_END = re.compile("\r\n|\r|\n")
_ORPHAN = "no kernel stands right below this comment: it is not read"
_NOWHERE = Span(0, 0, 0, 0)
"""The span of a comment that stands in no file."""


class KernelAnalysis(NamedTuple):
    frontend: FrontEnd
    site: Site
    result: ClosureResult | None
    """None where the kernel's own text is broken; without a closure where something that it needs is."""
    specs: tuple[JobSpec, ...]
    problems: tuple[Problem, ...]
    settings: Settings
    written: Callable[[tuple[str, ...]], SourceRange | None] = lambda setting: None
    """Where one of the kernel's own settings is written."""


class FileAnalysis(NamedTuple):
    path: str
    text: str
    lines: tuple[str, ...]
    kernels: tuple[KernelAnalysis, ...]
    problems: tuple[ProblemView, ...]
    files: frozenset[str]
    """All files that anything here was read from, or looked for in vain."""


def analyse(
    path: str,
    read: Callable[[str], str | None],
    *,
    roots: Sequence[str],
    editable: Mapping[str, str],
    frontends: Sequence[FrontEnd],
    settings: Settings,
    overrides: Mapping[str, str],
    listing: Callable[[str], Sequence[str]] = lambda folder: (),
    refusal: Callable[[str], str | None] = lambda path: None,
) -> FileAnalysis | None:
    """What stands in a file now, or None if there is no such file. `overrides`: kernel → text of a job comment that
    wins. `refusal`: why `read` has nothing of a file that is there.
    """
    text = read(path)
    if text is None:
        return None
    reading = [frontend for frontend in frontends if frontend.language.claims(path)]
    if not reading:
        return FileAnalysis(path, text, tuple(_LINE_END.split(text)), (), (), frozenset({path}))
    language = reading[0].language
    workspace = language.workspace(path, read, roots=roots, editable=editable, settings=settings)
    if isinstance(workspace, SeesFolders):
        workspace.listing = listing
    if isinstance(workspace, AsksWhy):
        workspace.refusal = refusal
    written = functools.partial(written_setting, settings, roots=roots, read=read)
    kernels = tuple(
        _analyse_kernel(frontend, site, workspace, settings, overrides.get(site.qualname), written)
        for frontend in reading
        for site in frontend.find_kernels(path, workspace)
    )
    problems = [
        ProblemView(problem.message, problem.span, problem.severity, problem.code)
        for problem in language.problems(path, workspace)
    ]
    for kernel in kernels:
        problems += [ProblemView(p.message, p.span, p.severity, p.code, p.written) for p in kernel.problems]
    read_lines = {comment.span.line for kernel in kernels for comment in kernel.site.comment_lines}
    problems += [
        ProblemView(_ORPHAN, comment.span, Severity.WARNING, "comment")
        for teller in (language, *reading)
        if isinstance(teller, TellsComments)
        for comment in teller.job_comments(path, workspace)
        if comment.span.line not in read_lines
    ]
    results = [kernel.result for kernel in kernels if kernel.result is not None]
    files = frozenset({path}).union(*(result.files | result.missing for result in results))
    if isinstance(workspace, SeesFolders):
        files |= workspace.consulted
    return FileAnalysis(path, text, tuple(_LINE_END.split(text)), kernels, tuple(problems), files)


def _analyse_kernel(
    frontend: FrontEnd,
    site: Site,
    workspace: Any,
    settings: Settings,
    override: str | None,
    written: Callable[[tuple[str, ...]], tuple[str, SourceRange | None]],
) -> KernelAnalysis:
    comments = list(read_comments((comment.text, comment.span) for comment in site.comment_lines))
    if site.broken:
        return KernelAnalysis(frontend, site, None, (), (), settings)
    if override is not None:
        comments = _overridden(comments, override)
    bindings = {item.name: item.value for comment in comments[:1] for item in comment.items}
    try:
        specs, found = frontend.job_specs(site, workspace, comments, settings)
        expressions = tuple(dict.fromkeys(source for spec in specs for source in spec.expressions))
        result = frontend.closure(site, workspace, bindings, expressions)
    except RecursionError:
        # It is this kernel's trouble, not the file's.
        blocked = Blocked("what this kernel needs is nested too deeply to be analysed")
        specs, found = (), ()
        result = ClosureResult(None, NoPositions(), frozenset({site.path}), blocked_by=blocked)
    problems = tuple(_located(problem, site, settings, written) if problem.setting else problem for problem in found)
    place = functools.partial(_place_of, site=site, settings=settings, written=written)
    return KernelAnalysis(frontend, site, result, specs, problems, settings, place)


def _place_of(
    setting: tuple[str, ...],
    site: Site,
    settings: Settings,
    written: Callable[[tuple[str, ...]], tuple[str, SourceRange | None]],
) -> SourceRange | None:
    return written(settings.keys_of(setting, site.qualname, site.path))[1]


def _located(
    problem: Problem,
    site: Site,
    settings: Settings,
    written: Callable[[tuple[str, ...]], tuple[str, SourceRange | None]],
) -> Problem:
    """What is wrong with a setting, with the words for where that is written."""
    where, place = written(settings.keys_of(problem.setting, site.qualname, site.path))
    # Targets and hints are for all kernel languages: what only one of them refuses is not wrong in the file.
    marked = Written(place, problem.message) if place is not None and problem.setting[0] == "arguments" else None
    return msgspec.structs.replace(problem, message=f"{where}: {problem.message}", written=marked)


def _overridden(comments: list[JobComment], override: str) -> list[JobComment]:
    """The comments, with the items of another one put in the place of their own."""
    (wanted,) = read_comments([(override, _NOWHERE)])
    names = {item.name for item in wanted.items}
    if not comments:
        return [wanted]
    return [
        JobComment((*(item for item in comment.items if item.name not in names), *wanted.items), comment.span)
        for comment in comments
    ]
