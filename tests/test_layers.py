"""The architecture's absences: who imports whom, and what no process of ours may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKER = ROOT / "tile_lsp" / "worker"
COMPILERS = {
    "cutile": {"cuda"},
    "numba": {"numba", "numba_cuda", "llvmlite", "numpy"},
    "numba_mlir": {"numba_cuda_mlir"},
}


def test_imports_point_downwards():
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    run = subprocess.run([*lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def _imports(path: Path, *, top_level_only: bool) -> set[str]:
    """First names of the absolute imports of a file."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _drivers_own(path: Path) -> bool:
    """A module of a driver that is imported only once the driver compiles: it may name its compiler."""
    return path.parent.parent.name == "drivers" and path.name != "__init__.py"


@pytest.mark.parametrize("path", sorted(WORKER.rglob("*.py")), ids=lambda path: path.relative_to(WORKER).as_posix())
def test_a_worker_starts_with_the_standard_library_alone(path: Path):
    known = set(sys.stdlib_module_names)
    if _drivers_own(path):
        known |= COMPILERS.get(path.parent.name, {path.parent.name})
    assert _imports(path, top_level_only=path.parent.parent.name == "drivers") <= known


LOADED = """
import sys
from tile_lsp.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--version",), {"click", "msgspec", "asyncio", "pygls", "rich"}),
        (("--help",), {"pygls", "rich", "asyncio"}),
        (("jobs", str(ROOT / "examples" / "cutile" / "vector_add.py")), {"pygls", "lsprotocol", "cuda", "cuda.tile"}),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: tuple[str, ...], absent: set[str]):
    run = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout
    assert absent.isdisjoint(run.stderr.splitlines()[-1].split())
