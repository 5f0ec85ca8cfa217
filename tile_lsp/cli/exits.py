"""Exit codes, and the errors that lead to them."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    OK = 0
    KERNEL = 1
    """The kernel has a fault."""
    USAGE = 2
    """The command line asks for something that is not there."""
    ENVIRONMENT = 3
    """A compiler or a tool is missing, crashed or took too long."""


class UsageError(Exception):
    """The command line can't be carried out; the message names what would be right."""
