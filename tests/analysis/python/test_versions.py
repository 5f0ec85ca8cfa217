"""What changes a version, and what doesn't; and that positions follow what doesn't."""

from __future__ import annotations

import ast
import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.python.fixtures import HEAD, files_of, members, site, sliced, workspace
from tile_lsp.analysis.python import build_closure
from tile_lsp.model.closure import Closure
from tile_lsp.model.location import Place, SourceRange, Span

TEXT = '''"""Module docstring."""
import cuda.tile as ct
import os

ConstInt = ct.Constant[int]
TILE = (16, 32)


class Cfg:
    """Settings."""

    size = 1  # comment
    """How big."""


def helper(a, b):
    """Adds."""
    return a + b * TILE[0]


def unused():
    return os.getcwd()


# tile-lsp: x=f16[64]
@ct.kernel(occupancy=2)
def k(x, y, n: ConstInt = 4):
    """Doc."""
    acc = helper(x, y=y)
    if n > 1 and y is not None:
        acc += f"{n}!" and 'text'
    else:
        acc = -acc
    for i in range(n):
        acc = acc if i else [j for j in acc]
    return acc, Cfg.size
'''.replace("y=y", "b=y")
BASE = sliced(TEXT)

SAME = {
    "comments": TEXT.replace("    acc = helper(x, b=y)", "    # why\n\n    acc  =  helper( x, b=y) # here"),
    "moved": "\n\n# x\n" + TEXT.replace("def unused", "a = 1\n\n\ndef unused"),
    "docstrings": TEXT.replace('"""Doc."""', '"""Other\n    doc."""').replace('    """Adds."""\n', "")
    .replace('"""How big."""', '"""Big."""').replace('"""Module docstring."""', ""),
    "reformatted": TEXT.replace("helper(x, b=y)", "helper(\n        x,\n        b=y,\n    )").replace("-acc", "(- acc)")
    .replace("(16, 32)", "(\n16,\n32,\n)").replace("'text'", '"text"').replace("a + b", "a \\\n + b"),
    "semicolons": TEXT.replace("import os\n", "import os; import sys\n"),
    "crlf": TEXT.replace("\n", "\r\n"),
    "cr": TEXT.replace("\n", "\r"),
    "bom": "\ufeff" + TEXT,
    "form feeds": TEXT.replace("\nclass", "\n\f\nclass").replace("\ndef helper", "\n\fdef helper"),
    "tabs": TEXT.replace("    ", "\t"),
    "unneeded edited": TEXT.replace("os.getcwd()", "os.getcwd() + 1"),
    "unneeded removed": TEXT.replace("def unused():\n    return os.getcwd()\n", ""),
    "unneeded broken": TEXT.replace("os.getcwd()", "os.getcwd("),
    "imported in another way": TEXT.replace("import cuda.tile as ct\n", "import json, cuda.tile as ct\n"),
    "the job's comment": TEXT.replace("x=f16[64]", "x=f32[128] n=8"),
    "numbers spelt otherwise": TEXT.replace("(16, 32)", "(0x10, 3_2)"),
}  # fmt: skip
OTHER = {
    "kernel": TEXT.replace("-acc", "+acc"),
    "helper": TEXT.replace("a + b", "a - b"),
    "constant": TEXT.replace("(16, 32)", "(16, 64)"),
    "class attribute": TEXT.replace("size = 1", "size = 2"),
    "hints": TEXT.replace("occupancy=2", "occupancy=4"),
    "default": TEXT.replace("= 4)", "= 5)"),
    "annotation's alias": TEXT.replace("Constant[int]", "Constant[float]"),
    "a changed name": TEXT + "Cfg.size = 3\n",
    "rebound": TEXT.replace("class Cfg", "TILE = TILE * 2\nclass Cfg"),
}


@pytest.mark.parametrize("name", SAME)
def test_the_version_stays(name: str):
    assert SAME[name] != TEXT
    assert sliced(SAME[name]).version == BASE.version


@pytest.mark.parametrize("name", OTHER)
def test_the_version_changes(name: str):
    assert OTHER[name] != TEXT
    assert sliced(OTHER[name]).version != BASE.version


def test_undo_gives_the_version_back():
    assert sliced(TEXT).version == BASE.version


def test_edits_in_other_files():
    text = HEAD + "from lib import f\nimport cfg\n@ct.kernel\ndef k():\n    return f(cfg.N)\n"
    lib = "-- lib.py\ndef f(x):\n    return x\ndef g(): pass\n"
    cfg = "-- cfg.py\nN = 1\nM = 2\n"
    base = sliced(text + lib + cfg).version
    assert sliced(text + lib.replace("return x", "return -x") + cfg).version != base
    assert sliced(text + lib + cfg.replace("N = 1", "N = 2")).version != base
    assert sliced(text + lib.replace("pass", "return 1") + cfg.replace("M = 2", "M = 3")).version == base


def test_a_file_that_moves_keeps_its_version():
    here = workspace({"/ws/a/main.py": TEXT})
    there = workspace({"/ws/b/c/main.py": TEXT})
    results = [build_closure(site(w, name=n), w) for w, n in ((here, "a/main.py"), (there, "b/c/main.py"))]
    assert results[0].closure is not None
    assert results[1].closure is not None
    assert results[0].closure.version == results[1].closure.version == BASE.version


