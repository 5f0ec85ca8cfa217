"""Compilers that a worker can drive, by the name of their front end."""

from __future__ import annotations

from typing import Any, Protocol

from ..standins import StandIns
from .cutile import CuTile
from .numba import Numba
from .numba_mlir import NumbaMlir
from .triton import Triton


class Held(Protocol):
    """A typed IR, kept in the worker's memory."""

    def listings(self) -> dict[str, Any]:
        """`{"hir": artifact, "typed": artifact}`, where the language has them. Asked for once, before any `codegen`."""
        ...

    def codegen(self, request: dict[str, Any]) -> dict[str, Any]:
        """`{"hints", "targets", "symbol"}` → `{"blobs": {name: base64}, "values": {}, "faults": {target: [fault]}}`."""
        ...


class Driver(Protocol):
    """One compiler. What can go wrong in the user's code comes back as faults; an exception is our own error."""

    distributions: tuple[str, ...]
    """Names of what it is installed by, for the fingerprint."""

    def start(self, standins: StandIns) -> None:
        """Import the compiler, if it is there. Before anything else is done with the driver; must start no thread."""
        ...

    def tools(self) -> dict[str, str]:
        """Programs that the compiler brings along: name → path. One that there is anyway is used in its place."""
        ...

    def report(self, tools: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The front end's entry in the hello: `version`, `error`, `help`, `fields`."""
        ...

    def warm(self) -> None:
        """Compile something small of our own, until it is quick."""
        ...

    def touch(self) -> None:
        """The same once, in a worker that waits: the pages that an inference writes to become its own ahead of time."""
        ...

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Held | None, dict[str, Any]]:
        """`{"closure", "arguments", "fields", "symbol"}` → `{"inference", "options"}`, and what `codegen` needs
        later. Without the texts of the IR, unless it failed: they are what `listings` is for.
        """
        ...


DRIVERS: dict[str, Driver] = {"cutile": CuTile(), "triton": Triton(), "numba": Numba(), "numba-mlir": NumbaMlir()}
"""Of this process; `choose` makes them others."""


def choose(name: str) -> None:
    """The driver of that name alone; where it is empty, Python's stay. What is not loaded takes no time."""
    if name:
        from .cuda import Cuda

        DRIVERS.clear()
        DRIVERS[name] = {"cuda": Cuda}[name]()
