"""What is told of changes on disk, however an editor writes."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tile_lsp.engine.watching import Watcher, is_remote


class Told:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self._more = asyncio.Event()

    def __call__(self, paths) -> None:
        self.names |= {Path(path).name for path in paths}
        self._more.set()

    async def until(self, name: str) -> None:
        while name not in self.names:
            self._more.clear()
            await asyncio.wait_for(self._more.wait(), PATIENCE)


def write(root: Path) -> None:
    (root / "k.py").write_text("x = 1\n")


def replace_atomically(root: Path) -> None:
    (root / "k.py.tmp").write_text("x = 1\n")
    os.replace(root / "k.py.tmp", root / "k.py")


def delete(root: Path) -> None:
    (root / "old.py").unlink()


def move_in(root: Path) -> None:
    os.rename(root / "pkg" / "inner.py", root / "k.py")


def bring_a_folder(root: Path) -> None:
    shutil.copytree(root / "pkg", root / "new" / "deep")


@pytest.mark.parametrize("polling", [False, True])
@pytest.mark.parametrize(
    ("act", "name"),
    [
        (write, "k.py"),
        (replace_atomically, "k.py"),
        (delete, "old.py"),
        (move_in, "k.py"),
        (bring_a_folder, "inner.py"),
    ],
)
async def test_a_change_is_told(tmp_path, act, name, polling):
    root = tmp_path / "with space ü"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "inner.py").write_text("")
    (root / "old.py").write_text("")
    told = Told()
    watcher = Watcher([str(root)], told, polling=polling)
    await watcher.start()
    try:
        act(root)
        await told.until(name)
    finally:
        watcher.close()


@pytest.mark.parametrize("polling", [False, True])
async def test_a_folder_that_came_later_is_watched_too(tmp_path, polling):
    told = Told()
    watcher = Watcher([str(tmp_path)], told, polling=polling)
    await watcher.start()
    try:
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "first.py").write_text("")
        await told.until("first.py")
        (tmp_path / "new" / "deep").mkdir()
        (tmp_path / "new" / "deep" / "second.py").write_text("")
        await told.until("second.py")
    finally:
        watcher.close()


async def test_what_is_nobodys_source_is_not_told(tmp_path):
    for folder in (".venv/lib", ".git", "pkg/__pycache__", "node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    told = Told()
    watcher = Watcher([str(tmp_path)], told)
    await watcher.start()
    try:
        for folder in (".venv/lib", ".git", "pkg/__pycache__", "node_modules"):
            (tmp_path / folder / "hidden.py").write_text("")
        (tmp_path / "pkg" / "notes.txt").write_text("")
        (tmp_path / "pkg" / "last.py").write_text("")
        await told.until("last.py")
        assert told.names == {"last.py"}
    finally:
        watcher.close()


def write_data(root: Path) -> None:
    (root / "data" / "tuned.json").write_text("2")


def replace_data(root: Path) -> None:
    (root / "data" / "new").write_text("2")
    os.replace(root / "data" / "new", root / "data" / "tuned.json")


def delete_data(root: Path) -> None:
    (root / "data" / "tuned.json").unlink()


def replace_folder(root: Path) -> None:
    shutil.copytree(root / "data", root / "other")
    shutil.rmtree(root / "data")
    os.rename(root / "other", root / "data")


@pytest.mark.parametrize("polling", [False, True])
@pytest.mark.parametrize("act", [write_data, replace_data, delete_data, replace_folder])
async def test_a_followed_file_is_told_wherever_it_is(tmp_path, act, polling):
    (tmp_path / "src").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tuned.json").write_text("1")
    told = Told()
    watcher = Watcher([str(tmp_path / "src")], told, polling=polling)
    await watcher.start()
    watcher.follow([str(tmp_path / "data" / "tuned.json")])
    try:
        act(tmp_path)
        await told.until("tuned.json")
        assert told.names == {"tuned.json"}
    finally:
        watcher.close()


@pytest.mark.parametrize("polling", [False, True])
async def test_a_followed_file_may_come_with_its_folders_and_go_with_them(tmp_path, polling):
    file = tmp_path / "a" / "b" / "tuned.json"
    told = Told()
    watcher = Watcher([], told, polling=polling)
    watcher.follow([str(file)])
    try:
        for _ in range(2):
            file.parent.mkdir(parents=True)
            await told.until("tuned.json")
            told.names.clear()
            file.write_text("1")
            await told.until("tuned.json")
            told.names.clear()
            shutil.rmtree(tmp_path / "a")
            await told.until("tuned.json")
            told.names.clear()
    finally:
        watcher.close()


async def test_what_is_no_longer_followed_is_not_told(tmp_path):
    told = Told()
    watcher = Watcher([], told)
    watcher.follow([str(tmp_path / "first.json")])
    watcher.follow([str(tmp_path / "second.json")])
    try:
        (tmp_path / "first.json").write_text("1")
        (tmp_path / "second.json").write_text("1")
        await told.until("second.json")
        assert told.names == {"second.json"}
    finally:
        watcher.close()


async def test_a_root_that_is_not_there_is_no_error(tmp_path):
    watcher = Watcher([str(tmp_path / "nowhere")], lambda paths: None)
    await watcher.start()
    watcher.close()


def test_a_local_folder_is_not_remote(tmp_path):
    assert not is_remote(str(tmp_path))
