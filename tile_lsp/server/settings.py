"""The session's settings: those of the workspace's files, then the editor's own over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tile_lsp.engine.files import Files
from tile_lsp.engine.settings import FileProblem, workspace_settings
from tile_lsp.model.settings import Settings

SELECTED = "selectedInterpreter"
"""Beside the settings of an editor: the Python that is selected there, for where no setting names one."""


def session_settings(
    roots: Sequence[str], editor: Mapping[str, Any]
) -> tuple[Settings, tuple[FileProblem, ...], tuple[str, ...]]:
    """Settings, what is wrong with those of files, and what is wrong with the editor's, for people."""
    own = {name: value for name, value in editor.items() if name != SELECTED}
    files = Files()
    settings, in_files, in_editor = workspace_settings(roots, files.read, own, files.refusal)
    if settings.python is None and isinstance(selected := editor.get(SELECTED), str):
        settings = msgspec.structs.replace(settings, python=selected)
    return settings, in_files, tuple(f"settings: {problem.message}" for problem in in_editor)


def is_trusted(settings: Settings, said: bool) -> bool:
    """`said`: by the editor, which has the word unless the user's settings take it."""
    return said if settings.trust == "editor" else settings.trust == "always"
