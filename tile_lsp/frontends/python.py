"""Python text, as the front ends whose kernels are decorated Python functions read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from tile_lsp.analysis.language import BrokenStatement, ClosureResult, CommentLine
from tile_lsp.analysis.notebook import SUFFIX
from tile_lsp.analysis.python import (
    KernelSite,
    SyntaxProblem,
    Workspace,
    build_closure,
    find_kernels,
    job_comments,
    parse,
    unread_imports,
)
from tile_lsp.model.settings import Settings

_OTHERS = (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".cc", ".cpp", ".cxx")


class Python:
    """The language; satisfies `frontends.base.Language`. Holds no state."""

    drivers = ""
    words = frozenset({"cuda", "numba", "triton"})

    def claims(self, path: str) -> bool:
        """True for whatever is no source of C++: scripts go by any name."""
        return not path.endswith(_OTHERS)

    def workspace(
        self,
        path: str,
        read: Callable[[str], str | None],
        *,
        roots: Sequence[str],
        editable: Mapping[str, str],
        settings: Settings,
    ) -> Workspace:
        whole = settings.loading == "import"
        return Workspace(read, _import_roots(path, roots, settings), editable=editable, whole=whole)

    def problems(self, path: str, workspace: Workspace) -> Iterable[SyntaxProblem]:
        file = workspace.file(path)
        if file is None:
            return ()
        return (*file.problems, *unread_imports(file, workspace)) if workspace.all_refused else file.problems

    def broken(self, path: str, text: str) -> Sequence[BrokenStatement]:
        return parse(path, text).broken

    def job_comments(self, path: str, workspace: Workspace) -> Iterable[CommentLine]:
        file = workspace.file(path)
        return job_comments(file) if file is not None else ()


PYTHON = Python()


class PythonFrontEnd:
    """What the front ends of Python share: kernels are functions that one of their decorators makes kernels."""

    language: ClassVar[Python] = PYTHON
    comment: ClassVar[str] = "#"
    kernel_decorators: ClassVar[frozenset[str]]
    """Dotted names: `{"cuda.tile.kernel"}`."""

    def find_kernels(self, path: str, workspace: Workspace) -> tuple[KernelSite, ...]:
        file = workspace.file(path)
        if file is None:
            return ()
        sites = find_kernels(file, workspace, self.kernel_decorators)
        return tuple(site for site in sites if self.is_kernel(site, workspace))

    def closure(
        self, site: KernelSite, workspace: Workspace, bindings: Mapping[str, str], expressions: Sequence[str]
    ) -> ClosureResult:
        return build_closure(site, workspace, bindings, expressions)

    def is_kernel(self, site: KernelSite, workspace: Workspace) -> bool:
        """False for a decorated function that can't be launched: a helper, where one decorator makes both."""
        return True


def _import_roots(path: str, roots: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Where absolute imports are looked for: the file's own folder as a script would, then the workspace's."""
    folder = os.path.dirname(path)
    if not path.endswith(SUFFIX):  # no notebook is a module of a package
        while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
    found = [folder]
    for root in roots:
        found += [os.path.join(root, extra) for extra in settings.extra_roots]
        found += [root, os.path.join(root, "src")]
    return tuple(dict.fromkeys(os.path.normpath(entry) for entry in found))
