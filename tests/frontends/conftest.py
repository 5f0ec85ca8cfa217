"""Kernels given as text, read as the analysis thread reads them, with no compiler."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from tile_lsp.analysis.comments import read_comments
from tile_lsp.analysis.python import Workspace, find_kernels
from tile_lsp.frontends.base import JobSpec, Problem
from tile_lsp.frontends.cutile import CuTile
from tile_lsp.model.settings import decode

HEAD = "import cuda.tile as ct\n"


class Read(NamedTuple):
    """The specs and problems of the last kernel of a file."""

    specs: tuple[JobSpec, ...]
    problems: tuple[Problem, ...]
    text: str

    @property
    def arguments(self) -> dict[str, str]:
        return {argument.name: argument.spec for argument in self.specs[0].arguments}

    @property
    def origins(self) -> dict[str, str]:
        spec = self.specs[0]
        return {a.name: origin.kind for a, origin in zip(spec.arguments, spec.origins, strict=True)}

    @property
    def details(self) -> dict[str, str]:
        spec = self.specs[0]
        return {a.name: origin.detail for a, origin in zip(spec.arguments, spec.origins, strict=True)}


@pytest.fixture
def read() -> Callable[..., Read]:
    return read_kernel


def read_kernel(
    text: str, settings: Mapping[str, object] | None = None, others: Mapping[str, str] | None = None
) -> Read:
    """Reads the last kernel of a text that `import cuda.tile as ct` is put in front of. `others`: files beside it."""
    text = HEAD + textwrap.dedent(text)
    files = {"/w/kernels.py": text, **{f"/w/{n}": textwrap.dedent(t) for n, t in (others or {}).items()}}
    workspace = Workspace(files.get, ["/w"])
    file = workspace.file("/w/kernels.py")
    assert file is not None
    frontend = CuTile()
    site = find_kernels(file, workspace, frontend.kernel_decorators)[-1]
    comments = read_comments((line.text, line.span) for line in site.comment_lines)
    decoded, wrong = decode(settings or {})
    assert not wrong
    specs, problems = frontend.job_specs(site, workspace, comments, decoded)
    return Read(specs, problems, text)
