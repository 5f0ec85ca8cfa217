"""The slice of the workspace that one kernel needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from tile_lsp.analysis.positions import Positions
from tile_lsp.model.closure import Closure
from tile_lsp.model.location import SourceRange

from .kernels import KernelSite
from .workspace import Workspace


@dataclasses.dataclass(frozen=True)
class Blocked:
    """Why there is no closure."""

    message: str
    at: SourceRange | None = None
    """The broken statement, or the definition that lacks something."""
    help: str | None = None
    """What to write to mend it."""
    syntax: bool = False
    """A needed definition is broken text: keep showing the last good types."""


@dataclasses.dataclass(frozen=True)
class ClosureResult:
    """What `build_closure` came to. Exactly one of `closure` and `blocked_by` is None."""

    closure: Closure | None
    positions: Positions
    files: frozenset[str]
    """Paths whose text the result was read from."""
    missing: frozenset[str] = frozenset()
    """Paths that were looked for in vain: should one appear, the result may change."""
    blocked_by: Blocked | None = None


def build_closure(
    kernel: KernelSite, workspace: Workspace, bindings: Mapping[str, str] = MappingProxyType({})
) -> ClosureResult:
    """The closure of a kernel. `bindings` give parameters of the function that makes it: `{"tile": "64"}`."""
    raise NotImplementedError
