"""The server's state: the client, the texts it holds, the session. Handlers translate between it and the protocol."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
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
from .configuration import pull_configuration
from .folders import Folder, Folders
from .lsp import types
from .notebooks import Cell, Layout, Notebooks
from .progress import WorkDoneProgress
from .protocol import TileProtocol
from .text import Change, apply_changes, from_byte_column, sound, split_lines, to_byte_column

if TYPE_CHECKING:
    from tile_lsp.engine.events import SessionEvent
    from tile_lsp.engine.session import Session
    from tile_lsp.engine.settings import FileProblem
    from tile_lsp.engine.stats import Stats
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
        self.folders = Folders()
        self.client_process: int | None = None
        self.texts: dict[str, OpenText] = {}
        """By path."""
        self.notebooks = Notebooks()
        self.work_done = WorkDoneProgress(self)
        self._uris: dict[str, str] = {}
        self._watcher: Watcher | None = None
        self._followed: frozenset[str] = frozenset()
        self._background: set[asyncio.Task[Any]] = set()
        self._listeners: list[Callable[[SessionEvent | SettingsRead], None]] = []
        self._option_problem: str | None = None
        self._started = False
        self._client_settings: dict[str, Any] = {}
        """Of folders that the client has said nothing of."""

    # -- life --------------------------------------------------------------------------------------------------------

    def initialize(self, params: InitializeParams) -> types.InitializeResult:
        self.options, self._option_problem = read_options(params.initialization_options)
        self.client = Client.of(params.capabilities, self.options)
        self.client_process = params.process_id
        self._client_settings = self.options.settings
        folders = [folder.uri for folder in params.workspace_folders or ()]
        if not folders and params.root_uri:
            folders = [params.root_uri]
        named = [(uri, path) for uri in folders if (path := uris.to_path(uri))]
        if not named and params.root_path:
            named = [(uris.from_path(params.root_path), params.root_path)]
        self.folders.set(named, self._client_settings)
        for folder in self.folders:
            folder.client_settings = self._client_settings
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
        self._started = True
        for folder in self.folders:
            if folder.session is None:
                self._begin(folder)

    def _begin(self, folder: Folder) -> Session | None:
        """Make a folder's session with its present settings, and give it the open texts. Returns the one before it."""
        from tile_lsp.engine.session import Session

        from .settings import is_trusted, session_settings

        settings, folder.problems, said = session_settings(folder.roots, folder.client_settings)
        known = {problem for other in self.folders if other is not folder for problem in other.said}
        folder.said = said
        for problem in said:
            if problem not in known:
                self.tell(problem)
        trusted = is_trusted(settings, self.options.trusted)
        session = Session(settings, roots=folder.roots, trusted=trusted, on_event=self._on_event)
        old = folder.replace(session)
        self._on_event(SettingsRead())
        for path, text, version in self._held_texts():
            if self.folders.of(path) is folder:
                session.open(path, text, version)
            else:
                session.lend(path, text, version)
        return old

    def _held_texts(self) -> Iterator[tuple[str, str, int | None]]:
        """Path, text and version of what the client holds."""
        for text in itertools.chain(self.texts.values(), self.notebooks.all()):
            yield text.path, sound(text.text), text.version

    def listen(self, listener: Callable[[SessionEvent | SettingsRead], None]) -> None:
        """Hear of everything that happens in the session, in the order in which it does."""
        self._listeners.append(listener)

    def _on_event(self, event: SessionEvent | SettingsRead) -> None:
        from tile_lsp.engine.events import Progress

        if isinstance(event, Progress) and len(self.folders.sessions) > 1:
            event = event._replace(running=self.stats().running)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %r", event)

    async def restart(self, folder: Folder) -> None:
        """A folder's settings are others: begin anew with the same open texts. What was compiled is in the store."""
        if folder.session is not None and (old := self._begin(folder)) is not None:
            await old.close()

    async def with_session(self, path: str, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        """Wait for something of the session that a file is in."""
        return await self.folders.ask(path, work)

    async def analysed(self, path: str | None = None) -> None:
        """Until the snapshot has the kernels of a text, or of every one that the client sent so far."""
        if path is not None:
            await self.with_session(path, lambda session: session.analysed(path))
            return
        owners = {id(self.folders.of(path)): path for path, _, _ in self._held_texts()}
        await asyncio.gather(*(self.with_session(path, lambda session: session.analysed()) for path in owners.values()))

    async def set_client_settings(self, settings: dict[str, Any], folder: Folder | None = None) -> None:
        """Of one folder, or of all."""
        if folder is None:
            self._client_settings = settings
        for one in (folder,) if folder is not None else tuple(self.folders):
            if settings != one.client_settings:
                one.client_settings = settings
                await self.restart(one)

    def files_changed(self, paths: Sequence[str]) -> None:
        """Files appeared, changed or vanished on disk."""
        from tile_lsp.engine.settings import is_settings_file

        others = {self.folders.of(path) for path in paths if is_settings_file(path)}
        for folder in self.folders:
            if folder in others:
                self.background(self.restart(folder))
            elif paths and folder.session is not None:
                folder.session.files_changed(paths)

    async def watch_files(self) -> None:
        """Look at the disk ourselves, for a client that does not."""
        from tile_lsp.engine.watching import Watcher

        if self._watcher is not None:
            self._watcher.close()
        self._watcher = Watcher(self.folders.roots, self.files_changed)
        self._watcher.follow(self._followed)
        await self._watcher.start()
        for session in self.folders.sessions:
            session.look_again()  # a file may have been written since it was read, and before it was watched

    def follow_files(self, paths: frozenset[str]) -> None:
        """Look at these files too, for a client that does not, wherever they are."""
        self._followed = paths
        if self._watcher is not None:
            self._watcher.follow(paths)

    async def close(self) -> None:
        """End all work and all processes. Safe to call twice."""
        sessions = self.folders.close()
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            await asyncio.to_thread(watcher.close)
        await asyncio.gather(*(session.close() for session in sessions))

    # -- texts -------------------------------------------------------------------------------------------------------

    def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = uris.to_path(document.uri)
        if path is None or not (document.language_id == "python" or path.endswith(SUFFIXES)):
            return
        self._uris[path] = document.uri
        self.texts[path] = OpenText(document.uri, path, document.text, document.version)
        self._give(path, sound(document.text), document.version, new=True)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        text = self._text_of(params.text_document.uri)
        if text is None:
            return
        changes = [Change.of(change) for change in params.content_changes]
        text.set(apply_changes(text.text, changes, self.client.encoding), params.text_document.version)
        self._give(text.path, sound(text.text), text.version)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.documents.forget(params.text_document.uri)
        text = self._text_of(params.text_document.uri)
        if text is not None:
            del self.texts[text.path]
            self._take_back(text.path)

    def _give(self, path: str, text: str, version: int | None, *, new: bool = False) -> None:
        """A text to the session of its folder, to keep up to date; to others because their kernels may need it."""
        owner = self.folders.of(path)
        for folder in self.folders:
            if folder.session is None:
                continue
            if folder is not owner:
                folder.session.lend(path, text, version)
            elif new:
                folder.session.open(path, text, version)
            else:
                folder.session.change(path, text, version)

    def _take_back(self, path: str) -> None:
        for session in self.folders.sessions:
            session.close_file(path)

    def _text_of(self, uri: str) -> OpenText | None:
        path = uris.to_path(uri)
        return self.texts.get(path) if path is not None else None

    def did_open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        notebook = self.notebooks.open(params)
        if notebook is not None:
            self._uris[notebook.path] = notebook.uri
            self._give(notebook.path, notebook.text, notebook.version, new=True)

    def did_change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        notebook = self.notebooks.change(params, self.client.encoding)
        if notebook is not None:
            self._give(notebook.path, notebook.text, notebook.version)

    def did_close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> None:
        notebook = self.notebooks.close(params)
        if notebook is not None:
            self._take_back(notebook.path)

    def did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """Those that are new begin once their settings are known; those that stay hear of nothing."""
        event = params.event
        removed = {uris.to_path(folder.uri) for folder in event.removed}
        kept = [(folder.uri, folder.path) for folder in self.folders if folder.path not in removed]
        added = [(folder.uri, uris.to_path(folder.uri)) for folder in event.added]
        named = [(uri, path) for uri, path in (*kept, *added) if uri is not None and path is not None]
        owners = {path: self.folders.of(path) for path, _, _ in self._held_texts()}
        new, gone = self.folders.set(named, self._client_settings)
        for folder in gone:
            if (session := folder.replace(None)) is not None:
                self.background(session.close())
        for path, text, version in self._held_texts():
            self._move(owners[path], path, text, version)
        self._on_event(SettingsRead())
        if self._watcher is not None and (new or gone):
            self.background(self.watch_files())
        self.background(self._begin_all(new))

    async def _begin_all(self, folders: Sequence[Folder]) -> None:
        await pull_configuration(self, folders)
        for folder in folders:
            # It may be gone again, and before the first folders began it is none of ours.
            if self._started and folder.session is None and folder in self.folders:
                self._begin(folder)

    def _move(self, old: Folder, path: str, text: str, version: int | None) -> None:
        """A text to the folder that it is in now."""
        owner = self.folders.of(path)
        if owner is old:
            return
        if old.session is not None:
            old.session.close_file(path)
            old.session.lend(path, text, version)
        if owner.session is not None:
            owner.session.open(path, text, version)

    # -- translation -------------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[str, ...]:
        return self.folders.roots

    @property
    def setting_problems(self) -> tuple[FileProblem, ...]:
        """What is wrong in settings files."""
        return tuple(problem for folder in self.folders for problem in folder.problems)

    @property
    def snapshot(self) -> Snapshot:
        """What is known now; nothing, where there is no session. Never waits."""
        return self.folders.snapshot(self.options.trusted)

    def session_of(self, path: str) -> Session | None:
        """None before the client's settings are known, and after the end."""
        return self.folders.of(path).session

    def look(self, path: str, first: int, last: int) -> None:
        """Lines of a file are in sight, or the cursor is there."""
        if (session := self.session_of(path)) is not None:
            session.look(path, first, last)

    def settings_of(self, path: str) -> Settings:
        return self.folders.of(path).settings

    def stats(self) -> Stats:
        return self.folders.stats()

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
        return self._started and not self.folders.over

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
