"""Cubins for the tests: made once a session by the real compilers."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from tile_lsp.analysis import cubin as elf
from tile_lsp.analysis import disassembly, tileir
from tile_lsp.analysis.cubin import Cubin
from tile_lsp.analysis.disassembly import Texts
from tile_lsp.model.outcome import Artifact

from .corpus import KERNELS

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")
HERE = pathlib.Path(__file__).parent
_SPILLS = "".join(
    [
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry spills(.param .u64 p)\n{\n",
        ".reg .b64 %a; .reg .f32 %f<90>; ld.param.u64 %a, [p];\n",
        *(f"ld.global.f32 %f{i}, [%a+{4 * i}];\n" for i in range(40)),
        "bar.sync 0;\n",
        *(f"fma.rn.f32 %f{i + 40}, %f{i}, %f{i * 7 % 40}, %f{(i * 3 + 1) % 40};\n" for i in range(40)),
        *(f"st.global.f32 [%a+{4 * i}], %f{(i + 40) % 80};\n" for i in range(80)),
        "ret;\n}\n",
    ]
)


class Case(NamedTuple):
    """One kernel for one target."""

    path: pathlib.Path
    cubin: Cubin
    tileir: Artifact
    """With columns."""

    @property
    def remarks(self) -> str:
        return self.path.with_suffix(".yaml").read_text()


class Tools:
    def __init__(self, folder: pathlib.Path) -> None:
        spec = importlib.util.find_spec("nvidia.cu13")
        assert spec is not None, "the tests need the extra `cutile`"
        assert spec.submodule_search_locations
        self.bin = pathlib.Path(next(iter(spec.submodule_search_locations))) / "bin"
        self._folder = folder
        self._texts: dict[tuple[bytes, ...], list[Texts]] = {}

    def run(self, name: str, *arguments: object) -> str:
        command = [str(self.bin / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout + done.stderr

    def disassemble(self, cubin: Cubin) -> list[Texts]:
        codes = disassembly.sections(cubin)
        if codes not in self._texts:
            self.disassemble_together([cubin])
        return self._texts[codes]

    def disassemble_together(self, cubins: Sequence[Cubin]) -> None:
        """In one run, for `disassemble` to find. All of one architecture."""
        parts = [disassembly.sections(cubin) for cubin in cubins]
        codes = [code for part in parts for code in part]
        path = self._folder / "code"
        path.write_bytes(disassembly.combine(codes))
        output = self.run("nvdisasm", "-b", disassembly.architecture(cubins[0].arch), path)
        texts = iter(disassembly.split(output, codes))
        for part in parts:
            self._texts[part] = [next(texts) for _ in part]

    def assemble(self, ptx: str, target: str, *options: str, suffix: str = ".cubin") -> tuple[pathlib.Path, str]:
        """The object and what the assembler said."""
        source = self._folder / f"source.{target}.ptx"
        source.write_text(ptx.replace(".target sm_90", f".target {target}"))
        made = self._folder / f"made.{target}{suffix}"
        return made, self.run("ptxas", "-arch", target, source, "-o", made, *options)


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(tmp_path_factory.mktemp("tools"))


def _compiled(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder with the corpus, made by the first process of this run of the tests that asks."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "sass-corpus"
    with (base / "sass-corpus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            environment = {**os.environ, "CUDA_TILE_CACHE_DIR": "off"}
            command = [sys.executable, str(HERE / "corpus.py"), str(folder), *TARGETS]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
            assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> dict[tuple[str, str], Case]:
    """(kernel, target) -> its case."""
    folder = _compiled(tmp_path_factory)
    cases = {}
    for kernel in KERNELS:
        typed = tileir.read((folder / f"{kernel}.tileir").read_text())
        for target in TARGETS:
            path = folder / f"{kernel}.{target}.cubin"
            cases[kernel, target] = Case(path, elf.read(path.read_bytes()), typed)
    for target in TARGETS:
        tools.disassemble_together([cases[kernel, target].cubin for kernel in KERNELS])
    return cases


@pytest.fixture
def calls_ptx() -> str:
    return (HERE / "calls.ptx").read_text()


@pytest.fixture
def spills_ptx() -> str:
    return _SPILLS
