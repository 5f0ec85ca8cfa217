"""A job with what it takes to carry it out, and the keys that inference goes by."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

from tile_lsp.frontends.base import FrontEnd
from tile_lsp.model.closure import Closure
from tile_lsp.model.job import Job, Scalar, digest

from .environment import compiler_fingerprint
from .workers import Environment


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A job with what it takes to carry it out."""

    frontend: FrontEnd
    environment: Environment
    closure: Closure
    job: Job
    externals: tuple[tuple[str, str], ...] = ()
    """Third-party modules of the closure, with the versions of their distributions."""

    @functools.cached_property
    def inference_fields(self) -> Mapping[str, Scalar]:
        return self.frontend.inference_fields(self.job.config, self.closure, self.job.arguments)

    @functools.cached_property
    def inference_key(self) -> str:
        return digest("inference", self.specialisations_key, self.closure.version)

    @functools.cached_property
    def specialisations_key(self) -> str:
        """What inference reads, less the text of the closure."""
        return digest(
            "specialisations",
            self.job.frontend,
            self.closure.entry.module,
            self.closure.entry.qualname,
            self.job.arguments,
            sorted(self.inference_fields.items()),
            compiler_fingerprint(self.environment, self.job.frontend),
            self.externals,
        )
