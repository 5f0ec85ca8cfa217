"""Code actions for the kernel under the cursor: each stage, assumptions to pin, the command line, the settings."""

from __future__ import annotations

import shlex

import msgspec

from tile_lsp.analysis.comments import JobComment
from tile_lsp.analysis.snapshot import FileView, JobView, KernelView, Snapshot
from tile_lsp.frontends import FRONTENDS
from tile_lsp.ide.comment_help import comments_above
from tile_lsp.ide.jobs import arguments_line, assumed
from tile_lsp.ide.kernels import kernels_at
from tile_lsp.ide.stages import FORMATS, machine_code, stages_of
from tile_lsp.model.job import Job
from tile_lsp.model.location import Span
from tile_lsp.model.outcome import FaultKind
from tile_lsp.model.stage import Stage

_MANY = 4
"""A helper that more kernels inline offers only the first ones."""


class Edit(msgspec.Struct, frozen=True):
    path: str
    span: Span
    text: str


class Command(msgspec.Struct, frozen=True):
    name: str
    """`tile.show`, `tile.copyCommandLine`, …"""
    path: str
    kernel: str
    stage: Stage | None = None


class CodeAction(msgspec.Struct, frozen=True):
    title: str
    kind: str
    command: Command | None = None
    edit: Edit | None = None


def code_actions(snapshot: Snapshot, path: str, first: int, last: int) -> tuple[CodeAction, ...]:
    """Actions for lines `first` to `last` (1-based, inclusive)."""
    kernels = kernels_at(snapshot, path, first, last)[:_MANY]
    actions = [_retry(kernel) for kernel in kernels if _may_be_mended(kernel)][:1]
    for kernel in kernels:
        actions += _show(kernel)
    for kernel in kernels:
        file = snapshot.files.get(kernel.path)
        if file is not None and (edit := pin_edit(file, kernel)) is not None:
            actions.append(CodeAction(f"Pin the assumed arguments of {kernel.name}", "source.tile.pin", edit=edit))
        if len(kernel.jobs) > 1:
            actions.append(_command(kernel, "tile.selectJob", f"Select the configuration of {kernel.name}", "select"))
        if kernel.job is not None:
            actions.append(
                _command(
                    kernel,
                    "tile.copyCommandLine",
                    f"Command line for {kernel.name}",
                    "commandLine",
                    machine_code(kernel),
                )
            )
    if kernels:
        actions.append(_command(kernels[0], "tile.openSettings", "Open the settings of tile-lsp", "settings"))
    return tuple(actions)


def _may_be_mended(kernel: KernelView) -> bool:
    """True where something outside of the text was in the way, which nobody tells when it is there."""
    faults = (*kernel.faults, *(kernel.job.faults if kernel.job is not None else ()))
    return any(fault.kind is FaultKind.ENVIRONMENT and fault.code != "untrusted" for fault in faults)


def _retry(kernel: KernelView) -> CodeAction:
    title = f"Try again to compile {kernel.name}, now that what was missing is there"
    return CodeAction(title, "quickfix", Command("tile.retry", kernel.path, kernel.name))


def _show(kernel: KernelView) -> list[CodeAction]:
    return [
        _command(kernel, "tile.show", f"Show {FORMATS[stage].title} of {kernel.name}", stage.value, stage)
        for stage in stages_of(kernel, kernel.job)
    ]


def _command(kernel: KernelView, name: str, title: str, kind: str, stage: Stage | None = None) -> CodeAction:
    return CodeAction(title, f"source.tile.{kind}", Command(name, kernel.path, kernel.name, stage))


def pin_edit(file: FileView, kernel: KernelView) -> Edit | None:
    """The edit that writes what the active job assumes above the kernel; None where it assumes nothing.

    Target and hints stay where they come from: only arguments are pinned.
    """
    view = kernel.job
    if view is None or not (guesses := assumed(view)):
        return None
    if (comment := _comment_of(file, kernel, view)) is not None:
        end = comment.items[-1].value_span
        words = "".join(f" {argument.argument.name}={argument.argument.spec}" for argument in guesses)
        return Edit(kernel.path, Span(end.end_line, end.end_column, end.end_line, end.end_column), words)
    line = kernel.span.line
    text = file.lines[line - 1] if line <= len(file.lines) else ""
    indent = text[: len(text) - len(text.lstrip())]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    leader = next((other.comment for other in FRONTENDS if other.name == kernel.frontend), "#")
    return Edit(kernel.path, Span(line, 0, line, 0), f"{indent}{leader} tile-lsp: {arguments_line(view.job)}{newline}")


def _comment_of(file: FileView, kernel: KernelView, view: JobView) -> JobComment | None:
    """The comment that a job comes from: the first that gives just those arguments that come from a comment."""
    parameters = {name for name, _ in kernel.parameters}
    given = {argument.argument.name for argument in view.arguments if argument.origin == "comment"}
    for comment in comments_above(file, kernel.span.line):
        names = {item.name for item in comment.items}
        if comment.items and names & parameters == given:
            return comment
    return None


def command_line(path: str, kernel: str, job: Job, stage: Stage) -> str:
    """The shell command that prints a view."""
    words = ["tile-lsp", "show", stage.value, f"{path}::{kernel}"]
    for argument in job.arguments:
        words += ["--arg", f"{argument.name}={argument.spec}"]
    if job.config.target:
        words += ["--target", job.config.target]
    for name, value in job.config.hints:
        words += ["--hint", f"{name}={value}"]
    return shlex.join(words)
