"""`tile-lsp cache info|clear|gc`."""

from __future__ import annotations

import os

from tile_lsp.engine.session import cache_directory
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.store import Store

from .exits import Exit
from .output import write, write_error
from .workspace import project_root, settings_of


def info() -> Exit:
    store, limit = _store()
    if store.directory is None:
        write("The settings turn the cache off.\n")
        return Exit.OK
    usage = store.usage()
    write(f"folder   {store.directory}\n")
    write(f"entries  {usage.entries}, of which {usage.unread} were never read\n")
    write(f"size     {size(usage.bytes)} of at most {size(limit)}\n")
    _warn(store)
    return Exit.OK


def clear() -> Exit:
    store, _ = _store()
    before = store.usage()
    store.clear()
    write(f"removed {before.entries} entries, {size(before.bytes - store.usage().bytes)}\n")
    return Exit.ENVIRONMENT if _warn(store) else Exit.OK


def collect() -> Exit:
    store, _ = _store()
    before = store.usage()
    store.collect()
    after = store.usage()
    write(f"removed {before.entries - after.entries} entries, {size(before.bytes - after.bytes)}\n")
    return Exit.ENVIRONMENT if _warn(store) else Exit.OK


def _warn(store: Store) -> bool:
    """Says what keeps the store from keeping anything. Whether something does."""
    obstacle = store.obstacle()
    if obstacle is None:
        return False
    write_error(f"tile-lsp: warning: {obstacle}: nothing can be kept there, nor removed")
    write_error("help: the setting cache.directory names another folder, cache.enabled = false does without")
    return True


def _store() -> tuple[Store, int]:
    settings = settings_of(project_root(os.getcwd()))
    limit = settings.cache.size
    return Store(cache_directory(settings), Counters(), max_bytes=limit), limit


def size(count: float) -> str:
    """`3.4 MiB`."""
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} GiB"
