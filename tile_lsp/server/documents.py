"""The documents that this client was given: made on demand, kept up to date, found again by URI.

A client that opens `tile:` URIs asks for their text. Any other gets a read-only file whose content follows the kernel.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from tile_lsp.analysis.snapshot import KernelView, Snapshot
from tile_lsp.engine.events import DocumentChanged, SessionEvent
from tile_lsp.ide.documents import Document, document, missing_document, types_document
from tile_lsp.ide.kernels import kernel_named
from tile_lsp.model.job import Job
from tile_lsp.model.outcome import Artifact, Fault, FaultKind
from tile_lsp.model.stage import Stage

from . import uris
from .lsp import types
from .uris import Address

if TYPE_CHECKING:
    from .server import SettingsRead, TileServer

log = logging.getLogger(__name__)

_KEPT = 64
"""Documents that are known; those that were asked for longest ago are forgotten."""
_FOLLOWED = 8
"""Files that are kept up to date: no client says when it closes one."""


class _Served:
    """One document that the client was given."""

    def __init__(self) -> None:
        self.document: Document | None = None
        self.asked = self.shown = 0
        """Renderings begun, and the latest of them that `document` is: one that is overtaken is not kept."""
        self.ground: object = None
        """What `document` was made from."""
        self.last_good: Artifact | None = None
        self.file: Path | None = None
        """Where it was written to, for a client that reads files."""
        self.refreshing: asyncio.Task[None] | None = None
        self.job: Job | None = None
        """The one that a refresh is under way for."""
        self.again = False
        """Something happened during the refresh, which may or may not have seen it."""


class Documents:
    def __init__(self, server: TileServer) -> None:
        self._server = server
        self._served: OrderedDict[Address, _Served] = OrderedDict()
        self._by_file: dict[str, Address] = {}

    # -- questions that never wait -----------------------------------------------------------------------------------

    def address(self, uri: str) -> Address | None:
        """The document behind a URI: a `tile:` URI, or a file that we wrote."""
        path = uris.to_path(uri)
        return self._by_file.get(path) if path is not None else uris.from_tile_uri(uri)

    def rendered(self, uri: str) -> Document | None:
        """The text that the client has, with its links; None for what is no document of ours."""
        address = self.address(uri)
        served = self._served.get(address) if address is not None else None
        return served.document if served is not None else None

    def shown(self) -> list[tuple[str, Document]]:
        """URI and text of all documents that the client was given."""
        return [
            (self.uri(address), served.document)
            for address, served in self._served.items()
            if served.document is not None
        ]

    def uri(self, address: Address) -> str:
        """As this client opens it."""
        served = self._served.get(address)
        if not self._server.client.content and served is not None and served.file is not None:
            return uris.from_path(str(served.file))
        return uris.to_tile_uri(address)

    # -- making ------------------------------------------------------------------------------------------------------

    async def make(self, address: Address) -> Document:
        """The document as of now; compiles what is missing. A fault becomes the text."""
        return await self._make(address, self._keep(address))

    async def _make(self, address: Address, served: _Served) -> Document:
        job, fault = _pinned(address)
        outcome: Artifact | Fault | None = fault
        if address.stage is Stage.TYPES:
            await self._server.with_session(
                address.path, lambda session: session.inferred(address.path, address.kernel)
            )
        elif outcome is None:
            outcome = await self._server.with_session(
                address.path,
                lambda session: session.artifact(address.path, address.kernel, address.stage, job),
            )
        # Positions of the moment: the text may have moved while the compiler ran.
        snapshot = self._server.snapshot
        ground = _ground(kernel_named(snapshot, address.path, address.kernel), outcome)
        if served.document is not None and ground is not None and ground == served.ground:
            return served.document  # what happened was nothing to this text
        served.asked += 1
        number = served.asked
        # In a thread: a listing has thousands of lines, and a hover doesn't wait for them.
        made = await asyncio.to_thread(_rendered, snapshot, address, job, outcome, served.last_good)
        if number >= served.shown:
            served.document, served.shown, served.ground = made, number, ground
            if isinstance(outcome, Artifact):
                served.last_good = outcome
        return made

    async def write(self, address: Address) -> Path:
        """The document as a file with a stable name."""
        made = await self.make(address)
        served = self._keep(address)
        if served.file is None:
            served.file = _file_for(address)
            self._by_file[str(served.file)] = address
        _write(served.file, made.text)
        return served.file

    def _keep(self, address: Address) -> _Served:
        served = self._served.setdefault(address, _Served())
        self._served.move_to_end(address)
        while len(self._served) > _KEPT:
            _, old = self._served.popitem(last=False)
            if old.file is not None:
                self._by_file.pop(str(old.file), None)
        return served

    def forget(self, uri: str) -> None:
        """The client closed a document."""
        address = uris.from_tile_uri(uri)
        served = self._served.get(address) if address is not None else None
        if address is not None and served is not None and served.file is None:
            del self._served[address]
            if served.refreshing is not None:
                served.refreshing.cancel()

    # -- following the kernel ----------------------------------------------------------------------------------------

    def hear(self, event: SessionEvent | SettingsRead) -> None:
        if not isinstance(event, DocumentChanged):
            return
        files = [address for address, served in self._served.items() if served.file is not None]
        for address, served in self._served.items():
            if (address.path, address.kernel) != (event.path, event.kernel) or served.document is None:
                continue
            if event.stages and address.stage not in event.stages:
                continue
            if served.file is None or address in files[-_FOLLOWED:]:
                self._follow(address, served)

    def _follow(self, address: Address, served: _Served) -> None:
        """Refresh a document. The newest job wins: work for another one is dropped."""
        kernel = kernel_named(self._server.snapshot, address.path, address.kernel)
        job = kernel.job.job if kernel is not None and kernel.job is not None else None
        if served.refreshing is not None and not served.refreshing.done():
            if job == served.job or address.job is not None:
                served.again = True
                return
            served.refreshing.cancel()
        served.job = job
        served.again = False
        served.refreshing = self._server.background(self._refresh(address, served))

    async def _refresh(self, address: Address, served: _Served) -> None:
        """Tell the client of a new text, unless the text is the one it has."""
        before = served.document.text if served.document else None
        made = await self._make(address, served)
        while served.again:
            served.again = False
            made = await self._make(address, served)
        if made.text == before:
            return
        if served.file is not None:
            _write(served.file, made.text)
        if self._server.client.content:
            await self._server.workspace_text_document_content_refresh_async(
                types.TextDocumentContentRefreshParams(uri=uris.to_tile_uri(address))
            )


def _ground(kernel: KernelView | None, outcome: Artifact | Fault | None) -> object:
    """Equal for equal texts; None where that can't be told. Positions are others after each analysis of a text."""
    if kernel is None or not isinstance(outcome, Artifact):
        return None
    jobs = tuple((view.job, view.arguments) for view in kernel.jobs)
    return _Same(outcome), _Same(kernel.positions), kernel.state, kernel.active, jobs


