"""Texts and folders as they are on disk, however coarse its clock is."""

from __future__ import annotations

import os
from pathlib import Path

from tile_lsp.engine.files import Files

NEVER_PAST = (2**33, 2**33)


def test_what_changes_twice_without_another_time_is_read_twice(tmp_path: Path):
    files, path, folder = Files(), tmp_path / "a.py", str(tmp_path)
    for text in ("x = 1", "x = 2"):
        path.write_text(text)
        os.utime(path, NEVER_PAST)
        assert files.read(str(path)) == text
    for name in ("b.py", "c.py"):
        (tmp_path / name).touch()
        os.utime(folder, NEVER_PAST)
        assert str(tmp_path / name) in files.listing(folder)
