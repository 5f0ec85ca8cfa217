"""What docs/ says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tile_lsp.engine.settings import workspace_settings
from tile_lsp.frontends.cutile.spec import SpecFault, parse
from tile_lsp.model.settings import Settings

DOCS = Path(__file__).parent.parent / "docs"
VALUES = re.findall(
    r"`([^`]+)`",
    re.search(r"\| value \|.*?\n\n", (DOCS / "signatures.md").read_text(), re.DOTALL)[0].replace("| means", ""),
)


@pytest.mark.parametrize("value", [value for value in VALUES if value != "NAME=VALUE"])
def test_the_notation_of_arguments(value: str):
    assert not isinstance(parse(value), SpecFault)


def test_the_settings_of_a_project():
    (block,) = re.findall(r"```toml\n(.*?)```", (DOCS / "settings.md").read_text(), re.DOTALL)
    settings, problems, _ = workspace_settings(["/w"], {"/w/pyproject.toml": block}.get)
    assert problems == ()
    assert settings.targets == ("sm_90", "sm_100")
    assert settings.for_kernel("matmul_large").arguments == {"A": "f16[4096,4096]", "tm": "128"}


@pytest.mark.parametrize("name", [name.replace("_", "-") for name in Settings.__struct_fields__])
def test_every_setting_is_told_of(name: str):
    assert re.search(rf"`{name}[`.]", (DOCS / "settings.md").read_text())


def test_the_settings_that_messages_name_are_there():
    source = DOCS.parent / "tile_lsp"
    named = {
        setting.rstrip(".")
        for path in source.rglob("*.py")
        for setting in re.findall(r"\b(?:set|setting) tile-lsp\.([A-Za-z.]+)", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    for setting in named:
        kind, *inner = setting.split(".")
        assert kind in Settings.__struct_fields__, setting
        assert all(hasattr(getattr(Settings(), kind), name) for name in inner), setting
