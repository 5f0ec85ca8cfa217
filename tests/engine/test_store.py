"""The store keeps what it is given, and turns everything else into a miss."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.store import Store

KEY = "ab" + "0" * 62
OTHER = "cd" + "1" * 62


def make(tmp_path: Path, **limits: int) -> Store:
    return Store(tmp_path / "store", Counters(), **limits)


def files(store: Store, kind: str) -> list[Path]:
    assert store.directory is not None
    return [path for path in (store.directory / kind).glob("*/*") if path.is_file()]


def test_what_is_put_is_found_by_another_store(tmp_path):
    make(tmp_path).put(KEY, {"cubin": b"\x7fELF", "remarks": b""})
    store = make(tmp_path)
    assert store.get(KEY) == {"cubin": b"\x7fELF", "remarks": b""}
    assert store.get(OTHER) is None
    assert (store._counters.store_hits, store._counters.store_misses) == (1, 1)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("kind", ["index", "objects"])
@pytest.mark.parametrize("damage", [truncate, flip_a_bit, empty, Path.unlink, replace_by_folder])
def test_a_damaged_entry_is_a_miss_and_can_be_written_again(tmp_path, kind, damage):
    store = make(tmp_path)
    store.put(KEY, {"cubin": b"some bytes"})
    (path,) = files(store, kind)
    damage(path)
    assert store.get(KEY) is None
    if damage is not replace_by_folder:
        store.put(KEY, {"cubin": b"some bytes"})
        assert store.get(KEY) == {"cubin": b"some bytes"}


def test_an_entry_of_another_schema_is_a_miss(tmp_path, monkeypatch):
    monkeypatch.setattr("tile_lsp.engine.store.SCHEMA", 0)
    make(tmp_path).put(KEY, {"cubin": b"x"})
    monkeypatch.undo()
    assert make(tmp_path).get(KEY) is None


def test_an_index_file_of_another_key_is_a_miss(tmp_path):
    store = make(tmp_path)
    store.put(KEY, {"cubin": b"x"})
    (path,) = files(store, "index")
    foreign = path.parent.parent / OTHER[:2] / OTHER
    foreign.parent.mkdir()
    path.rename(foreign)
    assert store.get(OTHER) is None


def test_a_disabled_store_writes_nothing(tmp_path):
    store = Store(None, Counters())
    store.put(KEY, {"cubin": b"x"})
    assert store.get(KEY) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "store").write_text("a file stands where the folder should be")
    store = make(tmp_path)
    store.put(KEY, {"cubin": b"x"})
    assert store.get(KEY) is None


def test_an_entry_over_the_size_limit_is_dropped(tmp_path):
    store = make(tmp_path, max_entry_bytes=10)
    store.put(KEY, {"cubin": bytes(11)})
    assert store.get(KEY) is None


def test_unread_entries_go_first_then_the_least_recently_read(tmp_path):
    store = make(tmp_path)
    keys = [f"{i:02x}" * 32 for i in range(4)]
    for key in keys:
        store.put(key, {"blob": key.encode() * 100})
    read_first, read_last = keys[2], keys[0]
    assert store.get(read_first)
    assert store.get(read_last)
    assert store.directory is not None
    for age, key in enumerate((read_last, read_first)):  # the clock's grain must not decide
        path = store.directory / "index" / key[:2] / key
        os.utime(path, (time.time() - age, path.stat().st_mtime))
    one = sum(path.stat().st_size for path in files(store, "objects")) // 4
    store.collect(max_bytes=int(one * 2.9))
    assert {path.name for path in files(store, "index")} == {read_first, read_last}
    store.collect(max_bytes=int(one * 1.9))
    assert {path.name for path in files(store, "index")} == {read_last}
    assert len(files(store, "objects")) == 1


def test_an_entry_that_another_process_evicts_meanwhile_is_no_error(tmp_path, monkeypatch):
    store = make(tmp_path)
    store.put(KEY, {"cubin": b"x"})
    there_before = [tmp_path / "gone", *files(store, "index")]
    monkeypatch.setattr("tile_lsp.engine.store._files", lambda folder: there_before if folder.name == "index" else [])
    assert store.collect() == 0
    assert store.get(KEY)


def test_clear_leaves_nothing(tmp_path):
    store = make(tmp_path)
    store.put(KEY, {"a": b"1", "b": b"2"})
    store.clear()
    assert store.usage() == (0, 0, 0)
    assert files(store, "objects") == []


MAKE_UNDER_LOCK = """\
import asyncio, sys
from pathlib import Path
from tile_lsp.engine.stats import Counters
from tile_lsp.engine.store import Store

async def main(folder, key):
    store = Store(Path(folder), Counters())
    async with store.lock(key):
        if store.get(key) is None:
            print("attempt")
            store.put(key, {"blob": b"made once"})

asyncio.run(main(*sys.argv[1:]))
"""


async def test_one_attempt_across_processes(tmp_path):
    command = [sys.executable, "-c", MAKE_UNDER_LOCK, str(tmp_path / "store"), KEY]
    processes = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2])
        for _ in range(4)
    ]
    outputs = [(await process.communicate())[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert b"".join(outputs) == b"attempt\n"


def test_a_claim_is_seen_until_it_is_given_up(tmp_path):
    one, other = make(tmp_path), make(tmp_path)
    assert not other.is_claimed_elsewhere(KEY)
    claim = one.claim(KEY)
    assert other.is_claimed_elsewhere(KEY)
    assert other.claim(KEY) == -1
    os.close(claim)
    assert not other.is_claimed_elsewhere(KEY)


async def test_a_lock_whose_holder_died_is_free(tmp_path):
    store = make(tmp_path)
    holder = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        f"mkdir -p '{tmp_path}/store/locks'; exec 9>'{tmp_path}/store/locks/{KEY}'; flock 9; echo held; kill -9 $$",
        stdout=asyncio.subprocess.PIPE,
    )
    await holder.communicate()
    async with asyncio.timeout(PATIENCE), store.lock(KEY):
        store.put(KEY, {"blob": b"made"})
    assert store.peek(KEY)
