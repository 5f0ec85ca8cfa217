"""Arguments from launch sites that can be read without running them: `ct.launch(stream, grid, kernel, (a, b, 128))`."""

from __future__ import annotations

import msgspec

from tile_lsp.analysis.python import KernelSite
from tile_lsp.frontends.base import Origin

from .annotations import Annotation
from .assume import Parameter
from .names import Names
from .spec import Spec


class Launched(msgspec.Struct, frozen=True):
    """What a launch tells of one argument: all of it, or of an array the dtype or the rank."""

    where: str
    spec: Spec | None = None
    dtype: str | None = None
    rank: int | None = None

    def parameter(self, name: str, annotation: Annotation, default: Spec | None) -> Parameter:
        return Parameter(name, annotation, self.spec, Origin("launch", self.where), self.dtype, self.rank, default)


def read_launches(kernel: KernelSite, names: Names) -> dict[str, Launched]:
    return {}
