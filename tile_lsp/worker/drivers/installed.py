"""What drivers share whose compiler is a distribution of the user's interpreter: is it there, and new enough?"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from .. import distributions, faults, tools
from ..standins import StandIns


class Installed:
    name: ClassVar[str]
    """Of the distribution, as users know it."""
    names: ClassVar[tuple[str, ...]] = ()
    """Others that it may go by."""
    floor: ClassVar[tuple[int, int]]
    """The oldest release that we can drive."""
    best: ClassVar[str] = ""
    """What to say of later ones."""
    wanted: ClassVar[str]
    """What to install."""
    parts: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and distribution of what else has a part in the code: it is part of what the compiler is known by."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._error: str | None = None
        self._help: str | None = None
        self._compiler: Any = None
        self._standins: StandIns | None = None

    def start(self, standins: StandIns) -> None:
        self._standins = standins
        found = (distributions.version_of(name) for name in (self.name, *self.names))
        self._version = next((version for version in found if version), None)
        if self._version is None:
            self._error = f"{self.name} is not installed in {sys.executable}"
            self._help = distributions.pip(self.wanted)
            return
        release = tools.release(f"release {self._version}")
        if release is None or release < self.floor:
            floor = ".".join(map(str, self.floor))
            works = f"which works with {floor} and later{self.best}"
            self._error = f"{self.name} {self._version} is too old for tile-lsp, {works}"
            self._help = distributions.pip(self.wanted)
            return
        try:
            self._compiler = self._load(standins)
        except Exception as error:
            self._error = f"{self.name} {self._version} can't be used: {faults.describe(error)}"
            self._help = distributions.pip("--force-reinstall", self.wanted)

    def tools(self) -> dict[str, str]:
        return {}

    def report(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        version, fields = self._version, {}
        if self._compiler is not None:
            found = ((name, distributions.version_of(package)) for name, package in self.parts)
            if described := ", ".join(f"{name} {found}" for name, found in found if found):
                version = f"{version} ({described})"
            fields = self._fields(table)
        return {"version": version, "error": self._error, "help": self._help, "fields": fields}

    def infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Any, dict[str, Any]]:
        if self._compiler is None:
            missing = faults.fault(faults.ENVIRONMENT, self._error or f"{self.name} is missing", help=self._help)
            return None, {"inference": {"faults": [missing]}, "options": {}}
        return self._infer(request, standins)

    def _load(self, standins: StandIns) -> Any:
        """The driver's compiler: imports what is installed."""
        raise NotImplementedError

    def _fields(self, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """What the front end is told of this compiler. `table`: tools, with what they report."""
        return {}

    def _infer(self, request: dict[str, Any], standins: StandIns) -> tuple[Any, dict[str, Any]]:
        raise NotImplementedError
