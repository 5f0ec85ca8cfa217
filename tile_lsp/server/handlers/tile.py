"""The custom requests, `tile/…`, and the notification `tile/statusChanged`."""

from __future__ import annotations

import asyncio
import functools

from pygls.exceptions import JsonRpcInvalidParams

from tile_lsp import __version__
from tile_lsp.analysis.snapshot import JobView, KernelView, State
from tile_lsp.engine.events import KernelChanged, SessionEvent
from tile_lsp.ide.fault_words import in_one_line
from tile_lsp.ide.jobs import config_label, job_label
from tile_lsp.ide.kernels import kernel_named
from tile_lsp.ide.resources import resources_line
from tile_lsp.ide.stages import FORMATS, stages_of
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.outcome import FaultKind
from tile_lsp.model.stage import Stage
from tile_lsp.server import requests as wire
from tile_lsp.server import uris
from tile_lsp.server.lsp import types
from tile_lsp.server.server import SettingsRead, TileServer

_DELAY = 0.1
"""Seconds: at most so often is a status bar told anything."""


def register(server: TileServer) -> None:
    status = _Status(server)
    server.listen(status.hear)
    server.listen(_Kernels(server).hear)

    @server.feature("tile/jobs")
    async def jobs(params: wire.JobsParams) -> wire.JobsResult:
        path = server.path(params.text_document.uri) if params.text_document is not None else None
        await server.analysed(path)
        kernels = server.snapshot.kernels()
        if params.text_document is not None:
            kernels = tuple(kernel for kernel in kernels if kernel.path == path)
        return wire.JobsResult(tuple(_kernel(server, kernel) for kernel in kernels))

    @server.feature("tile/document")
    async def document(params: wire.DocumentParams) -> wire.DocumentResult:
        address = address_of(server, params)
        made = await server.documents.make(address)
        # Thousands of instructions come from some hundred places.
        locations = functools.cache(lambda link: tuple(location_of(server, place) for place in link))
        lines = tuple(tuple(map(locations, links)) for links in made.links)
        return wire.DocumentResult(
            uri=uris.to_tile_uri(address),
            source=source_of(server, address),
            language_id=made.language,
            kernel=address.kernel,
            stage=address.stage.value,
            text=made.text,
            stale=made.stale,
            job=made.job.to_token() if made.job is not None else address.job,
            label=config_label(made.job.config) if made.job is not None else "",
            pinned=address.job is not None,
            state=made.state.value,
            problems=made.problems,
            lines=lines,
        )

    @server.feature("tile/stats")
    def stats(params: wire.StatsParams) -> wire.StatsResult:
        found = server.stats()
        return wire.StatsResult(
            inferences=found.inferences,
            codegens=found.codegens,
            tools=found.tools,
            store={"hits": found.store.hits, "misses": found.store.misses},
            running=found.running,
            loads=found.loads,
        )

    @server.feature("tile/selectJob")
    def select_job(params: wire.SelectJobParams) -> wire.SelectJobResult:
        path = server.path(params.text_document.uri) or ""
        kernel = kernel_named(server.snapshot, path, params.kernel)
        if kernel is None:
            raise JsonRpcInvalidParams(f"no kernel {params.kernel}")
        if not 0 <= params.index < len(kernel.jobs):
            raise JsonRpcInvalidParams(f"{kernel.name} has {len(kernel.jobs)} jobs; there is no job {params.index}")
        session = server.session_of(path)
        assert session is not None, "there is a kernel"
        session.select_job(path, params.kernel, params.index)
        return wire.SelectJobResult(_kernel(server, kernel_named(server.snapshot, path, params.kernel) or kernel))

    @server.feature("tile/status")
    def tile_status(params: wire.StatusParams) -> wire.StatusResult:
        return status.result()


class _Status:
    """What a status bar shows, and its changes for clients that want to hear of them."""

    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._said: wire.StatusResult | None = None
        self._timer: asyncio.TimerHandle | None = None

    def result(self) -> wire.StatusResult:
        server = self._server
        snapshot = server.snapshot
        running = server.stats().running
        waiting = sorted(frozenset().union(*(session.waiting for session in server.folders.sessions)))
        busy = bool(running or waiting) or any(kernel.state is State.COMPILING for kernel in snapshot.kernels())
        problems = dict.fromkeys(
            in_one_line(fault)
            for kernel in snapshot.kernels()
            for fault in kernel.faults
            if fault.kind is FaultKind.ENVIRONMENT
        )
        return wire.StatusResult(
            state="busy" if busy else "idle",
            running=running,
            title=f"waiting for {', '.join(waiting)} to start" if waiting else "compiling kernels" if busy else "",
            trusted=snapshot.trusted,
            kernels=len(snapshot.kernels()),
            problems=tuple(problems),
            version=__version__,
        )

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if self._server.options.status and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._say)

    def _say(self) -> None:
        self._timer = None
        if not self._server.alive:
            return
        result = self.result()
        if result != self._said:
            self._said = result
            self._server.protocol.notify(wire.STATUS_CHANGED, result)


