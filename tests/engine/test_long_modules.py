"""A module of thousands of statements: each is parsed once, and an edit parses what it is of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tile_lsp.engine.analyse import FileAnalysis, analyse
from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.settings import Settings

STATEMENTS = 3000
KERNEL = """
import triton
import triton.language as tl

TABLE = dict(rows=4)

@triton.jit
def kernel(x_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x_ptr + i, tl.load(x_ptr + i, i < n) + value_7, i < n)
    tl.static_print(TABLE)
"""


def module(marker: str, few: range = range(0)) -> str:
    lines = [f"value_{i} = {i}  {'+ 1' if i in few else ''}" for i in range(0, STATEMENTS, 3)]
    lines += [f"made_{i} = make_{i % 50}(value_{i}, '{marker}')" for i in range(1, STATEMENTS, 3)]
    lines += [f"def function_{i}(x):\n    return make_{i}(x)" for i in range(2, STATEMENTS, 3)]
    return "value_7 = 7\n" + "\n".join(lines) + KERNEL


@contextmanager
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    found: list[str] = []
    parse = ast.parse

    def counted(source: str, *arguments: object, **named: object) -> ast.AST:
        found.append(source)
        return parse(source, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(ast, "parse", counted)
        yield found


def read(text: str) -> FileAnalysis:
    found = analyse(
        "/w/long.py",
        {"/w/long.py": text}.get,
        roots=("/w",),
        editable={},
        frontends=FRONTENDS,
        settings=Settings(),
        overrides={},
    )
    assert found is not None
    assert [kernel.site.qualname for kernel in found.kernels] == ["kernel"]
    return found


def test_each_statement_is_parsed_once(monkeypatch):
    text = module("first")
    with parsed(monkeypatch) as found:
        read(text)
    again = len(found) - len(set(found))
    assert len(set(found)) > STATEMENTS
    assert again < 10
    with parsed(monkeypatch) as found:
        read(text.replace("+ value_7", "- value_7"))
    assert len(found) < 10


def test_an_edit_of_a_module_longer_than_any_cache_parses_that_statement(monkeypatch):
    text = "\n".join(f"_{i} = {i}" for i in range(20_000)) + "\nvalue_7 = 7" + KERNEL
    read(text)
    with parsed(monkeypatch) as found:
        read(text.replace("_5000 = 5000", "_5000 = 5001"))
    assert len(found) < 20
