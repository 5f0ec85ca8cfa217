"""The session's settings: those of the workspace's files, then the editor's own over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tile_lsp.model.settings import Settings, decode


def session_settings(roots: Sequence[str], editor: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """Settings, and what is wrong with the editor's, for people."""
    settings, problems = decode(editor)
    return settings, tuple(f"settings: {problem.message}" for problem in problems)
