"""Python's collector of cyclic garbage, set for a process that lives long and answers fast."""

from __future__ import annotations

import gc

#: Objects made, net, until the youngest are looked at. Syntax trees come by the thousand, and are no garbage.
_YOUNG = 50_000


def calm() -> None:
    """Call it once everything is imported: that lives as long as the process, and is not looked at again."""
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)
