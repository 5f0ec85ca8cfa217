"""From a kernel in the text to its job specs: every source in its order, and assumptions for what is left."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import msgspec

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.python import KernelSite, Workspace
from tile_lsp.frontends.base import JobSpec, Origin, Problem, Readings
from tile_lsp.frontends.given import Given, read_comment, read_settings
from tile_lsp.frontends.names import Names
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Argument, Config, Scalar
from tile_lsp.model.outcome import Fault
from tile_lsp.model.settings import Settings

from . import spec
from .assume import GUESSES, Assumed, Parameter, alternatives, assume
from .configs import TunedConfig, Tuning, read_tuning
from .launches import Launch, read_launch
from .mend import mended
from .meta import read_meta
from .signature import vocabulary
from .usage import read_usage
from .use import Usage


def job_specs(
    kernel: KernelSite, workspace: Workspace, comments: Sequence[JobComment], settings: Settings
) -> tuple[tuple[JobSpec, ...], tuple[Problem, ...]]:
    """A spec for each comment and each of the autotuner's configs, at least one; problems of comments and settings."""
    names = Names.of(workspace)
    path = kernel.path
    constants = frozenset(p.name for p in kernel.parameters if _is_constexpr(p.annotation, names, path))
    words = vocabulary([p.name for p in kernel.parameters], constants, frozenset(_captured(kernel, names)))
    from_settings, problems = read_settings(settings.for_kernel(kernel.qualname, path), words, kernel.name_span)
    tuning = read_tuning(kernel, names)
    found = list(problems)
    given: list[tuple[JobComment | None, Given]] = []
    for comment in comments:
        one, wrong = read_comment(comment, words)
        found.extend(wrong)
        given.append((comment, one))
    wanted = {parameter.name for parameter in kernel.parameters}
    complete = bool(given) and all(wanted <= one.arguments.keys() for _, one in given)
    launch = read_launch(kernel, constants, names, hints_only=complete)
    usage = Usage({})
    if not complete and isinstance(kernel.node, ast.FunctionDef):
        usage = read_usage(kernel.node, path, names)
    specs: list[JobSpec] = []
    seen: set[object] = set()
    for comment, one in given or [(None, Given())]:
        configs = _configs_for(tuning, one)
        for index, config in enumerate(configs):
            source = _Sources(kernel, (one, from_settings), tuning, config, index, launch, names, constants)
            made = _spec(source, comment, usage, tuned=len(configs) > 1)
            key = (made.arguments, made.configs)
            if key not in seen:
                seen.add(key)
                specs.append(made)
    return tuple(specs), tuple(sorted(found, key=lambda problem: problem.span))


def _configs_for(tuning: Tuning, given: Given) -> tuple[TunedConfig | None, ...]:
    """All configs; the first one where a comment says itself what a config would."""
    if not tuning.configs:
        return (None,)
    named = {name for config in tuning.configs for name in (*config.arguments, "num_warps", "num_stages")}
    if named & {*given.arguments, *given.hints}:
        return tuning.configs[:1]
    return tuning.configs


