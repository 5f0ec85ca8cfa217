"""Diagnostics: faults at exact ranges with their call chain, problems of the text, and remarks where asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from tile_lsp.analysis.snapshot import JobView, KernelView, ProblemView, Snapshot
from tile_lsp.ide.fault_places import argument_place, fault_places
from tile_lsp.ide.jobs import job_label
from tile_lsp.model.location import Chain, SourceRange, Span
from tile_lsp.model.outcome import Fault, Remark, Severity
from tile_lsp.model.stage import Stage

_CONFIG = " for "
"""Between a kernel and the config that a fault is peculiar to."""
_INACTIVE = "Ruled out by the constants of the active job: nothing is generated for it."


class Related(msgspec.Struct, frozen=True):
    place: SourceRange
    message: str


class Diagnostic(msgspec.Struct, frozen=True):
    span: Span
    message: str
    severity: Severity
    code: str | None = None
    related: tuple[Related, ...] = ()
    unnecessary: bool = False
    """Code that comes to nothing: editors fade it."""


def diagnostics(
    snapshot: Snapshot, *, remarks: bool = False, llvm_remarks: bool = False
) -> dict[str, tuple[Diagnostic, ...]]:
    """All diagnostics of the workspace by path: an error in a helper stands in the helper's file."""
    found: dict[str, list[Diagnostic]] = {path: [] for path in snapshot.files}
    for path, file in snapshot.files.items():
        for item in file.problems:
            related = (Related(item.written.place, "written here"),) if item.written is not None else ()
            found[path].append(Diagnostic(item.span, item.message, item.severity, item.code, related))
    merged: dict[tuple[object, ...], tuple[SourceRange, Diagnostic, list[str]]] = {}
    for kernel in snapshot.kernels():
        for place, diagnostic, owner in _of_kernel(kernel, remarks=remarks, llvm=llvm_remarks):
            key = (place.path, diagnostic.span, diagnostic.message, diagnostic.severity)
            _, _, owners = merged.setdefault(key, (place, diagnostic, []))
            if owner not in owners:
                owners.append(owner)
    for place, diagnostic, owners in merged.values():
        if len(owners) > 1 or _CONFIG in owners[0]:
            diagnostic = msgspec.structs.replace(diagnostic, message=f"{diagnostic.message}\n[in {', '.join(owners)}]")
        found.setdefault(place.path, []).append(diagnostic)
    for place in _inactive(snapshot):
        found.setdefault(place.path, []).append(
            Diagnostic(place.span, _INACTIVE, Severity.HINT, "inactive", unnecessary=True)
        )
    for place, diagnostic in _of_settings(snapshot):
        found.setdefault(place.path, []).append(diagnostic)
    return {path: tuple(sorted(items, key=lambda item: item.span)) for path, items in found.items()}


def _of_settings(snapshot: Snapshot) -> Iterator[tuple[SourceRange, Diagnostic]]:
    """What kernels find wrong with settings, each once, where it is written."""
    kernels: dict[tuple[SourceRange, str], dict[Related, ProblemView]] = {}
    for path, file in snapshot.files.items():
        for item in file.problems:
            if item.written is not None:
                owners = kernels.setdefault((item.written.place, item.written.message), {})
                owners[Related(SourceRange(path, item.span), "of this kernel")] = item
    for (place, message), owners in kernels.items():
        first = next(iter(owners.values()))
        yield place, Diagnostic(place.span, message, first.severity, "settings", tuple(owners))


def _inactive(snapshot: Snapshot) -> list[SourceRange]:
    """What the constants of every kernel that reaches it rule out."""
    ruled_out: dict[SourceRange, int] = {}
    reaching: dict[str, int] = {}
    members: dict[SourceRange, str] = {}
    for kernel in snapshot.kernels():
        if kernel.inference is None:
            continue
        for member in kernel.inference.reached:
            reaching[member] = reaching.get(member, 0) + 1
        for place in kernel.inference.inactive:
            source = kernel.positions.resolve(place)
            if source is not None:
                ruled_out[source] = ruled_out.get(source, 0) + 1
                members[source] = place.member
    return [source for source, count in ruled_out.items() if count >= reaching.get(members[source], 1)]


def _of_kernel(kernel: KernelView, *, remarks: bool, llvm: bool) -> Iterator[tuple[SourceRange, Diagnostic, str]]:
    faults = dict.fromkeys((*kernel.faults, *(kernel.inference.faults if kernel.inference else ())))
    for fault in faults:
        yield from ((*found, kernel.name) for found in _fault(kernel, fault))
    for remark in kernel.inference.remarks if remarks and kernel.inference else ():
        yield *_remark(kernel, remark), kernel.name
    for view in kernel.jobs:
        for fault in view.faults:
            if fault not in faults or fault_places(kernel, fault, view) != fault_places(kernel, fault):
                yield from ((*found, _owner(kernel, view)) for found in _fault(kernel, fault, view))
        if remarks:
            yield from _remarks(kernel, view, Stage.REMARKS)
        if llvm:
            yield from _remarks(kernel, view, Stage.LLVM_REMARKS)


def _fault(kernel: KernelView, fault: Fault, job: JobView | None = None) -> Iterator[tuple[SourceRange, Diagnostic]]:
    for one in fault.each:
        yield from _one_fault(kernel, one, job)


def _one_fault(kernel: KernelView, fault: Fault, job: JobView | None) -> Iterator[tuple[SourceRange, Diagnostic]]:
    place, related = _located(kernel, fault_places(kernel, fault, job))
    message = fault.message if not fault.help else f"{fault.message}\n{fault.help}"
    severity = fault.severity
    yield place, Diagnostic(place.span, message, severity, fault.code, related)
    if place == argument_place(kernel, fault, job) and place.path != kernel.path:
        # A settings file is not what the kernel's author looks at.
        here = SourceRange(kernel.path, kernel.name_span)
        yield here, Diagnostic(here.span, message, severity, fault.code, (Related(place, "written here"),))


def _remarks(kernel: KernelView, view: JobView, stage: Stage) -> Iterator[tuple[SourceRange, Diagnostic, str]]:
    artifact = view.artifacts.get(stage)
    said = kernel.inference.remarks if kernel.inference else ()
    for remark in artifact.remarks if artifact else ():
        if remark not in said:
            yield *_remark(kernel, remark), _owner(kernel, view)


def _remark(kernel: KernelView, remark: Remark) -> tuple[SourceRange, Diagnostic]:
    place, related = _locate(kernel, remark.chain)
    return place, Diagnostic(place.span, remark.message, remark.severity, remark.code, related)


def _owner(kernel: KernelView, view: JobView) -> str:
    """Whose: with the config, where there are others."""
    return kernel.name if len(kernel.jobs) == 1 else f"{kernel.name}{_CONFIG}{job_label(view)}"


def _locate(kernel: KernelView, chain: Chain) -> tuple[SourceRange, tuple[Related, ...]]:
    """The innermost place that is in the workspace, and its callers; the kernel's name where there is none."""
    return _located(kernel, kernel.positions.chain(chain) if chain else ())


def _located(kernel: KernelView, places: Sequence[SourceRange]) -> tuple[SourceRange, tuple[Related, ...]]:
    if not places:
        return SourceRange(kernel.path, kernel.name_span), ()
    return places[0], tuple(Related(place, "called from here") for place in places[1:])
