"""Text that a terminal shows and does not obey: what a source holds must not have a say in what a terminal does."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]")
"""Tabs and ends of lines do no harm."""


def visible(text: str) -> str:
    """With its control characters escaped, as `\\x1b`."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