class _Sources:
    """What there is to take arguments from, strongest first."""

    def __init__(
        self,
        kernel: KernelSite,
        given: tuple[Given, Given],
        tuning: Tuning,
        config: TunedConfig | None,
        index: int,
        launch: Launch | None,
        names: Names,
        constants: frozenset[str],
    ) -> None:
        self.kernel = kernel
        self.given = given
        self.tuning = tuning
        self.config = config
        self.index = index
        self.launch = launch
        self.names = names
        self.constants = constants
        self.meta = read_meta(kernel, constants)

    def parameter(self, name: str, default: ast.expr | None, annotation: ast.expr | None) -> Parameter:
        constexpr = name in self.constants
        comment, settings = self.given
        plain = Parameter(
            name,
            constexpr,
            default=self._default(default),
            annotated=None if constexpr else _annotated(annotation),
            optional=name in self.tuning.optional,
            block=self._block(name),
        )
        if name in comment.arguments:
            kind = "command line" if name in comment.command_line else "comment"
            return _with(plain, comment.arguments[name], Origin(kind))
        if name in settings.arguments:
            return _with(plain, settings.arguments[name], Origin("settings"))
        if name in self.meta:
            return _with(plain, self.meta[name], Origin("annotation", "triton_meta"))
        if self.config is not None and name in self.config.arguments:
            which = f"config {self.index + 1} of {self.tuning.total}"
            pruned = ", before pruning" if self.tuning.pruned else ""
            return _with(plain, self.config.arguments[name], Origin("autotune", which + pruned))
        if name in self.tuning.heuristics:
            return _with(plain, spec.AUTO, Origin("heuristics", "computed from the other arguments"))
        if self.launch is not None and name in self.launch.arguments:
            return _with(plain, self.launch.arguments[name], Origin("launch", self.launch.where))
        unread = self.tuning.unread if self.config is None else None
        if unread is not None and constexpr:
            return msgspec.structs.replace(plain, tuned=unread)
        return plain

    def _block(self, name: str) -> tuple[int, ...]:
        """What the launch says of a tensor descriptor."""
        return (self.launch.blocks if self.launch is not None else {}).get(name, ())

    def _default(self, node: ast.expr | None) -> str | None:
        if node is None:
            return None
        if isinstance(node, ast.Constant):
            return spec.literal(node.value)
        known = self.names.constant(node, self.kernel.path)
        if known is not None:
            return spec.literal(known.value)
        return f"={ast.unparse(node).replace(', ', ',')}"

    def configs(self) -> tuple[Config, ...]:
        """A config for each target."""
        comment, settings = self.given
        hints: dict[str, Scalar] = {}
        for source in (
            settings.hints,
            self.launch.hints if self.launch is not None else {},
            self.config.hints if self.config is not None else {},
            comment.hints,
        ):
            hints.update(source)
        # Sorted, so that the order in which options are written makes no other job.
        ordered = tuple(sorted(hints.items()))
        chosen = comment.targets or settings.targets
        return tuple(Config(target, ordered) for target in chosen) or (Config(None, ordered),)


def _with(parameter: Parameter, text: str, origin: Origin) -> Parameter:
    return msgspec.structs.replace(parameter, given=text, origin=origin)


def _spec(source: _Sources, comment: JobComment | None, usage: Usage, *, tuned: bool) -> JobSpec:
    parameters = [source.parameter(p.name, p.default, p.annotation) for p in source.kernel.parameters]
    configs = source.configs()
    warps = dict(configs[0].hints).get("num_warps", 4)
    warps = warps if isinstance(warps, int) and warps > 0 else 4
    blocks = source.config.blocks if source.config is not None else None
    first = assume(parameters, usage, GUESSES[0], warps, blocks)

    def others() -> Iterator[tuple[Argument, ...]]:
        return (_arguments(parameters, other) for other in alternatives(parameters, usage, warps, blocks))

    def after(closure: Closure, arguments: Sequence[Argument], fault: Fault) -> Iterator[tuple[Argument, ...]]:
        for specs in mended(parameters, usage, closure, [argument.spec for argument in arguments], fault):
            yield tuple(Argument(p.name, text) for p, text in zip(parameters, specs, strict=True))

    return JobSpec(
        _arguments(parameters, first),
        tuple(assumed.origin for assumed in first),
        configs,
        comment,
        # Not compared: what a config's hook sets, which the kernel's own text says.
        Readings((parameters, usage, warps), others, after),
        tuple(one.spec[1:] for one in first if one.spec.startswith("=") and one.origin.kind != "assumed"),
        tuned,
    )


def _arguments(parameters: Sequence[Parameter], assumed: Sequence[Assumed]) -> tuple[Argument, ...]:
    return tuple(Argument(p.name, one.spec) for p, one in zip(parameters, assumed, strict=True))


def _is_constexpr(annotation: ast.expr | None, names: Names, path: str) -> bool:
    """As triton itself looks for it: the word in the annotation's text, or the class by whatever name."""
    if annotation is None or "constexpr" in ast.unparse(annotation):
        return annotation is not None
    return (names.dotted(annotation, path) or "").endswith(".constexpr")


def _annotated(annotation: ast.expr | None) -> str | None:
    """The spec of an annotation that is a type: `"*fp32"`, `tl.int32`, `int`."""
    if annotation is None:
        return None
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    if not isinstance(text, str):
        return None
    # `bool` and `float` are what a launch makes of them anyway.
    made = spec.canonical(text.removeprefix("tl.").removeprefix("gl."), "", constexpr=False)
    return made if isinstance(made, str) and made[0] not in "=('\"" and not made[0].isdigit() else None


def _captured(kernel: KernelSite, names: Names) -> list[str]:
    """Parameters of the functions that a kernel is defined in."""
    wanted = {name for kind, name in kernel.scope if kind == "function"}
    tree = names.tree(kernel.path) if wanted else None
    found: list[str] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name in wanted:
            found += [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
    return found
