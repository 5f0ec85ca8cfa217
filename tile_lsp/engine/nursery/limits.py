"""What a worker may take."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Times in seconds, sizes in bytes."""

    inference: float = 60.0
    codegen: float = 60.0
    start: float = 120.0
    memory: int = 8 << 30
    """What a worker's code may allocate; 0: no limit."""
    output_tail: int = 64 << 10
    output_cap: int = 64 << 20
    """A worker that prints more is ended."""
    holders: int = 16
    jobs: int | None = None
    """Workers at work at once; None: one for each core."""
    fork: bool = True
    """False: start each worker from scratch."""
