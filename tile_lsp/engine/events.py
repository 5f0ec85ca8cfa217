"""What a session tells those who watch it. Sent on the event loop, after the snapshot holds what they are about."""

from __future__ import annotations

from typing import NamedTuple

from tile_lsp.model.stage import Stage


class KernelChanged(NamedTuple):
    """The types, the state or the jobs of a kernel are new."""

    path: str
    kernel: str


class DiagnosticsChanged(NamedTuple):
    """What is wrong in a file is new."""

    path: str


class DocumentChanged(NamedTuple):
    """What `artifact` would answer for these stages is new, or stands at other lines. No stages: all of them."""

    path: str
    kernel: str
    stages: tuple[Stage, ...] = ()


class Progress(NamedTuple):
    """Work began, went on or ended."""

    running: int
    """Attempts in flight."""
    title: str = ""


class Waiting(NamedTuple):
    """An interpreter takes its time to start, or is not waited for any more."""

    python: str
    begun: bool


SessionEvent = KernelChanged | DiagnosticsChanged | DocumentChanged | Progress | Waiting
