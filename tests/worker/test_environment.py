"""What an interpreter says of itself: what it has, and the command for what it lacks."""

from __future__ import annotations

import asyncio
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.closures import HEADER, closure, request
from tests.support.workers import Bench
from tile_lsp.engine.workers import Environment, WorkerPool
from tile_lsp.model.outcome import Fault, FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

Install = Callable[..., None]


class Bare:
    """A virtual environment with nothing in it but what a test says."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.python = str(folder / "bin" / "python")
        [self.packages] = folder.glob("lib/python*/site-packages")

    def install(self, name: str, version: str, **files: str) -> None:
        """Metadata of a distribution, and files of it (`direct_url` for `direct_url.json`)."""
        info = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        for file, text in files.items():
            (info / f"{file}.json").write_text(text)

    def own(self, name: str, text: str) -> None:
        (self.packages / name).write_text(text)


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path / "venv")


async def environment_of(python: str) -> Environment | Fault:
    pool = WorkerPool()
    try:
        return await pool.environment(python)
    finally:
        await pool.close()


async def test_an_interpreter_with_everything(bench: Bench):
    environment = await bench.pool.environment(sys.executable)
    assert isinstance(environment, Environment)
    cutile = environment.frontends["cutile"]
    assert cutile.error is None
    assert cutile.version == environment.distributions["cuda-tile"]
    assert "13.4" in cutile.fields["bytecode_versions"]
    assert set(cutile.fields["portable_bytecode_versions"]) <= set(cutile.fields["bytecode_versions"])
    assert environment.fork
    assert {"tileiras", "tileirdisasm", "nvdisasm"} <= environment.tools.keys()
    assert "release 13." in environment.tools["tileiras"].version


async def test_without_cuda_tile(bare: Bare):
    pool = WorkerPool()
    try:
        environment = await pool.environment(bare.python)
        assert isinstance(environment, Environment)
        cutile = environment.frontends["cutile"]
        assert cutile.error == f"cuda-tile is not installed in {bare.python}"
        assert cutile.help.endswith(" 'cuda-tile[tileiras]>=1.7'")
        assert bare.python in cutile.help
        assert environment.reports["nvdisasm"].help is not None
        made = closure(HEADER + "@ct.kernel\ndef kernel(a):\n    pass\n")
        [fault] = (await pool.infer(bare.python, request(made, "a=f16[64]"))).inference.faults
        assert (fault.kind, fault.help) == (FaultKind.ENVIRONMENT, cutile.help)
    finally:
        await pool.close()


async def test_a_version_that_is_too_old(bare: Bare):
    bare.install("cuda-tile", "1.2.0")
    environment = await environment_of(bare.python)
    cutile = environment.frontends["cutile"]
    assert cutile.error == "cuda-tile 1.2.0 is too old for tile-lsp, which works with 1.3 and later (best with 1.7)"


async def test_a_compiler_that_can_t_be_imported(bare: Bare):
    bare.install("cuda-tile", "1.7.0")
    cutile = (await environment_of(bare.python)).frontends["cutile"]
    assert cutile.error.startswith("cuda-tile 1.7.0 can't be used: ModuleNotFoundError")
    assert "--force-reinstall" in cutile.help


async def test_packages_that_don_t_match(bare: Bare, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    bare.install("nvidia-cuda-tileiras", "13.3.20")
    bare.install("nvidia-nvvm", "13.5.37")
    report = (await environment_of(bare.python)).reports["tileiras"]
    assert report.path is None
    assert "nvidia-cuda-tileiras 13.3.20, nvidia-nvvm 13.5.37" in report.error
    assert report.help.endswith("'nvidia-cuda-tileiras==13.3.*' 'nvidia-nvvm==13.3.*'")


async def test_editable_installs_by_folder_and_by_finder(bare: Bare, tmp_path: Path):
    source = tmp_path / "src"
    (source / "mine").mkdir(parents=True)
    (source / "mine" / "__init__.py").write_text("")
    editable = '{"url": "file:///src", "dir_info": {"editable": true}}'
    bare.install("mine", "1.0", direct_url=editable)
    bare.own("_mine.pth", f"{source}\n")
    bare.own("mine-1.0.dist-info/RECORD", "_mine.pth,,\n")
    bare.install("yours", "1.0", direct_url=editable)
    bare.own("__editable___yours_1_0_finder.py", f"MAPPING: dict[str, str] = {{'yours': {str(source / 'yours')!r}}}\n")
    bare.own("yours-1.0.dist-info/RECORD", "__editable___yours_1_0_finder.py,,\n")
    assert (await environment_of(bare.python)).editable == {"mine": str(source), "yours": str(source)}


async def test_what_prints_or_fails_at_start_breaks_nothing(bare: Bare):
    bare.own("noisy.pth", "import sys; print('{\"protocol\": 9}'); print('noise', file=sys.stderr)\n")
    bare.own("sitecustomize.py", "print('more noise')\nraise ValueError('not ours')\n")
    assert isinstance(await environment_of(bare.python), Environment)


async def test_an_install_is_noticed(bare: Bare):
    pool = WorkerPool()
    try:
        before = await pool.environment(bare.python)
        bare.install("cuda-tile", "1.2.0")
        pool.forget_environments()
        after = await pool.environment(bare.python)
        assert (before.frontends["cutile"].version, after.frontends["cutile"].version) == (None, "1.2.0")
        assert pool.starts == 2
        pool.forget_environments()
        await pool.environment(bare.python)
        assert pool.starts == 2
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "could not be started: No such file or directory"),
        ("#!/bin/sh\necho this is no python >&2\nexit 3\n", "could not be used: this is no python"),
        ("#!/bin/sh\nexit 0\n", "could not be used: it said nothing"),
    ],
)
async def test_what_is_no_interpreter(tmp_path: Path, script: str | None, words: str):
    path = tmp_path / "python"
    if script is not None:
        path.write_text(script)
        path.chmod(0o755)
        await asyncio.sleep(0)
    fault = await environment_of(str(path))
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.ENVIRONMENT
    assert words in fault.message
    assert fault.help.startswith("set tile-lsp.python to an interpreter that runs")