def test_a_path_that_is_read_is_part_of_the_version():
    text = HEAD + "P = __file__\n@ct.kernel\ndef k():\n    return P\n"
    versions = set()
    for name in ("a.py", "b/a.py"):
        world = workspace({f"/ws/{name}": text})
        closure = build_closure(site(world, name=name), world).closure
        assert closure is not None
        versions.add(closure.version)
    assert len(versions) == 2


def test_functions_that_are_never_entered_can_be_left_out():
    text = HEAD + "def f(x): return x\ndef g(x): return x\n@ct.kernel\ndef k(n):\n    return f(n) if n else g(n)\n"
    base, edited = sliced(text), sliced(text.replace("def g(x): return x", "def g(x): return -x"))
    only_f = frozenset({"main/f"})
    assert base.version != edited.version
    assert base.digest_of(only_f) == edited.digest_of(only_f)
    assert base.digest_of(frozenset({"main/g"})) != edited.digest_of(frozenset({"main/g"}))


# -- positions follow


DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def nodes_of(closure: Closure) -> dict[Place, str]:
    """Every node's place in the normalised members, with its normalised text; f-strings not entered."""
    found: dict[Place, str] = {}
    for member, text in members(closure).items():
        stack: list[ast.AST] = [ast.parse(text)]
        while stack:
            node = stack.pop()
            if hasattr(node, "lineno"):
                place = Place(member, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
                bare = ast.parse(ast.unparse(node)).body[0] if isinstance(node, DEFINITIONS) else node
                if isinstance(bare, DEFINITIONS):
                    bare.decorator_list = []  # a definition's range starts below its decorators
                found[place] = ast.unparse(bare)
            if not isinstance(node, ast.JoinedStr):
                stack.extend(ast.iter_child_nodes(node))
    return found


def text_at(text: str, found: SourceRange) -> str:
    """The text of a range; of a statement, indented as it is."""
    lines = [line.encode() for line in re.split("\r\n|\r|\n", text)]
    line, column, end_line, end_column = found.span
    lines = lines[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    indent = lines[0][:column]
    lines[0] = lines[0][column:]
    return b"\n".join([indent + lines[0] if not indent.strip(b" \t") else lines[0], *lines[1:]]).decode()


def same_code(source: str, normal: str) -> bool:
    """True if a stretch of source means the normalised text, whatever it is a piece of."""
    pieces = ["{}", "def f({}): pass", "f({})", "class C:\n {}", "from m import {}", "import {}"]
    wraps = [(f"if 1:\n{source}", "if 1:\n" + textwrap.indent(normal, " "))]
    wraps += [(wrap.format(source.strip()), wrap.format(normal)) for wrap in pieces]
    for mine, other in wraps:
        try:
            if ast.dump(_bare(ast.parse(mine))) == ast.dump(_bare(ast.parse(other))):
                return True
        except SyntaxError:
            continue
    return False


def _bare(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            node.body = kept or [ast.Pass()]
    return tree


def check_positions(text: str) -> None:
    world = workspace(files_of(text))
    result = build_closure(site(world, "k"), world)
    assert result.closure is not None
    for place, normal in nodes_of(result.closure).items():
        found = result.positions.resolve(place)
        assert found is not None
        assert same_code(text_at(text, found), normal), (place, text_at(text, found), normal)


# An import that is cut has the range of the whole statement.
@pytest.mark.parametrize("name", ["base", *sorted(set(SAME) - {"imported in another way"})])
def test_every_node_is_found(name: str):
    check_positions(SAME.get(name, TEXT))


# -- random edits that mean nothing

_COMMENT = st.sampled_from(["# c", "#", "    # é ünï", "\t# tab", "", "   ", "\f"])


@st.composite
def cosmetic(draw: st.DrawFn) -> str:
    """TEXT with blank lines, comments, trailing comments and line continuations in random places."""
    lines = TEXT.replace('"""Doc."""', draw(st.sampled_from(['"""Doc."""', "'x'", '"""a\n#b\n"""']))).split("\n")
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, len(lines)))
        inside = sum(line.count('"""') for line in lines[:at]) % 2
        if not inside:
            lines.insert(at, draw(_COMMENT))
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(lines) - 1))
        if '"""' not in lines[at] and not lines[at].strip().startswith(("#", "b")) and lines[at].strip():
            lines[at] = draw(
                st.sampled_from([lines[at] + "  # end", lines[at].replace(" = ", "  =   "), lines[at] + "  "])
            )
    return draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines)


@settings(max_examples=60, deadline=None)
@given(cosmetic())
def test_cosmetic_edits_keep_version_and_positions(text: str):
    assert sliced(text, "k").version == BASE.version
    check_positions(text)


def test_spans_are_of_the_current_text():
    text = "# ☃\n" + TEXT
    result_world = workspace(files_of(text))
    result = build_closure(site(result_world), result_world)
    assert result.closure is not None
    first = next(m for m in result.closure.modules[0].members if m.id == "main/k")
    place = next(p for p, t in nodes_of(result.closure).items() if p.member == first.id and t == "helper(x, b=y)")
    found = result.positions.resolve(place)
    assert found == SourceRange("/ws/main.py", Span(30, 10, 30, 24))
