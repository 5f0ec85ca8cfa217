"""From a kernel in the text to its job specs: every source in its order, and assumptions for what is left."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.cuda import KernelSite, TemplateParameter, Workspace
from tile_lsp.frontends.base import JobSpec, Origin, Problem
from tile_lsp.frontends.given import Given, read_comment, read_settings
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.settings import Settings

from .callables import is_called, is_passed
from .hints import check_hint
from .launches import Launch, read_launches
from .signature import vocabulary
from .targets import check_target

_TYPES = ("float", "int", "double", "unsigned int", "float4", "__half")
#: The driver has a stand-in of this name, for lambdas and functors that nothing names.
UNKNOWN = "unknown_callable"
#: What a number in a template is likely to be, by its name.
_NUMBERS = (
    (re.compile(r"warp", re.I), "32"),
    (re.compile(r"tile|width|height|dim|radius", re.I), "16"),
    (re.compile(r"vec|unroll|item|per|rank|stage", re.I), "4"),
    (re.compile(r"block|thread|size|bins?$", re.I), "256"),
)


def job_specs(
    kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
    """One spec for each comment, else for each launch and explicit instantiation; else one, all of it assumed."""
    names = [] if kernel.specialised else [parameter.name for parameter in kernel.template]
    others = [parameter.name for parameter in kernel.arguments]
    words = vocabulary(names, others)
    from_settings, _ = read_settings(settings.for_kernel(kernel.qualname, kernel.path), words, kernel.name_span)
    launches = read_launches(kernel, workspace) if names else ()
    problems: list[Problem] = []
    given: list[tuple[JobComment | None, Given, Launch | None]] = []
    for comment in comments:
        one, wrong = read_comment(comment, words)
        problems += wrong
        given.append((comment, one, launches[0] if launches else None))
    if not given:
        given = [(None, Given(), launch) for launch in launches or (None,)]
    project = _project(workspace)
    specs = [
        _spec(kernel, workspace, names, comment, one, from_settings, project, launch) for comment, one, launch in given
    ]
    return tuple(specs), tuple(sorted(problems, key=lambda problem: problem.span))


def _project(workspace: Workspace) -> Given:
    """What the build system says."""
    options = workspace.options
    hints = {name: value for name, value in options.hints if check_hint(name, value) is None}
    if options.standard and check_hint("std", options.standard.replace("gnu", "c")) is None:
        hints["std"] = options.standard.replace("gnu", "c")
    if options.extra:
        hints["options"] = ",".join(options.extra)
    return Given({}, tuple(target for target in options.targets if check_target(target) is None), hints)


def _spec(
    kernel: KernelSite,
    workspace: Workspace,
    names: Sequence[str],
    comment: JobComment | None,
    own: Given,
    from_settings: Given,
    project: Given,
    launch: Launch | None,
) -> JobSpec:
    arguments: list[Argument] = []
    origins: list[Origin] = []
    for parameter in kernel.template if names else ():
        name = parameter.name
        if name in own.arguments:
            origin = Origin("command line" if name in own.command_line else "comment")
            spec = own.arguments[name]
        elif name in from_settings.arguments:
            spec, origin = from_settings.arguments[name], Origin("settings")
        elif launch is not None and name in launch.arguments:
            spec, origin = launch.arguments[name], Origin(launch.kind, launch.where)
        elif parameter.pack:
            continue
        elif parameter.default is not None:
            spec, origin = parameter.default, Origin("default")
        elif is_called(kernel, parameter, workspace):
            spec, origin = UNKNOWN, Origin("assumed", "it is called, and nothing says what it is")
        else:
            spec, origin = _assumed(parameter), Origin("assumed", f"it is a {parameter.kind}")
        arguments.append(Argument(name, spec))
        origins.append(origin)
    made = tuple(arguments)
    return JobSpec(
        made,
        tuple(origins),
        _configs((own, from_settings, project)),
        comment,
        tuple(_alternatives(kernel, made, origins)),
        tuple(argument.spec for argument in made),
    )


def _assumed(parameter: TemplateParameter) -> str:
    if parameter.kind == "typename":
        return "float"
    if parameter.kind == "bool":
        return "true"
    for pattern, value in _NUMBERS:
        if pattern.search(parameter.name):
            return value
    return "16"


def _alternatives(
    kernel: KernelSite, arguments: tuple[Argument, ...], origins: Sequence[Origin]
) -> list[tuple[Argument, ...]]:
    kinds = {parameter.name: parameter.kind for parameter in kernel.template}
    guessed = {
        a.name
        for a, o in zip(arguments, origins, strict=True)
        if o.kind == "assumed" and kinds[a.name] == "typename" and a.spec != UNKNOWN
    }
    if not guessed:
        return []
    alike = [tuple(Argument(a.name, other) if a.name in guessed else a for a in arguments) for other in _TYPES[1:]]
    passed = {parameter.name for parameter in kernel.template if is_passed(kernel, parameter)} & guessed
    if passed:
        # What it is given to may call it.
        alike.insert(0, tuple(Argument(a.name, UNKNOWN) if a.name in passed else a for a in arguments))
    return alike


def _configs(sources: Sequence[Given]) -> tuple[Config, ...]:
    targets = next((source.targets for source in sources if source.targets), ())
    hints: dict[str, Scalar] = {}
    for source in reversed(sources):
        hints.update(source.hints)
    # Sorted, so that the order in which hints are written makes no other job.
    ordered = tuple(sorted(hints.items()))
    return tuple(Config(target, ordered) for target in targets) or (Config(None, ordered),)
