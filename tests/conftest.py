"""What holds for every test: a machine that is slow, or busy with something else, makes none of them fail."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest

from tests.support.patience import PATIENCE
from tile_lsp.engine import compiler, launcher
from tile_lsp.engine.nursery import process, worker

# The same examples in every run: what is true of a text must not hang on luck, nor on how long an example takes.
hypothesis.settings.register_profile(
    "anywhere", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("anywhere")


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """Where the engine goes on without an answer after some seconds, since somebody waits, tests wait for it."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (compiler, "_PATIENCE"),
            (compiler, "_PARTING"),
            (launcher, "_PARTING"),
            (process, "PARTING"),
            (worker, "PARTING"),
            (worker, "_LAST_WORDS"),
        ):
            patch.setattr(module, name, PATIENCE)
        yield
