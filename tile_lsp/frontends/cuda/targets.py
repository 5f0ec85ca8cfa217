"""What NVRTC compiles for, and the messages that say so."""

from __future__ import annotations

import re

_PLAIN = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
_OWN = (90, 100, 103, 110, 120, 121)
"""With instructions that no other architecture has: `sm_90a`."""
_FAMILY = (100, 103, 110, 120, 121)

TARGETS = (
    *(f"sm_{n}" for n in _PLAIN),
    *(f"sm_{n}a" for n in _OWN),
    *(f"sm_{n}f" for n in _FAMILY),
)


def check_target(target: str) -> str | None:
    """A message if NVRTC does not compile for the target."""
    if target in TARGETS:
        return None
    digits = re.fullmatch(r"(?:sm|compute)?[_-]?(\d+)(?:\.(\d))?([af]?)", target.strip().lower())
    close = f"sm_{digits[1]}{digits[2] or ''}{digits[3]}" if digits else ""
    if close in TARGETS:
        return f"`{target}` is no target; write {close}"
    return f"NVRTC does not compile for {target}; it does for {', '.join(TARGETS)}"
