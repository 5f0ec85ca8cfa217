"""Counters of what really ran. Tests assert on these, never on time."""

from __future__ import annotations

from collections import Counter

import msgspec


class StoreStats(msgspec.Struct, frozen=True):
    hits: int = 0
    misses: int = 0


class Stats(msgspec.Struct, frozen=True):
    """A picture of the counters."""

    inferences: int = 0
    """Inferences started in a worker."""
    codegens: int = 0
    """Code generations started in a worker."""
    tools: dict[str, int] = {}
    """Starts of external tools, by name."""
    store: StoreStats = StoreStats()
    """Look-ups in the artifact store that found something, or nothing, that could be used."""
    running: int = 0
    """Attempts in flight at this moment."""
    loads: int = 0
    """Forks of a worker that executed user code."""


class Counters:
    """Mutable, owned by one engine; incremented where the work starts, so a failed attempt counts too."""

    def __init__(self) -> None:
        self.inferences = 0
        self.codegens = 0
        self.tools: Counter[str] = Counter()
        self.store_hits = 0
        self.store_misses = 0
        self.loads = 0

    def picture(self, running: int = 0) -> Stats:
        return Stats(
            inferences=self.inferences,
            codegens=self.codegens,
            tools=dict(self.tools),
            store=StoreStats(self.store_hits, self.store_misses),
            running=running,
            loads=self.loads,
        )
