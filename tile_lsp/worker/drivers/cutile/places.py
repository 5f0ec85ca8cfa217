"""cuda.tile's locations as chains of places in closure members."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Place = list[Any]
Chain = list[Place]

#: Of a longer chain its ends are kept: calls so deep are a recursion, in which one is like another.
_END = 16


class Places:
    """Remembers the chains of call sites: thousands of records share a few."""

    def __init__(self, members: Collection[str]) -> None:
        self._members = members
        self._sites: dict[int, tuple[Any, Chain]] = {}

    def chain(self, location: Any, site: Any = None) -> Chain:
        """Innermost first. Places outside the closure are left out. `site`: call site of the scope, where `location`
        has none of its own.
        """
        own = self._place(location)
        outer = location.call_site if location is not None and location.call_site is not None else site
        around = self.sites(outer)
        if own is None:
            return around
        return [own, *(around if len(around) < 2 * _END else around[: _END - 1] + around[-_END:])]

    def sites(self, site: Any) -> Chain:
        if site is None:
            return []
        waiting = []
        while site is not None and id(site) not in self._sites:
            waiting.append(site)
            site = site.call_site
        around = self._sites[id(site)][1] if site is not None else []
        for inner in reversed(waiting):  # outermost first: a recursion is deeper than ours may be
            around = self.chain(inner)
            # The location is kept too: its identity must not be given to another.
            self._sites[id(inner)] = (inner, around)
        return around

    @staticmethod
    def is_deep(chain: Chain) -> bool:
        """True for places of a recursion, in which one call is like the one before."""
        return len(chain) > _END and chain.count(chain[1]) > _END // 4

    def is_inside(self, location: Any) -> bool:
        return location.filename in self._members

    def _place(self, location: Any) -> Place | None:
        if location is None or location.filename not in self._members:
            return None
        last, end = location.last_line, location.end_col
        return [
            location.filename,
            location.line,
            location.col,
            -1 if last is None else last,
            -1 if end is None else end,
        ]
