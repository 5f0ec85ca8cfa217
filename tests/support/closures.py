"""Closures made by hand: each top-level statement of a module is a member."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from tile_lsp.engine.workers import InferRequest
from tile_lsp.model.closure import Closure, Entry, Loading, Member, Module
from tile_lsp.model.job import Argument, Scalar

HEADER = "import cuda.tile as ct\n"


def closure(
    modules: Mapping[str, str] | str,
    entry: str = "kernel",
    *,
    qualname: str | None = None,
    roots: tuple[str, ...] = (),
    folder: str = "/nowhere",
    loading: Loading = Loading.SLICE,
) -> Closure:
    """`modules`: text by dotted name (`pkg/` for a package's `__init__`), the kernel's own first; or its text alone."""
    texts = {"main": modules} if isinstance(modules, str) else modules
    made = tuple(_module(name, textwrap.dedent(text), folder) for name, text in texts.items())
    return Closure(
        version="1",
        entry=Entry(made[0].name, entry, qualname or entry),
        modules=made,
        roots=roots,
        loading=loading,
    )


def _module(name: str, text: str, folder: str) -> Module:
    package = name.endswith("/")
    dotted = name.rstrip("/")
    path = f"{folder}/{dotted.replace('.', '/')}{'/__init__' if package else ''}.py"
    tree = ast.parse(text)
    members: list[Member] = []
    future: tuple[str, ...] = ()
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            future += tuple(alias.name for alias in statement.names)
            continue
        function = isinstance(statement, ast.FunctionDef)
        identity = f"{dotted}/{_bound(statement, len(members))}"
        members.append(Member(identity, dotted, ast.unparse(statement) + "\n", function, future))
    return Module(dotted, path, package, tuple(members))


def _bound(statement: ast.stmt, number: int) -> str:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return str(number)


def request(made: Closure, arguments: str = "", **fields: Scalar) -> InferRequest:
    """`arguments`: `"a=f16[64,64] n=32"`, blanks between, none within."""
    pairs = tuple(Argument(*word.split("=", 1)) for word in arguments.split())
    return InferRequest("cutile", made, pairs, fields)
