"""Running an editor without a screen on a workspace, and reading what its script found.

The scripts of the editors write one JSON object a line to the file that `CHECKS` names: `check`, and `problem` where it
failed; the last is `end`. Nothing that an editor started may outlive it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from tests.support.patience import PATIENCE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs/editors"
BIN = Path(sys.executable).parent
LIMIT = 900.0
"""Seconds for one editor's run. No run is faster or slower for it."""
_MARK = "TILE_LSP_EDITOR_TEST"


def needs(program: str, package: str, *files: str) -> pytest.MarkDecorator:
    """Skip where an editor is not installed; `files` are what else it takes."""
    missing = shutil.which(program, path=f"{BIN}:{os.environ['PATH']}") is None or not all(map(os.path.exists, files))
    return pytest.mark.skipif(missing, reason=f"{program} is not here: install {package}")


def make_workspace(folder: Path) -> Path:
    """The matmul of the examples, and the same with characters of two and four bytes before names."""
    folder.mkdir()
    text = (ROOT / "examples/cutile/matmul.py").read_text()
    (folder / "matmul.py").write_text(text)
    (folder / "wide.py").write_text(re.sub(r"(?m)^( +)(acc = multiply)", r"\1'😋é'; \2", text))
    (folder / "tile-lsp.toml").touch()
    (folder / ".venv").symlink_to(BIN.parent)
    return folder


def run_editor(
    command: Sequence[str | Path],
    workspace: Path,
    cache: Path,
    subtests: pytest.Subtests,
    environment: Mapping[str, str] = {},
) -> None:
    """Run it to its end. Each check of its script is a subtest."""
    home = workspace.parent / "home"
    home.mkdir()
    results = home / "checks"
    results.touch()
    mark = uuid.uuid4().hex
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "VIRTUAL_ENV"))}
    environment = {
        **kept,
        **environment,
        _MARK: mark,
        "CHECKS": str(results),
        "DOCS": str(DOCS),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{BIN}:{kept['PATH']}",
        "TERM": "dumb",
        "WORKSPACE": str(workspace),
        "XDG_CACHE_HOME": str(cache),
    }
    process = subprocess.Popen(
        command,
        cwd=workspace,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0].decode(errors="replace")
        output += f"\nno end after {LIMIT} s"
    finally:
        left = _left(mark)
    records = [json.loads(line) for line in results.read_text().splitlines()]
    for record in records[:-1]:
        with subtests.test(record["check"]):
            assert not record.get("problem"), f"{record['problem']}\n{output}"
    assert records, output
    assert records[-1]["check"] == "end", f"ended after the check {records[-1]['check']!r}:\n{output}"
    assert len(records) > 1, output
    assert process.returncode == 0, output
    assert not left, f"these outlived their editor: {left}"


def _left(mark: str) -> list[str]:
    """What still runs of the processes that an editor started, after a time for them to end; killed, then."""
    end = time.monotonic() + PATIENCE
    found = _marked(mark)
    while found and time.monotonic() < end:
        psutil.wait_procs(found, timeout=0.2)
        found = _marked(mark)
    names = []
    for process in found:
        try:
            names.append(" ".join(process.cmdline()))
            process.kill()
        except psutil.Error:
            pass
    return names


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            pass
    return found
