"""Inference entries: looked up in memory, in the store, under the version of another text that differs only in
functions that this specialisation never entered; else inferred by a worker, kept for the typed IR that it holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from tile_lsp.model.job import digest
from tile_lsp.model.outcome import Fault, FaultKind, Inference

from .compilation import Compilation
from .inputs import is_current, less_our_environment
from .lru import Lru
from .singleflight import SingleFlight
from .steps import Blobs
from .store import Store
from .workers import Holder, InferRequest, Listings, WorkerPool

_MOST_CLAIMS = 16
"""As many as workers are kept with their typed IR."""
_HEAD_START = 0.001
"""Seconds that types get to reach who waits for them, before anything else is done about them."""


class Entry(NamedTuple):
    """An inference entry, under the key that code generation hangs on."""

    key: str
    inference: Inference
    base: str
    """The key that it is looked up by: `key`, less what was read from outside."""


class _Inferred(NamedTuple):
    """An entry whose types are there, and what is to come."""

    entry: Entry
    listings: asyncio.Task[Listings | Fault] | None
    """To be written down beside it."""


class _Specialisation(msgspec.Struct, frozen=True, array_like=True):
    """What one inference turned out to depend on: it holds for any version in which those functions are the same."""

    reached: tuple[str, ...]
    seen: str
    """`Closure.digest_of(reached)` at that time."""
    key: str


class Entries:
    """A fault is a value that is part of an entry."""

    def __init__(self, pool: WorkerPool, store: Store) -> None:
        self._pool = pool
        self._store = store
        self._entries: Lru[Entry] = Lru(512)
        self._flights: SingleFlight[Entry] = SingleFlight()
        self._holders: Lru[Holder] = Lru(64)
        self._holder_flights: SingleFlight[Holder | Fault] = SingleFlight()
        self._known: Lru[Blobs] = Lru(256)
        """Specialisations, encoded as they are stored."""
        self._made_here: Lru[bool] = Lru(4096)
        self._completing: dict[str, asyncio.Task[Entry | Fault]] = {}
        """By the key that an entry is looked up by: its types are there, its texts or its file not yet."""
        self._claims: Lru[int] = Lru(_MOST_CLAIMS, evicted=os.close)
        """By entry: what tells other processes that its typed IR is held here."""

    @property
    def running(self) -> int:
        return len(self._flights) + len(self._holder_flights)

    def unfinished(self) -> set[asyncio.Task[Entry | Fault]]:
        """What is being completed and written down."""
        return set(self._completing.values())

    def close(self) -> None:
        """Nothing is held any more."""
        self._claims.drop_all()

    def forget_failures(self) -> None:
        self._entries.drop(lambda entry: not is_result(entry.inference))

    def is_cached(self, compilation: Compilation) -> bool:
        """True unless it was inferred by this very process."""
        return self._made_here.get(compilation.inference_key) is None

    def is_held(self, entry: Entry) -> bool:
        """True if a worker of this process has its typed IR."""
        return self._holders.get(entry.key) is not None

    def drop_holder(self, entry: Entry) -> None:
        """It is gone."""
        self._holders.discard(entry.key)

    async def find(self, compilation: Compilation) -> Entry:
        key = compilation.inference_key
        entry = self._entries.get(key)
        if entry is not None and is_current(entry.inference):
            return entry
        return await self._flights.run(key, lambda: self._find_entry(compilation, key))

    async def _find_entry(self, compilation: Compilation, key: str) -> Entry:
        entry = self._stored_entry(compilation, key)
        if entry is None:
            async with contextlib.AsyncExitStack() as held:
                await held.enter_async_context(self._store.lock(key))
                # Another process may have made it between our look and our lock.
                blobs = self._store.peek(key)
                entry = _decode_entry(key, blobs) if blobs is not None else None
                if entry is None:
                    inferred = await self._infer(compilation, key)
                    self._keep(compilation, key, inferred, held.pop_all())
                    return inferred.entry
        self._entries.put(key, entry)
        return entry

    def _stored_entry(self, compilation: Compilation, key: str) -> Entry | None:
        """From the store, by version; else an entry of another version that differs only in functions never reached."""
        blobs = self._store.get(key)
        if blobs is not None:
            entry = _decode_entry(key, blobs)
            if entry is not None:
                return entry
        seen = functools.cache(lambda reached: compilation.closure.digest_of(frozenset(reached)))
        for specialisation in self._specialisations(compilation):
            if seen(specialisation.reached) == specialisation.seen and specialisation.key != key:
                entry = self._entries.get(specialisation.key)
                if entry is not None and not is_current(entry.inference):
                    entry = None
                if entry is None and (blobs := self._store.get(specialisation.key)) is not None:
                    entry = _decode_entry(specialisation.key, blobs)
                if entry is not None:
                    return entry
        return None

    async def _infer(self, compilation: Compilation, key: str) -> _Inferred:
        result = await self._pool.infer(
            compilation.environment.executable,
            InferRequest(
                frontend=compilation.frontend.name,
                closure=compilation.closure,
                arguments=compilation.job.arguments,
                fields=dict(compilation.inference_fields),
            ),
        )
        entry = _entry_of(key, less_our_environment(result.inference))
        self._entries.put(key, entry)
        self._made_here.put(key, True)
        if result.holder is not None:
            self._holders.put(entry.key, result.holder)
        return _Inferred(entry, result.listings)

    def _keep(self, compilation: Compilation, key: str, inferred: _Inferred, lock: contextlib.AsyncExitStack) -> None:
        """Complete an entry, and write it down, while its types are on their way to the user already. Other processes
        wait that long.
        """

        async def keep() -> Entry | Fault:
            async with lock:
                await asyncio.sleep(_HEAD_START)
                entry = inferred.entry
                if self._holders.get(entry.key) is not None and self._claims.get(entry.key) is None:
                    claim = self._store.claim(entry.key)
                    if claim >= 0:
                        self._claims.put(entry.key, claim)
                remembered = self._remember_specialisation(compilation, key, entry.inference)
                if inferred.listings is not None:
                    listings = await inferred.listings
                    if isinstance(listings, Fault):
                        self._entries.discard(key)
                        return listings
                    inference = msgspec.structs.replace(entry.inference, hir=listings.hir, typed=listings.typed)
                    entry = entry._replace(inference=inference)
                    self._entries.put(key, entry)
                if is_result(entry.inference):
                    written = {key: {"inference": msgspec.json.encode(entry.inference)}, **remembered}
                    await asyncio.to_thread(self._write, written)
                return entry

        task = self._completing[key] = asyncio.ensure_future(keep())
        task.add_done_callback(lambda done: self._completing.pop(key) if self._completing.get(key) is done else None)

    def _write(self, entries: Mapping[str, Blobs]) -> None:
        for key, blobs in entries.items():
            self._store.put(key, blobs)

    async def whole(self, entry: Entry) -> Entry | Fault:
        """The entry with the texts of its IR."""
        completing = self._completing.get(entry.base)
        if completing is not None:
            return await asyncio.shield(completing)
        if entry.inference.typed is not None or entry.inference.faults:
            return entry
        # It was taken over for another version before it was complete.
        known = self._entries.get(entry.base)
        if (known is None or known.inference.typed is None) and (blobs := self._store.peek(entry.base)) is not None:
            known = _decode_entry(entry.base, blobs)
        return known or entry

    def _specialisations(self, compilation: Compilation) -> tuple[_Specialisation, ...]:
        blobs = self._known.get(compilation.specialisations_key)
        if blobs is None:
            blobs = self._store.get(compilation.specialisations_key)
        if blobs is None:
            return ()
        try:
            return msgspec.json.decode(blobs["specialisations"], type=tuple[_Specialisation, ...])
        except (KeyError, msgspec.MsgspecError):
            return ()

    def _remember_specialisation(self, compilation: Compilation, key: str, inference: Inference) -> Mapping[str, Blobs]:
        """What is to be written down of it."""
        if inference.faults:
            # A function may be refused before it is entered: a fault hangs on all of them.
            return {}
        reached = tuple(sorted(inference.reached))
        new = _Specialisation(reached, compilation.closure.digest_of(frozenset(reached)), key)
        kept = [old for old in self._specialisations(compilation) if old.seen != new.seen]
        blobs = {"specialisations": msgspec.json.encode([new, *kept[:31]])}
        self._known.put(compilation.specialisations_key, blobs)
        return {compilation.specialisations_key: blobs}

    async def holder(self, compilation: Compilation, entry: Entry) -> Holder | Fault:
        """A worker that holds the typed IR of an entry; inferred again where no living worker does."""
        holder = self._holders.get(entry.key)
        if holder is not None and holder.alive:
            return holder
        return await self._holder_flights.run(entry.key, lambda: self._hold_again(compilation, entry))

    async def _hold_again(self, compilation: Compilation, entry: Entry) -> Holder | Fault:
        inferred = await self._infer(compilation, entry.base)
        self._keep(compilation, entry.base, inferred, contextlib.AsyncExitStack())
        holder = self._holders.get(entry.key)
        if holder is not None and holder.alive:
            return holder
        faults = inferred.entry.inference.faults
        return faults[0] if faults else Fault(FaultKind.ENVIRONMENT, "The worker ended early.")


def is_result(inference: Inference) -> bool:
    return all(fault.kind is FaultKind.USER for fault in inference.faults)


def _decode_entry(key: str, blobs: Blobs) -> Entry | None:
    try:
        entry = _entry_of(key, msgspec.json.decode(blobs["inference"], type=Inference))
    except (KeyError, msgspec.MsgspecError):
        return None
    return entry if is_current(entry.inference) else None


def _entry_of(base: str, inference: Inference) -> Entry:
    """What code read from outside is in the key of all that is made from it."""
    key = (
        digest("inputs", base, [(kind, made_of) for kind, _, made_of in inference.inputs]) if inference.inputs else base
    )
    return Entry(key, inference, base)
