"""Hover: the type first, then what else is known, then the job that it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tile_lsp.analysis.snapshot import ArgumentView, FileView, KernelView, Snapshot, State
from tile_lsp.ide.comment_help import comment_hover
from tile_lsp.ide.jobs import job_label, job_line, state_line, where
from tile_lsp.ide.layouts import layouts_of
from tile_lsp.ide.markup import Block, Code, Items, Markup, Text, code
from tile_lsp.ide.resources import resources_line
from tile_lsp.ide.type_index import Typed, covers, size, typed_on
from tile_lsp.ide.type_listing import column as column_of
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.stage import Stage

_SHOWN = 6
"""At most so many differing types of one expression."""


class Hover(msgspec.Struct, frozen=True):
    markup: Markup
    span: Span


def hover(snapshot: Snapshot, path: str, line: int, column: int) -> Hover | None:
    """What is known at a position (line 1-based, column in UTF-8 bytes), or None."""
    file = snapshot.files.get(path)
    if file is None:
        return None
    if (comment := comment_hover(file, line, column)) is not None:
        markup, span = comment
        return Hover(markup, span)
    for kernel in file.kernels:
        if covers(kernel.name_span, line, column):
            return Hover(_kernel(kernel), kernel.name_span)
    typed = [entry for entry in typed_on(snapshot, path, line) if covers(entry.span, line, column)]
    for kernel in file.kernels:
        for name, span in kernel.parameters:
            if covers(span, line, column):
                inner = [entry for entry in typed if entry.record.kind == "param" and entry.kernel is kernel]
                return Hover(_parameter(kernel, name, inner), span)
    if not typed:
        return None
    span = _call_of(typed) or min((entry.span for entry in typed), key=size)
    return Hover(_expression(file, span, [entry for entry in typed if entry.span == span], snapshot.files), span)


_VALUELESS = ("function ", "module ")
"""What a name stands for that is no value of the kernel: on its own it says less than what is done with it."""


def _call_of(typed: Sequence[Typed]) -> Span | None:
    """On the callee of a call, `ct.mma` or its `ct`: the call, whose type is what one wants to know."""
    inner = min(typed, key=lambda entry: size(entry.span))
    if not inner.record.type.startswith(_VALUELESS):
        return None
    around = [
        entry for entry in typed if entry.span[:2] == inner.span[:2] and not entry.record.type.startswith(_VALUELESS)
    ]
    return min((entry.span for entry in around), key=size, default=None)


def _expression(file: FileView, span: Span, typed: Sequence[Typed], files: Mapping[str, FileView]) -> Markup:
    stores = [entry for entry in typed if entry.record.kind in ("store", "declared")]
    typed = stores or typed
    label = typed[0].record.name or _source(file, span)
    by_meaning: dict[tuple[object, ...], list[Typed]] = {}
    for entry in typed:
        record = entry.record
        by_meaning.setdefault((record.type, record.constant, record.facts), []).append(entry)
    blocks: list[Block] = []
    several = len(by_meaning) > 1
    ways = _Ways(typed, files)
    for entries in list(by_meaning.values())[:_SHOWN]:
        blocks.append(Code(f"{label}: {entries[0].record.type}"))
        details = _details(entries[0])
        if several:
            details = [*ways.of(entries), *details]
        if details:
            blocks.append(Text(" · ".join(details)))
    if len(by_meaning) > _SHOWN:
        blocks.append(Text(f"and {len(by_meaning) - _SHOWN} more"))
    kernels = _distinct_kernels(typed)
    blocks += _layouts(typed)
    if not several:
        callers = ways.of(typed)
        if callers and typed[0].callers():
            blocks.append(Text(" · ".join(callers)))
    blocks += _footer(kernels)
    return Markup(tuple(blocks))


def _layouts(typed: Sequence[Typed]) -> list[Block]:
    """How the values of a name lie over threads, for the jobs whose code says so."""
    found: dict[tuple[str, str, str], None] = {}
    for entry in typed:
        job, name = entry.kernel.job, entry.record.name
        artifact = job.artifacts.get(Stage.TTGIR) if job is not None else None
        if artifact is not None and name is not None and entry.record.type.startswith(("tensor", "shared")):
            found.update(dict.fromkeys(layouts_of(artifact, name, entry.record.chain[0], entry.record.type)))
    lines = []
    for alias, text, words in list(found)[:_SHOWN]:
        lines.append(f"layout {code(alias)}: {code(text)}" if text else f"layout {code(alias)}")
        lines += [words] if words else []
    return [Text("\n".join(lines))] if lines else []


def _details(entry: Typed) -> list[str]:
    record = entry.record
    details = [f"constant {code(record.constant)}"] if record.constant is not None else []
    return details + [f"{name} {code(value)}" for name, value in record.facts]


class _Ways:
    """By which callers a helper's records are reached: `"in `matmul`, called at matmul.py:32"`.

    Where there are several, the instantiation of a template is named (``as `scaled<float>` in `matmul` ``), else calls
    that share a line have their columns.
    """

    def __init__(self, typed: Sequence[Typed], files: Mapping[str, FileView]) -> None:
        self._files = files
        self._named = len({entry.record.scope for entry in typed}) > 1
        calls = {place for entry in typed for place in entry.callers()} if not self._named else ()
        lines = [(place.path, place.span.line) for place in calls]
        self._shared = {line for line in lines if lines.count(line) > 1}

    def of(self, entries: Sequence[Typed]) -> list[str]:
        lines: dict[str, None] = {}
        for entry in entries:
            callers = entry.callers()
            text = f"in `{entry.kernel.name}`"
            if self._named and entry.record.scope:
                text = f"as `{entry.record.scope}` {text}"
            if callers:
                text += ", called at " + " ← ".join(self._where(place, entry.kernel.cells) for place in callers)
            lines[text] = None
        shown = list(lines)
        return shown[:_SHOWN] + ([f"and {len(shown) - _SHOWN} more callers"] if len(shown) > _SHOWN else [])

    def _where(self, place: SourceRange, cells: Sequence[int]) -> str:
        text = where(place, cells)
        return f"{text}:{column_of(place, self._files)}" if (place.path, place.span.line) in self._shared else text


def _distinct_kernels(typed: Sequence[Typed]) -> list[KernelView]:
    return list({(entry.kernel.path, entry.kernel.name): entry.kernel for entry in typed}.values())


def _footer(kernels: Sequence[KernelView]) -> list[Block]:
    lines = []
    for kernel in kernels[:_SHOWN]:
        line = job_line(kernel)
        if kernel.state is not State.FRESH and (state := state_line(kernel)):
            line += f" ({state})"
        lines.append(line)
    return [Text("\n".join(lines))]


def _parameter(kernel: KernelView, name: str, typed: Sequence[Typed]) -> Markup:
    argument = _argument(kernel, name)
    record = typed[0].record if typed else None
    spec = record.type if record else argument.argument.spec if argument else "unknown"
    blocks: list[Block] = [Code(f"{name}: {spec}")]
    if typed and (details := _details(typed[0])):
        blocks.append(Text(" · ".join(details)))
    if argument:
        blocks.append(Text(f"{code(f'{name}={argument.argument.spec}')}, {_origin(argument)}"))
    return Markup((*blocks, *_footer([kernel])))


def _argument(kernel: KernelView, name: str) -> ArgumentView | None:
    arguments = kernel.job.arguments if kernel.job else ()
    return next((argument for argument in arguments if argument.argument.name == name), None)


def _origin(argument: ArgumentView) -> str:
    origin = {
        "comment": "from the comment",
        "settings": "from the settings",
        "recorded": "from a recorded launch",
        "launch": "from a launch",
        "default": "from the default",
        "annotation": "from the annotation",
        "assumed": "assumed",
        "command line": "from the command line",
    }.get(argument.origin, argument.origin)
    return f"{origin} ({argument.detail})" if argument.detail else origin


def _kernel(kernel: KernelView) -> Markup:
    blocks: list[Block] = []
    view = kernel.job
    if view is None:
        blocks.append(Code(f"kernel {kernel.name}({', '.join(name for name, _ in kernel.parameters)})"))
    elif view.arguments:
        rows = [(f"{item.argument.name}: {item.argument.spec}", _origin(item)) for item in view.arguments]
        width = max(len(left) for left, _ in rows)
        inner = "\n".join(f"    {left + ',':<{width + 1}}  # {right}" for left, right in rows)
        blocks.append(Code(f"kernel {kernel.name}(\n{inner}\n)"))
    else:
        blocks.append(Code(f"kernel {kernel.name}()"))
    if configs := _configs(kernel):
        blocks.append(Items(configs))
    if state := state_line(kernel):
        blocks.append(Text(state))
    faults = [*kernel.faults, *(kernel.inference.faults if kernel.inference else ())]
    messages = dict.fromkeys(fault.message + (f"\n{fault.help}" if fault.help else "") for fault in faults)
    blocks += [Text(message) for message in messages]
    if notes := tuple(dict.fromkeys(note.message for note in kernel.notes)):
        blocks.append(Items(notes))
    return Markup(tuple(blocks))


def _configs(kernel: KernelView) -> tuple[str, ...]:
    """One line for each job: its config, what it costs, what went wrong."""
    rows = []
    for index, view in enumerate(kernel.jobs):
        parts = [job_label(view) + (" (active)" if index == kernel.active and len(kernel.jobs) > 1 else "")]
        if resources := resources_line(view):
            parts.append(resources)
        parts += [fault.message.splitlines()[0] for fault in view.faults if fault.message]
        rows.append(": ".join(parts))
    return tuple(rows)


def _source(file: FileView, span: Span) -> str:
    """The text of a span, on one line, shortened."""
    lines = file.lines[span.line - 1 : span.end_line]
    if not lines:
        return "expression"
    data = [line.encode() for line in lines]
    data[-1] = data[-1][: span.end_column]
    data[0] = data[0][span.column :]
    text = " ".join(" ".join(part.decode(errors="replace").split()) for part in data).strip()
    return text if len(text) <= 60 else text[:59] + "…"
