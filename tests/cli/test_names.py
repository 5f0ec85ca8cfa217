"""FILE::KERNEL, NAME=VALUE and stages: what is meant, and what is said when it is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tile_lsp.cli.exits import UsageError
from tile_lsp.cli.names import choose_kernel, choose_stage, parse_pairs, parse_selector

KERNELS = ("softmax", "softmax_online", "make.<locals>.scale", "Ops.scale", "Ops.shift")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b").mkdir()
    for name in ("soft max.py", "kernels.py", "odd::name.py", "a b/é.py"):
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "file", "kernel"),
    [
        ("kernels.py::matmul", "kernels.py", "matmul"),
        ("kernels.py", "kernels.py", None),
        ("kernels.py::make.<locals>.scale", "kernels.py", "make.<locals>.scale"),
        ("./a b/../kernels.py::k", "kernels.py", "k"),
        ("a b/é.py::k", "a b/é.py", "k"),
        ("odd::name.py", "odd::name.py", None),
        ("odd::name.py::k", "odd::name.py", "k"),
    ],
)
def test_selector(folder: Path, text: str, file: str, kernel: str | None):
    assert parse_selector(text) == (str(folder / file), kernel)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel.py::matmul", "there is no file kernel.py; did you mean kernels.py?"),
        ("nowhere/kernel.py", "there is no file nowhere/kernel.py"),
        ("kernels.py::", "a kernel's name is missing after the ::"),
        ("::matmul", "names no file: write FILE::KERNEL"),
        ("a b::matmul", "a b is a folder: name a file of it"),
    ],
)
def test_selector_names_what_would_be_right(folder: Path, text: str, message: str):
    with pytest.raises(UsageError) as error:
        parse_selector(text)
    assert message in str(error.value)


def test_a_broken_link_is_not_meant_by_its_own_name(folder: Path):
    (folder / "link.py").symlink_to("nowhere.py")
    with pytest.raises(UsageError) as error:
        parse_selector("link.py::k")
    assert "mean link.py" not in str(error.value)


def test_a_pipe_is_no_file(folder: Path):
    os.mkfifo(folder / "pipe.py")
    with pytest.raises(UsageError, match=r"pipe.py is a pipe, no plain file"):
        parse_selector("pipe.py::k")


@pytest.mark.parametrize(
    ("wanted", "kernel"),
    [
        ("softmax", "softmax"),
        ("softmax_online", "softmax_online"),
        ("shift", "Ops.shift"),
        ("make.<locals>.scale", "make.<locals>.scale"),
    ],
)
def test_choose_kernel(wanted: str, kernel: str):
    assert choose_kernel(wanted, KERNELS, "kernels.py") == kernel


def test_the_only_kernel_needs_no_name():
    assert choose_kernel(None, ("softmax",), "kernels.py") == "softmax"


@pytest.mark.parametrize(
    ("wanted", "names", "message"),
    [
        ("sofmax", KERNELS, "holds no kernel sofmax; did you mean softmax?"),
        ("SOFTMAX", KERNELS, "did you mean softmax?"),
        ("zzz", KERNELS, "; there are: softmax, softmax_online, make.<locals>.scale"),
        ("scale", KERNELS, "several kernels called scale: make.<locals>.scale, Ops.scale"),
        (None, KERNELS, "several kernels, name one of them: kernels.py::softmax, kernels.py::softmax_online"),
        ("softmax", (), "holds no kernel that a front end recognises"),
    ],
)
def test_choose_kernel_names_what_would_be_right(wanted: str | None, names: tuple[str, ...], message: str):
    with pytest.raises(UsageError) as error:
        choose_kernel(wanted, names, "kernels.py")
    assert message in str(error.value)


def test_pairs():
    texts = ["A=f16[?,?]/strides=(?,1)", " tm = 128 ", "tm=128"]
    assert parse_pairs("--arg", texts) == {"A": "f16[?,?]/strides=(?,1)", "tm": "128"}


@pytest.mark.parametrize("text", ["A", "A=", "=f16[4]", ""])
def test_a_pair_lacks_a_half(text: str):
    with pytest.raises(UsageError, match=r"is not NAME=VALUE; an example: --arg A=f16\[4096,4096\]"):
        parse_pairs("--arg", [text])


def test_contradicting_pairs():
    with pytest.raises(UsageError, match="--hint num_ctas is given twice: 1 and 2"):
        parse_pairs("--hint", ["num_ctas=1", "num_ctas=2"])


def test_unknown_stage():
    with pytest.raises(UsageError) as error:
        choose_stage("sas", ("types", "ptx", "sass"))
    assert str(error.value) == "there is no stage sas; did you mean sass? There are: types, ptx, sass"
