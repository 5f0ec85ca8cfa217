"""Vim and ALE with the configuration of docs/editors, on a real kernel and the real server."""

from __future__ import annotations

import pytest

from .running import HERE, needs, run_editor

PLUGIN = "/usr/share/vim-ale"

pytestmark = [pytest.mark.editors, pytest.mark.slow, needs("vim", "vim and vim-ale, of Debian", PLUGIN)]


def test_ale(workspace, cache, subtests):
    command = ["vim", "-N", "-u", "NONE", "-i", "NONE", "-n", "--not-a-term", "-es", "-S", HERE / "vim/ale.vim"]
    run_editor(command, workspace, cache, subtests, {"PLUGIN": PLUGIN})
