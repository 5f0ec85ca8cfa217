"""What triton compiles for, and the messages that say so."""

from __future__ import annotations

import re

#: sm_88 is not here: triton's LLVM ends the process over it; for sm_101 its assembler does not assemble.
NVIDIA = tuple(f"sm_{n}" for n in (75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121))
AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201", "gfx1250")
TARGETS = NVIDIA + AMD

#: What each architecture's types are inferred for: they are the same from one of these to the next, for kernels that
#: neither use 8-bit floats nor ask for the target.
_CLASSES = (75, 80, 89, 90, 100)


def is_amd(target: str | None) -> bool:
    return target is not None and target.startswith("gfx")


def class_of(target: str) -> str:
    """The least architecture that inference can't tell from this one, 8-bit floats included."""
    if is_amd(target):
        return target
    number = int(target.removeprefix("sm_"))
    return f"sm_{max(first for first in _CLASSES if first <= max(number, _CLASSES[0]))}"


def check_target(target: str) -> str | None:
    """A message if triton does not compile for the target."""
    if target in TARGETS:
        return None
    if target == "sm_88":
        return "triton ends with an LLVM error for sm_88; sm_87 and sm_89 are near"
    digits = re.fullmatch(r"(?:sm|compute)?[_-]?(\d+)(?:\.(\d))?([af]?)", target.strip().lower())
    close = f"sm_{digits[1]}{digits[2] or ''}" if digits else ""
    if digits and digits[3] and close in TARGETS:
        return f"`{target}` is chosen by triton itself; write {close}"
    if close in TARGETS:
        return f"`{target}` is no target; write {close}"
    return f"triton does not compile for {target}; it does for {', '.join(TARGETS)}"
