"""Workspaces written as one text, and closures of their kernels."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from tile_lsp.analysis.python import ClosureResult, KernelSite, Workspace, build_closure, find_kernels
from tile_lsp.model.closure import Closure

ROOT = "/ws"
DECORATORS = frozenset({"cuda.tile.kernel"})
HEAD = "import cuda.tile as ct\n"


def files_of(text: str) -> dict[str, str]:
    """`-- name.py` starts a file; what stands before the first is `main.py`."""
    parts = re.split(r"^-- (\S+)\n", text, flags=re.MULTILINE)
    files = {f"{ROOT}/main.py": parts[0]} if parts[0].strip() else {}
    files.update({f"{ROOT}/{name}": body for name, body in zip(parts[1::2], parts[2::2], strict=True)})
    return files


def workspace(files: dict[str, str], **settings) -> Workspace:
    return Workspace(files.get, [ROOT], **settings)


def sites(files: dict[str, str], name: str = "main.py") -> tuple[KernelSite, ...]:
    world = workspace(files)
    file = world.file(f"{ROOT}/{name}")
    assert file is not None
    return find_kernels(file, world, DECORATORS)


def site(world: Workspace, kernel: str | None = None, name: str = "main.py") -> KernelSite:
    file = world.file(f"{ROOT}/{name}")
    assert file is not None
    found = find_kernels(file, world, DECORATORS)
    if kernel is None:
        assert len(found) == 1, found
        return found[0]
    return next(one for one in found if one.qualname == kernel)


def closure_of(text: str, kernel: str | None = None, bindings: dict[str, str] | None = None) -> ClosureResult:
    world = workspace(files_of(text))
    return build_closure(site(world, kernel), world, bindings or {})


def sliced(text: str, kernel: str | None = None, bindings: dict[str, str] | None = None) -> Closure:
    result = closure_of(text, kernel, bindings)
    assert result.closure is not None, result.blocked_by
    return result.closure


def members(closure: Closure) -> dict[str, str]:
    return {member.id: member.text for module in closure.modules for member in module.members}


def execute(closure: Closure, *arguments: object) -> str:
    """Loads the closure in a process of its own and calls the kernel's function; what user code prints is a failure."""
    task = json.dumps({"closure": msgspec.to_builtins(closure), "arguments": arguments})
    script = Path(__file__).with_name("load.py")
    command = [sys.executable, "-I", str(script)]
    run = subprocess.run(command, input=task, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["output"] == "", answer["output"]
    return answer["result"]
