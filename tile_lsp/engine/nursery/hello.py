"""What an interpreter is and has, as its process says when it starts."""

from __future__ import annotations

from typing import Any

import msgspec

from tile_lsp.engine.tools import Tool
from tile_lsp.model.outcome import Fault, FaultKind

ANOTHER = "set tile-lsp.python to an interpreter that runs: Python 3.10 or later, with the kernels' compiler"
_PROTOCOL = 2


class FrontEndInfo(msgspec.Struct, frozen=True):
    version: str | None = None
    error: str | None = None
    """Why it can't be used; None where it can."""
    help: str | None = None
    """The command that mends it."""
    fields: dict[str, Any] = {}
    """What this version offers: `bytecode_versions`, `portable_bytecode_versions`, `hints`, `dtypes`."""


class ToolReport(msgspec.Struct, frozen=True):
    path: str | None = None
    version: str = ""
    env: dict[str, str] = {}
    error: str | None = None
    help: str | None = None


class Environment(msgspec.Struct, frozen=True):
    """What an interpreter is and has, as it says itself."""

    protocol: int
    python: str
    executable: str
    platform: str
    frontends: dict[str, FrontEndInfo]
    fork: bool = False
    implementation: str = "cpython"
    reports: dict[str, ToolReport] = msgspec.field(name="tools", default={})
    """Every tool that is known of, the missing ones with what installs them."""
    distributions: dict[str, str] = {}
    environment: dict[str, str] = {}
    """Variables that a compiler or its tools read."""
    sys_path: tuple[str, ...] = ()
    editable: dict[str, str] = {}
    """Import name → the folder that holds the package or module, of what is installed editable."""
    watch: tuple[tuple[str, int, int], ...] = ()
    """Path, modification time (ns) and size of what changes when something is installed."""

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools that are there, by name."""
        return {
            name: Tool(name, report.path, report.version, report.env)
            for name, report in self.reports.items()
            if report.path is not None
        }


class StartFailed(Exception):
    """The interpreter can't be used."""

    def __init__(self, fault: Fault, *, hung: bool = False) -> None:
        super().__init__(fault.message)
        self.fault = fault
        self.hung = hung
        """It said nothing: another try would take as long."""


def start_hung(python: str, how_long: str, words: str = "") -> StartFailed:
    """`how_long`: as in "It did not start {how_long}"."""
    message = f"The interpreter {python} did not start {how_long}, and was stopped."
    if last := "\n".join(words.strip().splitlines()[-6:]):
        message = f"{message} Its last words:\n{last}"
    return StartFailed(Fault(FaultKind.ENVIRONMENT, message, help=ANOTHER, code="interpreter"), hung=True)


def read_hello(line: bytes, python: str, words: str) -> Environment:
    try:
        environment = msgspec.json.decode(line, type=Environment)
    except msgspec.MsgspecError:
        last = "\n".join(words.strip().splitlines()[-6:]) or "it said nothing"
        raise StartFailed(
            Fault(
                FaultKind.ENVIRONMENT,
                f"The interpreter {python} could not be used: {last}",
                help=ANOTHER,
                code="interpreter",
            )
        ) from None
    if environment.protocol != _PROTOCOL:
        raise StartFailed(
            Fault(
                FaultKind.ENVIRONMENT,
                f"tile-lsp's worker speaks protocol {environment.protocol}, its server {_PROTOCOL}: reinstall tile-lsp",
                code="protocol",
            )
        )
    return environment