class _Same:
    """Equal to itself alone, and keeps what it stands for alive."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


def _rendered(
    snapshot: Snapshot, address: Address, job: Job | None, outcome: Artifact | Fault | None, last: Artifact | None
) -> Document:
    kernel = kernel_named(snapshot, address.path, address.kernel)
    if kernel is None:
        return missing_document(address.stage, address.kernel, address.path)
    if outcome is None:
        return types_document(snapshot, kernel)
    return document(snapshot, kernel, job or (kernel.job.job if kernel.job else None), address.stage, outcome, last)


def _pinned(address: Address) -> tuple[Job | None, Fault | None]:
    if address.job is None:
        return None, None
    try:
        return Job.from_token(address.job), None
    except ValueError as error:
        return None, Fault(FaultKind.USER, str(error))


def _file_for(address: Address) -> Path:
    """Stable: the same view has the same name in every session, so that an editor that has it open finds it again."""
    word = hashlib.sha256(uris.to_tile_uri(address).encode()).hexdigest()[:12]
    return platformdirs.user_cache_path("tile-lsp") / "views" / word / address.name.replace("/", "_")


def _write(path: Path, text: str) -> None:
    """Atomic, and read-only: what is typed there would be lost."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text.encode(errors="replace"))
        temporary.chmod(0o444)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
