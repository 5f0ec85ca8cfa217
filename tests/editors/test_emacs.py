"""Emacs and eglot with the configuration of docs/editors, on a real kernel and the real server."""

from __future__ import annotations

import pytest

from .running import HERE, needs, run_editor

PACKAGES = "/usr/share/emacs/site-lisp/elpa"

pytestmark = [
    pytest.mark.editors,
    pytest.mark.slow,
    needs("emacs", "emacs-nox and elpa-eglot, of Debian", PACKAGES),
]


@pytest.mark.parametrize("script", ["plain", "documents"])
def test_eglot(script, workspace, cache, subtests):
    emacs = HERE / "emacs"
    command = ["emacs", "-Q", "--batch", "-l", emacs / "checks.el", "-l", emacs / f"{script}.el"]
    run_editor(command, workspace, cache, subtests, {"PACKAGES": PACKAGES})
