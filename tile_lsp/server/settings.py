"""The session's settings: those of the workspace's files, then the editor's own over them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tile_lsp.engine.files import Files
from tile_lsp.engine.settings import workspace_settings
from tile_lsp.model.settings import Settings


def session_settings(roots: Sequence[str], editor: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """Settings, and what is wrong with them, for people."""
    settings, in_files, in_editor = workspace_settings(roots, Files().read, editor)
    problems = [f"{os.path.basename(p.path)}:{p.span.line}: {p.message}" for p in in_files]
    return settings, (*problems, *(f"settings: {problem.message}" for problem in in_editor))
