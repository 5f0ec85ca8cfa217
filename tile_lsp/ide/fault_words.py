"""A fault as a sentence, for a status bar, a list or a message: what is wrong, and what mends it."""

from __future__ import annotations

from tile_lsp.model.outcome import Fault


def in_one_line(fault: Fault) -> str:
    """`"triton is not installed in /usr/bin/python3: /usr/bin/python3 -m pip install triton"`."""
    message, help_ = (" ".join(text.split()) for text in (fault.message, fault.help or ""))
    if not help_:
        return message
    return f"{message.rstrip('.')}. {help_}" if help_[0].isupper() else f"{message.rstrip('.:')}: {help_}"
