"""The server's state: the client, the texts it holds, the session. Handlers translate between it and the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from tile_lsp import __version__
from tile_lsp.analysis.snapshot import Snapshot
from tile_lsp.model.settings import Settings

from . import uris
from .capabilities import capabilities
from .client import Client, InitializeParams, Options, read_options
from .lsp import types
from .notebooks import Cell, Layout, Notebooks
from .progress import WorkDoneProgress
from .protocol import TileProtocol
from .text import Change, apply_changes, from_byte_column, sound, split_lines, to_byte_column

if TYPE_CHECKING:
    from tile_lsp.engine.events import SessionEvent
    from tile_lsp.engine.session import Session
    from tile_lsp.engine.settings import FileProblem
    from tile_lsp.engine.watching import Watcher
    from tile_lsp.model.location import SourceRange, Span

    from .documents import Documents

log = logging.getLogger(__name__)
T = TypeVar("T")


class SettingsRead(NamedTuple):
    """A session began; `setting_problems` are those of the settings that it began with."""


class OpenText:
    """A text that the client holds."""

    def __init__(self, uri: str, path: str, text: str, version: int | None) -> None:
        self.uri = uri
        self.path = path
        self.set(text, version)

    def set(self, text: str, version: int | None) -> None:
        self.text = text
        self.version = version
        self.lines = split_lines(text)


#: Files that hold kernels, or that these include, whatever an editor calls their language.
SUFFIXES = (".py", ".pyi", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")


class TileServer(LanguageServer):
    """One client. `stop` is called when it wants us to end, or is gone."""

    protocol: TileProtocol

    def __init__(self, stop: Callable[[], None] = lambda: None) -> None:
        super().__init__("tile-lsp", __version__, protocol_cls=TileProtocol, converter_factory=default_converter)
        self.stop = stop
        self.client = Client()
        self.options = Options()
        self.roots: tuple[str, ...] = ()
        self.client_process: int | None = None
        self.texts: dict[str, OpenText] = {}
        """By path."""
        self.notebooks = Notebooks()
        self.work_done = WorkDoneProgress(self)
        self._uris: dict[str, str] = {}
        self._session: Session | None = None
        self._watcher: Watcher | None = None
        self._followed: frozenset[str] = frozenset()
        self._ready = asyncio.Event()
        self._replaced = asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()
        self._listeners: list[Callable[[SessionEvent | SettingsRead], None]] = []
        self._option_problem: str | None = None
        self.setting_problems: tuple[FileProblem, ...] = ()
        """What is wrong in settings files."""
        self._client_settings: dict[str, Any] = {}

    # -- life --------------------------------------------------------------------------------------------------------

    def initialize(self, params: InitializeParams) -> types.InitializeResult:
        self.options, self._option_problem = read_options(params.initialization_options)
        self.client = Client.of(params.capabilities, self.options)
        self.client_process = params.process_id
        self._client_settings = self.options.settings
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and params.root_uri:
            folders = [params.root_uri]
        roots = [path for path in map(uris.to_path, folders) if path]
        if not roots and params.root_path:
            roots = [params.root_path]
        self.roots = tuple(roots)
        return types.InitializeResult(
            capabilities=capabilities(self.client),
            server_info=types.ServerInfo(name="tile-lsp", version=__version__),
        )

    @cached_property
    def documents(self) -> Documents:
        from .documents import Documents

        return Documents(self)

    async def start(self) -> None:
        """The client is ready: it may be asked and told things. Called once its settings are known."""
        if self._option_problem:
            self.tell(self._option_problem)
        self._begin()

    def _begin(self) -> None:
        """Make a session with the present settings and folders, and give it the open texts."""
        self._session = self._new_session()
        self._ready.set()
        self._on_event(SettingsRead())
        for text in (*self.texts.values(), *self.notebooks.all()):
            self._session.open(text.path, sound(text.text), text.version)

    def _new_session(self) -> Session:
        from tile_lsp.engine.session import Session

        from .settings import is_trusted, session_settings

        settings, self.setting_problems, said = session_settings(self.roots, self._client_settings)
        for problem in said:
            self.tell(problem)
        trusted = is_trusted(settings, self.options.trusted)
        return Session(settings, roots=self.roots, trusted=trusted, on_event=self._on_event)

    def listen(self, listener: Callable[[SessionEvent | SettingsRead], None]) -> None:
        """Hear of everything that happens in the session, in the order in which it does."""
        self._listeners.append(listener)

    def _on_event(self, event: SessionEvent | SettingsRead) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %r", event)

    async def restart_session(self) -> None:
        """Settings or folders are others: begin anew with the same open texts. What was compiled is in the store."""
        old = self._session
        if old is None:
            return  # not begun yet, or over
        self._begin()
        self._replaced.set()
        self._replaced = asyncio.Event()
        await old.close()

    async def with_session(self, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        """Wait for something of the session. If another takes its place meanwhile, the question goes to that one."""
        while True:
            await self._ready.wait()
            if self._session is None:
                raise asyncio.CancelledError
            asked = asyncio.ensure_future(work(self._session))
            replaced = asyncio.ensure_future(self._replaced.wait())
            try:
                await asyncio.wait({asked, replaced}, return_when=asyncio.FIRST_COMPLETED)
                if not replaced.done():
                    return asked.result()
            finally:
                asked.cancel()
                replaced.cancel()

    async def analysed(self) -> None:
        """Until the snapshot has the kernels of every text that the client sent so far."""
        await self.with_session(lambda session: session.analysed())

    async def set_client_settings(self, settings: dict[str, Any]) -> None:
        if settings != self._client_settings:
            self._client_settings = settings
            await self.restart_session()

    def files_changed(self, paths: Sequence[str]) -> None:
        """Files appeared, changed or vanished on disk."""
        from tile_lsp.engine.settings import is_settings_file

        if any(is_settings_file(path) for path in paths):
            self.background(self.restart_session())
        elif paths and self.session is not None:
            self.session.files_changed(paths)

    async def watch_files(self) -> None:
        """Look at the disk ourselves, for a client that does not."""
        from tile_lsp.engine.watching import Watcher

        if self._watcher is not None:
            self._watcher.close()
        self._watcher = Watcher(self.roots, self.files_changed)
        self._watcher.follow(self._followed)
        await self._watcher.start()

    def follow_files(self, paths: frozenset[str]) -> None:
        """Look at these files too, for a client that does not, wherever they are."""
        self._followed = paths
        if self._watcher is not None:
            self._watcher.follow(paths)

    async def close(self) -> None:
        """End all work and all processes. Safe to call twice."""
        session, self._session = self._session, None
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.close)
        self._replaced.set()
        if session is not None:
            await session.close()

    # -- texts -------------------------------------------------------------------------------------------------------

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = uris.to_path(document.uri)
        if path is None or not (document.language_id == "python" or path.endswith(SUFFIXES)):
            return
        self._uris[path] = document.uri
        self.texts[path] = OpenText(document.uri, path, document.text, document.version)
        if self._session is not None:
            self._session.open(path, sound(document.text), document.version)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        text = self._text_of(params.text_document.uri)
        if text is None:
            return
        changes = [Change.of(change) for change in params.content_changes]
        text.set(apply_changes(text.text, changes, self.client.encoding), params.text_document.version)
        if self._session is not None:
            self._session.change(text.path, sound(text.text), text.version)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.documents.forget(params.text_document.uri)
        text = self._text_of(params.text_document.uri)
        if text is not None:
            del self.texts[text.path]
            if self._session is not None:
                self._session.close_file(text.path)

    def _text_of(self, uri: str) -> OpenText | None:
        path = uris.to_path(uri)
        return self.texts.get(path) if path is not None else None

    def did_open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        notebook = self.notebooks.open(params)
        if notebook is not None:
            self._uris[notebook.path] = notebook.uri
            if self._session is not None:
                self._session.open(notebook.path, notebook.text, notebook.version)

    def did_change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        notebook = self.notebooks.change(params, self.client.encoding)
        if notebook is not None and self._session is not None:
            self._session.change(notebook.path, notebook.text, notebook.version)

    def did_close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> None:
        notebook = self.notebooks.close(params)
        if notebook is not None and self._session is not None:
            self._session.close_file(notebook.path)

    def did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        removed = {uris.to_path(folder.uri) for folder in params.event.removed}
        added = [path for folder in params.event.added if (path := uris.to_path(folder.uri))]
        roots = tuple(dict.fromkeys([*(root for root in self.roots if root not in removed), *added]))
        if roots != self.roots:
            self.roots = roots
            self.background(self.restart_session())
            if self._watcher is not None:
                self.background(self.watch_files())

    # -- translation -------------------------------------------------------------------------------------------------

    @property
    def session(self) -> Session | None:
        """None before the client's settings are known, and after the end."""
        return self._session

    @property
    def settings(self) -> Settings:
        return self._session.settings if self._session is not None else Settings()

    @property
    def snapshot(self) -> Snapshot:
        """What is known now; nothing, where there is no session. Never waits."""
        if self._session is None:
            return Snapshot({}, trusted=self.options.trusted)
        return self._session.snapshot()

    def path(self, uri: str) -> str | None:
        """The path of a file's URI, or of the notebook that a cell's URI is of; None for what is neither."""
        notebook = self.notebooks.of_cell(uri)
        return notebook.path if notebook is not None else uris.to_path(uri)

    def uri(self, path: str, line: int | None = None) -> str:
        """As the client spells it, where it ever did. With a `line`, of a notebook the cell that it is in."""
        place = self._layout(path).cell(line) if line is not None and self.notebooks.at(path) is not None else None
        return place[0] if place else self._uris.get(path) or uris.from_path(path)

    def documents_of(self, path: str) -> tuple[str, ...]:
        """The URIs that a file's text is edited by: its own, or those of a notebook's cells."""
        notebook = self.notebooks.at(path)
        return notebook.cells if notebook is not None else (self.uri(path),)

    def version_of(self, uri: str) -> int | None:
        """Of the text that the client holds; None if it holds none."""
        text = self._held(uri)
        return text.version if text is not None else None

    def line(self, uri: str, index: int) -> int:
        """A document's line (0-based) as one of its file (1-based); 0, which is none, in a cell that is new or gone."""
        notebook = self.notebooks.of_cell(uri)
        return index + 1 if notebook is None else self._layout(notebook.path).line(uri, index)

    def lines(self, uri: str, range_: types.Range) -> tuple[int, int]:
        """The first and the last line, in its file, of a range of a document."""
        return self.line(uri, range_.start.line), self.line(uri, range_.end.line)

    def is_in(self, uri: str, span: Span) -> bool:
        """True unless `uri` is of a notebook's cell and the span of a file is not in that cell."""
        notebook = self.notebooks.of_cell(uri)
        return notebook is None or self.uri(notebook.path, span.line) == uri

    def position(self, uri: str, position: types.Position) -> tuple[int, int]:
        """A position in a document as line (1-based) and column (UTF-8 bytes) of its file."""
        text = self._held(uri)
        lines: Sequence[str] = text.lines if text is not None else self._file_lines(self.path(uri) or "")
        row = lines[position.line] if 0 <= position.line < len(lines) else ""
        return self.line(uri, position.line), to_byte_column(row, position.character, self.client.encoding)

    def range(self, path: str, span: Span) -> types.Range:
        """A span of a file as the snapshot has it; of a notebook, in the cell that it is in."""
        lines = self._file_lines(path)
        place = self._layout(path).cell(span.line) if self.notebooks.at(path) is not None else None
        above = span.line - 1 - place[1] if place else 0

        def at(line: int, column: int) -> types.Position:
            row = lines[line - 1].rstrip("\r\n") if 0 < line <= len(lines) else ""
            character = from_byte_column(row, column, self.client.encoding) if row or lines else column
            return types.Position(line=max(line - 1 - above, 0), character=character)

        return types.Range(start=at(span.line, span.column), end=at(span.end_line, span.end_column))

    def location(self, place: SourceRange) -> types.Location:
        return types.Location(uri=self.uri(place.path, place.span.line), range=self.range(place.path, place.span))

    def _held(self, uri: str) -> OpenText | Cell | None:
        """The text that the client holds of a file or of a cell."""
        notebook = self.notebooks.of_cell(uri)
        return notebook.cell(uri) if notebook is not None else self._text_of(uri)

    def _file_lines(self, path: str) -> tuple[str, ...]:
        file = self.snapshot.files.get(path)
        return file.lines if file is not None else ()

    def _layout(self, path: str) -> Layout:
        """Of an open notebook, as the snapshot has it."""
        notebook = self.notebooks.at(path)
        assert notebook is not None
        file = self.snapshot.files.get(path)
        return notebook.layout(file.text if file is not None else None)

    # -- talking to the client ---------------------------------------------------------------------------------------

    def tell(self, message: str) -> None:
        """A warning into the client's log, where it disturbs nobody."""
        self.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=message))

    @property
    def alive(self) -> bool:
        """False once the client said that it wants no more messages."""
        return self._session is not None

    def ask(self, request: Coroutine[Any, Any, Any]) -> None:
        """Send a request whose answer says nothing, such as a refresh; a client that refuses it is no fault."""
        self.background(_tolerant(request))

    def background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine beside everything; its failure is logged."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background_done)
        return task

    def _background_done(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("background work failed: %r", error)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Never as a popup: the log has it."""
        log.error("%s", error)


async def _tolerant(request: Coroutine[Any, Any, Any]) -> None:
    try:
        await request
    except JsonRpcException as error:
        log.info("the client refused a request: %s", error.message)
