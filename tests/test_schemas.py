"""schemas/ says what the code's types say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.schemas import generate

FOLDER = Path(__file__).parent.parent / "schemas"


@pytest.mark.parametrize("name", sorted(generate()))
def test_fresh(name: str):
    assert (FOLDER / name).read_text(encoding="utf-8") == generate()[name], "run `make schemas`"


def test_nothing_else_stands_there():
    assert {path.name for path in FOLDER.iterdir()} == set(generate())