class _Kernels:
    """Says whose kernels changed, once for many changes."""

    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._paths: set[str] = set()

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if not self._server.options.status or not isinstance(event, KernelChanged):
            return
        if not self._paths:
            asyncio.get_running_loop().call_later(_DELAY, self._say)
        self._paths.add(event.path)

    def _say(self) -> None:
        paths, self._paths = self._paths, set()
        if self._server.alive:
            for path in sorted(paths):
                for uri in self._server.documents_of(path):
                    self._server.protocol.notify(wire.KERNELS_CHANGED, wire.KernelsChangedParams(uri))


def address_of(server: TileServer, params: wire.DocumentParams) -> uris.Address:
    if params.uri is not None:
        address = server.documents.address(params.uri)
        if address is None:
            raise JsonRpcInvalidParams(f"not a document: {params.uri}")
        return address
    if params.text_document is None or params.kernel is None or params.stage is None:
        raise JsonRpcInvalidParams("give `uri`, or `textDocument`, `kernel` and `stage`")
    path = server.path(params.text_document.uri)
    if path is None:
        raise JsonRpcInvalidParams(f"not a file: {params.text_document.uri}")
    if params.stage not in {stage.value for stage in FORMATS}:
        raise JsonRpcInvalidParams(f"no such stage: {params.stage}; there are {', '.join(FORMATS)}")
    return uris.Address(path, params.kernel, Stage(params.stage), params.job)


def source_of(server: TileServer, address: uris.Address) -> str:
    """Of the file, or the notebook's cell, that holds a document's kernel."""
    kernel = kernel_named(server.snapshot, address.path, address.kernel)
    return server.uri(address.path, kernel.span.line if kernel is not None else None)


def _kernel(server: TileServer, kernel: KernelView) -> wire.Kernel:
    faults = (*kernel.faults, *(kernel.inference.faults if kernel.inference else ()))
    return wire.Kernel(
        uri=server.uri(kernel.path, kernel.span.line),
        name=kernel.name,
        frontend=kernel.frontend,
        range=_range(server, kernel.path, kernel.span),
        selection_range=_range(server, kernel.path, kernel.name_span),
        state=kernel.state.value,
        stages=tuple(stage.value for stage in stages_of(kernel, kernel.job)),
        jobs=tuple(_job(kernel, view, index == kernel.active) for index, view in enumerate(kernel.jobs)),
        notes=tuple(note.message for note in kernel.notes),
        problems=tuple(dict.fromkeys(map(in_one_line, faults))),
        documents=_documents(kernel, kernel.job, None),
    )


def _documents(kernel: KernelView, view: JobView | None, token: str | None) -> dict[str, str]:
    """`token`: of the job that the documents stay with; None for those that follow the active one."""
    return {
        stage.value: uris.to_tile_uri(uris.Address(kernel.path, kernel.name, stage, token))
        for stage in stages_of(kernel, view)
    }


def _job(kernel: KernelView, view: JobView, active: bool) -> wire.Job:
    token = view.job.to_token()
    return wire.Job(
        key=view.job.key,
        token=token,
        label=job_label(view),
        target=view.job.config.target,
        hints=dict(view.job.config.hints),
        arguments=tuple(
            wire.Argument(item.argument.name, item.argument.spec, item.origin, item.detail) for item in view.arguments
        ),
        active=active,
        resources=resources_line(view),
        problems=tuple(map(in_one_line, view.faults)),
        documents=_documents(kernel, view, token),
    )


def location_of(server: TileServer, place: SourceRange) -> wire.Location:
    return wire.Location(server.uri(place.path, place.span.line), _range(server, place.path, place.span))


def _range(server: TileServer, path: str, span: Span) -> wire.Range:
    found = server.range(path, span)
    return wire.Range(_position(found.start), _position(found.end))


def _position(position: types.Position) -> wire.Position:
    return wire.Position(position.line, position.character)
