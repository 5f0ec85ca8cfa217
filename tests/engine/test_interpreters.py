"""The order in which interpreters are tried: what the user says, what lies by the file, what happens to be active."""

from __future__ import annotations

from pathlib import Path

import pytest

from tile_lsp.engine.interpreters import candidates


def environment(folder: Path) -> str:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")
    return str(python)


def test_order(tmp_path, monkeypatch):
    root = tmp_path / "work"
    said = environment(tmp_path / "said")
    own = environment(root / "sub" / "venv")
    shared = environment(root / ".venv")
    active = environment(tmp_path / "active")
    conda = environment(tmp_path / "conda")
    environment(tmp_path / ".venv")  # above the workspace
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    found = candidates(str(root / "sub" / "k.py"), [str(root)], said)
    assert [candidate.path for candidate in found][:5] == [said, own, shared, active, conda]


@pytest.mark.parametrize("name", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_what_is_active_is_taken_where_the_workspace_has_none(tmp_path, monkeypatch, name):
    for other in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(other, raising=False)
    active = environment(tmp_path / "active")
    monkeypatch.setenv(name, str(tmp_path / "active"))
    first = next(candidates(str(tmp_path / "work" / "k.py"), [str(tmp_path / "work")]))
    assert (first.path, first.source) == (active, name)
