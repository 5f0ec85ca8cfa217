"""What names mean, across modules."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.python.fixtures import files_of, workspace
from tile_lsp.analysis.python import Workspace

TEXT = """
from common import *
import common as co, pkg.q
from pkg import z, q
import torch, torch.nn as nn
from typing import Annotated as An
CI = ConstInt
K2 = ct.kernel
class Cfg:
    A = 3 * T
    B: int = A
N = (T // 2, -1, Cfg.A, z, pkg.q.z)
M = 1
M = 2
L = [1]
S = "a" + 'b'
F = 2 ** -1
loop = loop
try:
    import cuda.tile as t2
except ImportError:
    t2 = None
if __name__ == "__main__":
    T = 1
    ONLY = 5
-- common.py
import cuda.tile as ct
from cuda.tile import *
ConstInt = ct.Constant[int]
T = 64
__all__ = ["ct", "ConstInt"]
__all__ += ["T"]
-- pkg/__init__.py
from .q import z
-- pkg/q.py
z = 3
from ..common import ct as cc
"""
FILES = files_of(TEXT)

NAMES = {
    "CI": "cuda.tile.Constant",
    "'CI'": "cuda.tile.Constant",
    "CI[int]": "cuda.tile.Constant",
    "K2": "cuda.tile.kernel",
    "co.ct.kernel": "cuda.tile.kernel",
    "q.cc.load": "cuda.tile.load",
    "t2.float16": "cuda.tile.float16",
    "nn.Module": "torch.nn.Module",
    "torch.float16": "torch.float16",
    "An": "typing.Annotated",
    "z": "pkg.q.z",
    "pkg.q.z": "pkg.q.z",
    "Cfg.A": "main.Cfg.A",
    "co": "common",
    "nope": None,
    "load": None,
    "f()": None,
    "loop": None,
}


@pytest.mark.parametrize("expression", NAMES)
def test_names(expression: str):
    world = workspace(FILES)
    file = world.file("/ws/main.py")
    assert file is not None
    assert world.resolve_name(file, expression) == NAMES[expression]
    assert world.resolve_name(file, ast.parse(expression, mode="eval").body) == NAMES[expression]


VALUES = {
    "N": (32, -1, 192, 3, 3),
    "T + 1": 65,
    "Cfg.A ** 2": 36864,
    "N[0]": 32,
    "q.z": 3,
    "ONLY": 5,
    "S": "ab",
    "F": 0.5,
    "True": True,
    "not T": False,
    "~T & 0xff": 191,
    "M": None,
    "L": None,
    "Cfg": None,
    "Cfg.B": None,
    "1 / 0": None,
    "'a' * 10 ** 9": None,
    "9 ** 9 ** 9": None,
    "1 << 10 ** 9": None,
    "N[9]": None,
    "loop": None,
    "f(1)": None,
    "b'x'": None,
}


@pytest.mark.parametrize("expression", VALUES)
def test_constants(expression: str):
    world = workspace(FILES)
    file = world.file("/ws/main.py")
    assert file is not None
    value = world.constant_value(file, ast.parse(expression, mode="eval").body)
    assert value == VALUES[expression]
    assert type(value) is type(VALUES[expression])


def test_expressions_are_followed_to_what_they_stand_for():
    world = workspace(FILES)
    file = world.file("/ws/main.py")
    assert file is not None
    where, found = world.resolve_expression(file, ast.parse("CI", mode="eval").body)
    assert where.path == "/ws/common.py"
    assert ast.unparse(found) == "ct.Constant[int]"
    where, found = world.resolve_expression(file, ast.parse("torch.float16", mode="eval").body)
    assert where is file
    assert ast.unparse(found) == "torch.float16"


def resolve(files: dict[str, str], roots: list[str], path: str, expression: str, **settings) -> str | None:
    world = Workspace(files.get, roots, **settings)
    file = world.file(path)
    assert file is not None
    return world.resolve_name(file, expression)


def test_where_modules_are_looked_for():
    files = {
        "/ws/src/lib/__init__.py": "x = 1",
        "/ws/scripts/run.py": "import lib, near, far, json, space.deep",
        "/ws/scripts/near.py": "x = 1",
        "/ws/scripts/json.py": "x = 1",
        "/else/far/__init__.py": "x = 1",
        "/ws/space/deep.py": "x = 1",
    }
    roots, path = ["/ws", "/ws/src"], "/ws/scripts/run.py"
    assert resolve(files, roots, path, "lib.x") == "lib.x"
    assert resolve(files, roots, path, "near.x") == "near.x"
    assert resolve(files, roots, path, "space.deep.x") == "deep.x"
    for folder in ("/else", "/else/far"):
        world = Workspace(files.get, roots, editable={"far": folder})
        file = world.file(path)
        assert file is not None
        (meaning,) = world.meanings(file, ("far", "x"))
        assert meaning.file is not None
        assert meaning.file.path == "/else/far/__init__.py"
    # The standard library is never shadowed: the worker has it loaded.
    world = Workspace(files.get, roots)
    file = world.file(path)
    assert file is not None
    assert world.meanings(file, ("json", "x"))[0].file is None


def test_a_compiler_is_never_workspace_code():
    files = {"/ws/src/cuda/tile/__init__.py": "from ._stub import kernel", "/ws/a.py": "import cuda.tile as ct"}
    assert resolve(files, ["/ws", "/ws/src"], "/ws/a.py", "ct.kernel") == "cuda.tile.kernel"


@pytest.mark.parametrize(
    ("path", "files", "name"),
    [
        ("/ws/a.py", (), "a"),
        ("/ws/my-script 2.py", (), "my_script_2"),
        ("/ws/2.py", (), "_2"),
        ("/ws/p/q/a.py", ("/ws/p/__init__.py", "/ws/p/q/__init__.py"), "p.q.a"),
        ("/ws/p/__init__.py", ("/ws/p/__init__.py",), "p"),
        ("/ws/p/a.py", (), "a"),
        ("/ws/random.py", (), "random_"),
        ("/ws/torch.py", (), "torch_"),
    ],
)
def test_module_names(path: str, files: tuple[str, ...], name: str):
    texts = dict.fromkeys((path, *files), "x = 1")
    assert Workspace(texts.get, ["/ws"]).own_module(path).name == name


def test_relative_imports_outside_a_package_name_the_folder():
    texts = {"/ws/p/a.py": "from .b import x", "/ws/p/b.py": "x = 1"}
    world = Workspace(texts.get, ["/ws"])
    assert world.own_module("/ws/p/a.py").name == "p.a"
    file = world.file("/ws/p/a.py")
    assert file is not None
    assert world.resolve_name(file, "x") == "b.x"


def test_relative_imports_reach_above_the_outermost_package():
    texts = {
        "/ws/p/q/r/__init__.py": "",
        "/ws/p/q/r/a.py": "from ..b import x\nfrom . import c",
        "/ws/p/q/r/c.py": "from . import a",
        "/ws/p/q/b.py": "x = 1",
    }
    world = Workspace(texts.get, ["/ws"])
    assert world.own_module("/ws/p/q/r/a.py").name == "p.q.r.a"
    assert world.own_module("/ws/p/q/r/c.py").name == "r.c"
    file = world.file("/ws/p/q/r/a.py")
    assert file is not None
    assert world.resolve_name(file, "x") == "b.x"


def test_files_are_read_once():
    reads: list[str] = []

    def read(path: str) -> str | None:
        reads.append(path)
        return FILES.get(path)

    world = Workspace(read, ["/ws"])
    file = world.file("/ws/main.py")
    assert file is not None
    for _ in range(3):
        world.resolve_name(file, "q.cc.load")
    assert len(reads) == len(set(reads))
    assert "/ws/common/__init__.py" in world.missing


def test_a_root_that_is_a_package_is_imported_from_all_the_same():
    files = {"/w/ops/__init__.py": "", "/w/ops/ops/__init__.py": "", "/w/ops/ops/add.py": "SIDE = 16\n"}
    files["/w/ops/ops/main.py"] = "from ops.add import SIDE\n"
    made = Workspace(files.get, ["/w/ops"])
    file = made.file("/w/ops/ops/main.py")
    assert file is not None
    assert made.constant_value(file, ast.Name("SIDE")) == 16
