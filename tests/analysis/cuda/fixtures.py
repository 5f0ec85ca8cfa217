"""Workspaces of CUDA C++ written as one text, and closures of their kernels."""

from __future__ import annotations

import re

from tile_lsp.analysis.cuda import KernelSite, Workspace, build_closure, find_kernels
from tile_lsp.analysis.language import ClosureResult
from tile_lsp.model.closure import Closure
from tile_lsp.model.settings import Cuda

ROOT = "/ws"
MAIN = f"{ROOT}/main.cu"


def files_of(text: str) -> dict[str, str]:
    """`-- name.cuh` starts a file; what stands before the first is `main.cu`."""
    parts = re.split(r"^-- (\S+)\n", text, flags=re.MULTILINE)
    files = {MAIN: parts[0]} if parts[0].strip() else {}
    files.update({f"{ROOT}/{name}": body for name, body in zip(parts[1::2], parts[2::2], strict=True)})
    return files


def workspace(text: str, path: str = MAIN, **settings) -> Workspace:
    return Workspace(path, files_of(text).get, [ROOT], Cuda(**settings))


def sites(text: str) -> tuple[KernelSite, ...]:
    return find_kernels(MAIN, workspace(text))


def closure_of(text: str, kernel: str | None = None, expressions: tuple[str, ...] = (), **settings) -> ClosureResult:
    world = workspace(text, **settings)
    found = find_kernels(MAIN, world)
    site = next(one for one in found if kernel in (None, one.qualname))
    return build_closure(site, world, {}, expressions)


def sliced(text: str, kernel: str | None = None, expressions: tuple[str, ...] = (), **settings) -> Closure:
    result = closure_of(text, kernel, expressions, **settings)
    assert result.closure is not None, result.blocked_by
    return result.closure


def members(text: str, kernel: str | None = None, expressions: tuple[str, ...] = (), **settings) -> list[str]:
    """Ids, without the file where it is the main one."""
    modules = sliced(text, kernel, expressions, **settings).modules
    return [member.id.removeprefix("main.cu/") for module in modules for member in module.members]


def text_of(text: str, member: str, kernel: str | None = None) -> str:
    """A member's text in one line."""
    modules = sliced(text, kernel).modules
    found = next(one for module in modules for one in module.members if one.id.removeprefix("main.cu/") == member)
    return " ".join(found.text.split("\n"))
