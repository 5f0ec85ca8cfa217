"""cuda.tile's locations as chains of places in closure members."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Place = list[Any]
Chain = list[Place]


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
        return [own, *around] if own is not None else around

    def sites(self, site: Any) -> Chain:
        if site is None:
            return []
        known = self._sites.get(id(site))
        if known is None:
            # The location is kept too: its identity must not be given to another.
            known = self._sites[id(site)] = (site, self.chain(site))
        return known[1]

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
