"""From a kernel in the text to its job specs: every source in its order, and assumptions for what is left."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.python import KernelSite, Workspace
from tile_lsp.frontends.base import JobSpec, Origin, Problem
from tile_lsp.frontends.given import Given, read_comment, read_settings
from tile_lsp.frontends.names import Names, statements
from tile_lsp.model.job import Argument
from tile_lsp.model.settings import Settings

from .annotations import Annotation, read_annotation
from .assume import Assumed, Parameter, alternatives, assume
from .launches import Launched, read_launches
from .signature import Expected, configs, vocabulary
from .spec import Spec, constant, expressions
from .usage import Usage, read_usage


def job_specs(
    kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
    """One spec for each comment, or one where there is none; problems of comments and settings."""
    names = Names.of(workspace)
    path = kernel.path
    annotations = {p.name: read_annotation(p.annotation, path, names) for p in kernel.parameters}
    constants = [name for name, annotation in annotations.items() if annotation.kind == "constant"]
    around = _around(kernel, names)

    # Use and launches are found out by abstract runs, so only for kernels whose arguments aren't all given.
    @functools.cache
    def usage() -> Usage:
        if not isinstance(kernel.node, ast.FunctionDef):
            return Usage()
        return read_usage(kernel.node, path, names, constants, around)

    @functools.cache
    def launched() -> dict[str, Launched]:
        return read_launches(kernel, {one.name: one for one in expected}, names)

    expected = [
        Expected(p.name, annotations[p.name], functools.partial(_used_as_array, usage, p.name))
        for p in kernel.parameters
    ]
    captured = frozenset(a.arg for function in around for a in function.args.args + function.args.kwonlyargs)
    words = vocabulary(expected, captured)
    own = settings.for_kernel(kernel.qualname, path)
    from_settings, problems = read_settings(own, words, kernel.name_span, strict=True)
    found = list(problems)
    given: list[tuple[JobComment | None, Given]] = []
    for comment in comments:
        one, wrong = read_comment(comment, words)
        found.extend(wrong)
        given.append((comment, one))
    specs = [
        _spec(kernel, comment, (one, from_settings), annotations, launched, usage, names)
        for comment, one in given or [(None, Given())]
    ]
    return tuple(specs), tuple(sorted(found, key=lambda problem: problem.span))


def _spec(
    kernel: KernelSite,
    comment: JobComment | None,
    sources: tuple[Given, Given],
    annotations: dict[str, Annotation],
    launched: Callable[[], dict[str, Launched]],
    usage: Callable[[], Usage],
    names: Names,
) -> JobSpec:
    given = sources[0].arguments.keys() | sources[1].arguments.keys()
    whole = all(site.name in given for site in kernel.parameters)
    launch_of = {} if whole else launched()
    parameters = []
    for site in kernel.parameters:
        name, annotation = site.name, annotations[site.name]
        default = _default(site.default, kernel.path, names)
        parameter = Parameter(name, annotation, default=default)
        launch = launch_of.get(name)
        if name in sources[0].arguments:
            kind = "command line" if name in sources[0].command_line else "comment"
            parameter = Parameter(name, annotation, sources[0].arguments[name], Origin(kind))
        elif name in sources[1].arguments:
            parameter = Parameter(name, annotation, sources[1].arguments[name], Origin("settings"))
        elif launch is not None:
            parameter = launch.parameter(name, annotation, default)
        parameters.append(parameter)
    use = Usage() if whole else usage()
    first = assume(parameters, use)
    others = () if whole else alternatives(parameters, use)
    return JobSpec(
        _arguments(kernel, first),
        tuple(assumed.origin for assumed in first),
        configs(sources),
        comment,
        tuple(_arguments(kernel, other) for other in others),
        tuple(source for one in first for source in expressions(one.spec)),
    )


def _arguments(kernel: KernelSite, assumed: Sequence[Assumed]) -> tuple[Argument, ...]:
    return tuple(Argument(p.name, str(one.spec)) for p, one in zip(kernel.parameters, assumed, strict=True))


def _used_as_array(usage: Callable[[], Usage], name: str) -> str | None:
    use = next((use for slot, use in usage().uses.items() if slot.name == name and not slot.path), None)
    return (use.rank_why or use.array) if use is not None else None


def _default(node: ast.expr | None, path: str, names: Names) -> Spec | None:
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return constant(node.value)
    known = names.constant(node, path)
    return constant(known.value) if known is not None else None


def _around(kernel: KernelSite, names: Names) -> tuple[ast.FunctionDef, ...]:
    """The functions that a kernel is defined in, outermost first."""
    if not kernel.scope:
        return ()
    tree = names.tree(kernel.path)
    body: list[ast.stmt] = list(tree.body) if tree is not None else []
    found: list[ast.FunctionDef] = []
    for _, name in kernel.scope:
        node = next(
            (n for n in statements(body) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name), None
        )
        if node is None:
            break
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        body = node.body
    return tuple(found)
