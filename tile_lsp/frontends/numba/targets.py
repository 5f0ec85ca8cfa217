"""What numba-cuda compiles for, and the messages that say so."""

from __future__ import annotations

import re

TARGETS = tuple(f"sm_{n}" for n in (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121))


def check_target(target: str) -> str | None:
    """A message if numba-cuda does not compile for the target."""
    if target in TARGETS:
        return None
    digits = re.fullmatch(r"(?:sm|compute)?[_-]?(\d+)(?:\.(\d))?([af]?)", target.strip().lower())
    close = f"sm_{digits[1]}{digits[2] or ''}" if digits else ""
    if digits and digits[3] and close in TARGETS:
        return f"`{target}` is chosen by numba-cuda itself; write {close}"
    if close in TARGETS:
        return f"`{target}` is no target; write {close}"
    return f"numba-cuda does not compile for {target}; it does for {', '.join(TARGETS)}"
