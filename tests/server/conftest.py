"""What the tests of the server share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all: what one test compiled is there for the next."""
    return tmp_path_factory.mktemp("store")
