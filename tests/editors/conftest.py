from __future__ import annotations

from pathlib import Path

import pytest

from .running import make_workspace


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    """One store for all: what one editor compiled is there for the next."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def workspace(tmp_path) -> Path:
    return make_workspace(tmp_path / "wörk space")
