"""Configurations of editors that can't be run here, and the page that names them all."""

from __future__ import annotations

import json
import re
import shutil
import tomllib

from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.settings import decode

from .running import BIN, DOCS

PAGE = DOCS.parent / "editors.md"


def _right(settings: object) -> bool:
    assert settings
    return not decode(settings)[1]


def test_helix():
    configuration = tomllib.loads((DOCS / "helix.toml").read_text())
    server = configuration["language-server"]["tile-lsp"]
    assert shutil.which(server["command"], path=str(BIN))
    assert server["args"] == ["--stdio"]
    # Helix answers `workspace/configuration` with the section of that name.
    assert _right(server["config"]["tile-lsp"])
    _, python = configuration["language"]
    assert (python["name"], python["language-servers"][0]) == ("python", "tile-lsp")


def test_zed():
    extension = tomllib.loads((DOCS / "zed/extension.toml").read_text())
    (name,) = extension["language_servers"]
    settings = json.loads((DOCS / "zed/settings.json").read_text())
    for language in extension["language_servers"][name]["languages"]:
        assert settings["languages"][language]["language_servers"] == [name, "..."]
    assert _right(settings["lsp"][name]["settings"])
    code = (DOCS / "zed/src/lib.rs").read_text()
    (command,) = re.findall(r'which\("(.+?)"\)', code)
    assert shutil.which(command, path=str(BIN))
    assert '"--stdio"' in code


def test_the_page_names_every_file():
    links = {PAGE.parent / link for link in re.findall(r"\]\((editors/.+?)\)", PAGE.read_text())}
    assert all(link.exists() for link in links), links
    files = {path for path in DOCS.iterdir() if path.is_file()}
    assert files <= links
    assert DOCS / "zed" in links


def test_the_page_names_actions_that_there_are():
    kinds = set(re.findall(r"`source\.tile\.(\w+)`", PAGE.read_text()))
    assert kinds
    assert kinds <= {stage.value for frontend in FRONTENDS for stage in frontend.stages}
