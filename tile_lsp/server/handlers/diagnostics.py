"""textDocument/publishDiagnostics where the client can't be told to pull, else textDocument/diagnostic."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tile_lsp.engine.events import DiagnosticsChanged, SessionEvent
from tile_lsp.ide.diagnostics import Diagnostic, diagnostics
from tile_lsp.ide.jobs import line_name
from tile_lsp.model.job import digest
from tile_lsp.model.location import SourceRange
from tile_lsp.model.outcome import Severity
from tile_lsp.server.capabilities import DIAGNOSTICS
from tile_lsp.server.lsp import types
from tile_lsp.server.server import SettingsRead, TileServer

_DELAY = 0.02
"""Seconds: what changes together is said once."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}


def register(server: TileServer) -> None:
    publisher = _Publisher(server)
    server.listen(publisher.hear)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC)
    def text_document_diagnostic(
        params: types.DocumentDiagnosticParams,
    ) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
        uri = params.text_document.uri
        path = server.path(uri) or ""
        found = publisher.compute().get(path, ())
        items = [_diagnostic(server, path, item) for item in found if server.is_in(uri, item.span)]
        result_id = digest(server.protocol._converter.unstructure(items))[:16]
        if params.previous_result_id == result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


class _Publisher:
    """Says what is new, and only that: lists that stay equal are not sent again."""

    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._said: dict[str, tuple[str, tuple[Diagnostic, ...]]] = {}
        """By URI: the path of the file, and what stands in that document of it."""
        self._in_settings: dict[str, list[Diagnostic]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def compute(self) -> dict[str, tuple[Diagnostic, ...]]:
        found: dict[str, tuple[Diagnostic, ...]] = {}
        for session in self._server.folders.sessions:
            settings = session.settings
            more = diagnostics(session.snapshot(), remarks=settings.remarks, llvm_remarks=settings.llvm_remarks)
            # An error in a helper stands in the helper's file, which may be in another folder.
            for path, items in more.items():
                found[path] = tuple(dict.fromkeys((*found.get(path, ()), *items)))
        return found

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if isinstance(event, SettingsRead):
            self._say_settings(self.compute())
        elif isinstance(event, DiagnosticsChanged) and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._say)

    def _say(self) -> None:
        self._timer = None
        if not self._server.alive:
            return
        found = self.compute()
        self._say_settings(found)
        current = self._by_document(found)
        changed = {**self._said, **current}
        changed = {uri: said for uri, said in changed.items() if self._said.get(uri) != current.get(uri)}
        self._said = current
        if not changed:
            return
        if self._server.client.pull_diagnostics:
            self._server.ask(self._server.workspace_diagnostic_refresh_async(None))
            return
        for uri, (path, _) in changed.items():
            self._publish(uri, path, current[uri][1] if uri in current else ())

    def _by_document(
        self, computed: Mapping[str, Sequence[Diagnostic]]
    ) -> dict[str, tuple[str, tuple[Diagnostic, ...]]]:
        found: dict[str, tuple[str, tuple[Diagnostic, ...]]] = {}
        for path, items in computed.items():
            for item in items if not _holds_settings(path) else ():
                uri = self._server.uri(path, item.span.line)
                found[uri] = (path, (*found.get(uri, (path, ()))[1], item))
        return found

    def _say_settings(self, computed: Mapping[str, Sequence[Diagnostic]]) -> None:
        """Where they are written, and always pushed: no client pulls the diagnostics of a file in another language."""
        problems: dict[str, list[Diagnostic]] = {path: [] for path in self._in_settings}
        for problem in self._server.setting_problems:
            found = Diagnostic(problem.span, problem.message, Severity.WARNING, "settings")
            problems.setdefault(problem.path, []).append(found)
        for path, more in computed.items():
            if _holds_settings(path):
                problems.setdefault(path, []).extend(more)
        for path, items in problems.items():
            if items != self._in_settings.get(path):
                self._publish(self._server.uri(path), path, items)
        self._in_settings = {path: items for path, items in problems.items() if items}

    def _publish(self, uri: str, path: str, items: Sequence[Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=uri,
                version=self._server.version_of(uri),
                diagnostics=[_diagnostic(self._server, path, item) for item in items],
            )
        )


def _holds_settings(path: str) -> bool:
    from tile_lsp.engine.settings import is_settings_file  # not before there is something to say

    return is_settings_file(path)


def _diagnostic(server: TileServer, path: str, item: Diagnostic) -> types.Diagnostic:
    message, related = item.message, None
    if item.related and server.client.related_information:
        related = [
            types.DiagnosticRelatedInformation(location=server.location(other.place), message=other.message)
            for other in item.related
        ]
    elif item.related:
        message += "".join(f"\n{other.message}: {_place(server, other.place)}" for other in item.related)
    return types.Diagnostic(
        range=server.range(path, item.span),
        message=message,
        severity=_SEVERITIES[item.severity],
        code=item.code,
        source=DIAGNOSTICS,
        related_information=related,
        tags=[types.DiagnosticTag.Unnecessary] if item.unnecessary else None,
    )


def _place(server: TileServer, place: SourceRange) -> str:
    file = server.snapshot.files.get(place.path)
    return f"{place.path}:{line_name(place, file.cells if file is not None else ())}"
