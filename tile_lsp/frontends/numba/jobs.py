"""From a kernel in the text to its job specs: every source in its order, and assumptions for what is left."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.python import KernelSite, Workspace
from tile_lsp.frontends.base import JobSpec, Origin, Problem
from tile_lsp.frontends.given import Given, Vocabulary, read_comment, read_settings
from tile_lsp.frontends.names import Names, statements
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.settings import Settings

from . import spec
from .assume import Assumed, Parameter, alternatives, assume
from .decorators import signatures
from .hints import HINTS, check_hint, parse_hint
from .launches import Launched, read_launch
from .targets import check_target
from .usage import Use, read_usage


def job_specs(
    kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
    """One spec for each comment, else for each signature of the decorator, else one; problems of comments and
    settings.
    """
    names = Names.of(workspace)
    words = Vocabulary(
        [parameter.name for parameter in kernel.parameters],
        lambda name, text: spec.canonical(text),
        check_target,
        HINTS,
        lambda name, text: parse_hint(text),
        check_hint,
        bound=_captured(kernel, names),
    )
    uses: dict[str, Use] = {}
    if isinstance(kernel.node, ast.FunctionDef):
        uses = read_usage(kernel.node, kernel.path, names)
    from_settings, problems = read_settings(settings.for_kernel(kernel.qualname, kernel.path), words, kernel.name_span)
    eager = signatures(kernel, names)
    launch = read_launch(kernel, names) if not eager else {}
    found = list(problems)
    given: list[tuple[JobComment | None, Given, tuple[str, ...] | None]] = []
    for comment in comments:
        one, wrong = read_comment(comment, words)
        found.extend(wrong)
        given.append((comment, one, eager[0] if eager else None))
    if not given:
        given = [(None, Given(), signature) for signature in eager] or [(None, Given(), None)]
    specs = [_spec(kernel, comment, (one, from_settings), signature, launch, uses) for comment, one, signature in given]
    return tuple(specs), tuple(sorted(found, key=lambda problem: problem.span))


def _spec(
    kernel: KernelSite,
    comment: JobComment | None,
    sources: tuple[Given, Given],
    signature: tuple[str, ...] | None,
    launch: dict[str, Launched],
    uses: dict[str, Use],
) -> JobSpec:
    parameters = []
    for index, site in enumerate(kernel.parameters):
        name, use = site.name, uses.get(site.name, Use())
        told = launch.get(name)
        annotated = _annotated(site.annotation)
        if name in sources[0].arguments:
            kind = "command line" if name in sources[0].command_line else "comment"
            parameter = Parameter(name, use, sources[0].arguments[name], Origin(kind))
        elif name in sources[1].arguments:
            parameter = Parameter(name, use, sources[1].arguments[name], Origin("settings"))
        elif signature is not None:
            parameter = Parameter(name, use, signature[index], Origin("signature", "of the decorator"))
        elif told is not None and told.spec is not None and spec.is_array(told.spec) >= use.array:
            parameter = Parameter(name, use, told.spec, Origin("launch", told.where))
        elif annotated is not None:
            parameter = Parameter(name, use, annotated, Origin("annotation"))
        else:
            parameter = Parameter(name, use, None, None, told.dtype if told else None, told.rank if told else None)
        parameters.append(parameter)
    first = assume(parameters)
    return JobSpec(
        _arguments(kernel, first),
        tuple(assumed.origin for assumed in first),
        _configs(sources),
        comment,
        tuple(_arguments(kernel, other) for other in alternatives(parameters)),
        tuple(one.spec[1:] for one in first if one.spec.startswith("=")),
    )


def _arguments(kernel: KernelSite, assumed: Sequence[Assumed]) -> tuple[Argument, ...]:
    return tuple(Argument(p.name, one.spec) for p, one in zip(kernel.parameters, assumed, strict=True))


def _configs(sources: tuple[Given, Given]) -> tuple[Config, ...]:
    targets = next((source.targets for source in sources if source.targets), ())
    hints: dict[str, Scalar] = {}
    for source in reversed(sources):
        hints.update(source.hints)
    # Sorted, so that the order in which hints are written makes no other job.
    ordered = tuple(sorted(hints.items()))
    return tuple(Config(target, ordered) for target in targets) or (Config(None, ordered),)


def _annotated(node: ast.expr | None) -> str | None:
    """The type that an annotation names, where it is one of Numba's or Python's."""
    if node is None:
        return None
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
    read = spec.canonical(text) if not isinstance(node, ast.Constant) or isinstance(node.value, str) else None
    return read if isinstance(read, str) else None


def _captured(kernel: KernelSite, names: Names) -> frozenset[str]:
    """Parameters of the functions that a kernel is defined in."""
    tree = names.tree(kernel.path)
    body: list[ast.stmt] = list(tree.body) if tree is not None else []
    found: set[str] = set()
    for _, name in kernel.scope:
        node = next(
            (n for n in statements(body) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name), None
        )
        if node is None:
            break
        if isinstance(node, ast.FunctionDef):
            found |= {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        body = node.body
    return frozenset(found)
