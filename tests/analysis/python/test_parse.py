"""Any text is parsed: what is sound lives, what is broken is pointed at exactly."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.analysis.python.fixtures import DECORATORS, HEAD, sites, workspace
from tile_lsp.analysis.python import build_closure, decode, find_kernels, parse
from tile_lsp.analysis.python.decode import decode_with_problem
from tile_lsp.analysis.python.parse import is_main_guard, source_of
from tile_lsp.analysis.python.text import clean
from tile_lsp.analysis.python.unparse import normalised, without_docstrings

STDLIB = Path(sysconfig.get_path("stdlib"))

#: Text, the problem's (line, column, end line, end column), names that live, names that are broken.
BROKEN = [
    ("x = = 1\ny = 2\n", (1, 4, 1, 5), {"y"}, {"x"}),
    ("é = $\nf()\n", (1, 5, 1, 6), set(), {"é"}),
    ("a = 1\ndef f(:\n    pass\nb = 2\n", (2, 6, 2, 7), {"a", "b"}, {"f"}),
    ("def f():\n    x = (\n    y = 1\n\ndef g(): pass\n", (2, 8, 2, 9), {"g"}, {"f"}),
    ("x = [1,\n2\ny = 3\nclass C: pass\n", (1, 4, 1, 7), {"y", "C"}, {"x"}),
    ("s = '''\nx = 1\ndef f():\n    '''doc'''\n", (1, 4, 1, 7), {"f", "x"}, {"s"}),
    ("if a:\n    b = 1\nelse:\n    c = (\n    def g(): d = 1\ne = 1\n", (4, 8, 4, 9), {"e"}, {"b", "c", "g"}),
    ("from m import a as\nimport n\n", (1, 17, 1, 18), {"n"}, {"a"}),
    ("class C:\n    def f(self:\n        x = 1\n", (2, 9, 2, 15), set(), {"C"}),
    ("@deco\ndef f(\n    a,\n\nx = 1\n", (2, 5, 2, 6), {"x"}, {"f"}),
    ("  x = 1\ny = 2\n", (1, 1, 1, 7), {"y"}, set()),
    ("\ufeffx = é $\r\ny = 1\r", (1, 10, 1, 11), {"y"}, {"x"}),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case[0][:20])
def test_broken_text(case: tuple):
    text, span, alive, broken = case
    file = parse("/x.py", text)
    assert tuple(file.problems[0].span) == span
    assert {name for region in file.broken for name in region.names} == broken
    found = set()
    for node in file.tree.body:
        found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        found |= {node.name} if hasattr(node, "name") else set()
        found |= {alias.name for alias in getattr(node, "names", ())}
    assert found == alive


SOUND = [
    "x = '''\ndef no(): pass\n@also\n'''\ny = 1\n",
    "x = (\n1,\n)\ny = [\n'''\n''', # )\n]\n",
    "@a(\n1\n)\n@b\n\n# comment\ndef f(): pass\nx = 1\n",
    "if a:\n  pass\nelif b:\n  pass\nelse:\n  pass\ntry:\n  pass\nexcept E:\n  pass\nfinally:\n  pass\n",
    "x = 1 + \\\n2\ny = 'a\\\nb'\n",
    "\f\ndef f():\n  pass\n\fx = 1\n \fy = 2\n",
    "x = (a\n@ b)\nz = (yield\nfrom c)\n",
    "else_ = 1\nexcept_ = 2\n",
    "",
    "\n\n# only a comment",
    "'''doc'''; x = 1; y = 2",
    "x = 1\ry = 2\r\nz = 3\n",
    "def f():\n\treturn 1\n",
]


@pytest.mark.parametrize("text", SOUND)
def test_chunks_are_what_the_parser_finds(text: str):
    file = parse("/x.py", text)
    assert file.problems == ()
    whole = ast.parse(clean(text))
    assert ast.dump(file.tree, include_attributes=True) == ast.dump(whole, include_attributes=True)
    expected = [(node.lineno, node.col_offset, node.end_lineno) for node in _flat(whole)]
    assert [_where(placed) for placed in file.statements] == expected


def _where(placed) -> tuple[int, int, int]:
    node = placed.statement.node
    return node.lineno + placed.offset, node.col_offset, node.end_lineno + placed.offset


def _flat(tree: ast.Module) -> list[ast.stmt]:
    """Statements as they are counted: those of the main block one by one."""
    found: list[ast.stmt] = []
    for node in tree.body:
        found += [*node.body, *node.orelse] if isinstance(node, ast.If) and is_main_guard(node.test) else [node]
    return found


def test_the_standard_library_is_parsed_by_chunks_as_it_is_whole():
    for path in sorted(STDLIB.glob("*.py"))[::4]:
        text = decode(path.read_bytes())
        file = parse(str(path), text)
        assert file.problems == (), path
        whole = ast.parse(clean(text))
        assert [_where(placed) for placed in file.statements] == [
            (node.lineno, node.col_offset, node.end_lineno) for node in _flat(whole)
        ], path


def test_normalised_text_of_the_standard_library_means_the_same():
    """Put together from its parts' it is what `ast.unparse` makes of the whole."""
    for path in sorted(STDLIB.glob("*.py"))[1::16]:
        for placed in parse(str(path), decode(path.read_bytes())).statements:
            node = without_docstrings(placed.statement.node)
            text = normalised([node], source_of(placed.statement.chunk.text))
            assert text == normalised([node]), (path, placed)  # raises if it doesn't mean the same


def test_a_file_is_parsed_statement_by_statement_only_once():
    one = parse("/x.py", "a = 1\ndef f():\n    return a\n")
    two = parse("/x.py", "# new\n\na = 2\ndef f():\n    return a\n")
    assert one.statements[1].statement is two.statements[1].statement
    assert one.statements[0].statement is not two.statements[0].statement
    assert two.statements[1].offset == 3


LIMITS = [
    "x = " + "(" * 500 + ")" * 500,
    "x = " + "+".join(["a"] * 4000),
    "x = " + "-" * 5000 + "1",
    "x = " + "9" * 10000,
    "x = '" + "a" * 200_000 + "'",
    "x = " + "[" * 90 + "]" * 90,
    "if a:\n" * 150,
    "".join(" " * i + "if a:\n" for i in range(120)),
    "x = '\ud800'",
    "x = 1\0\ny = 2",
    "# \0\ny = 2",
    "def f(" + ", ".join(f"a{i}" for i in range(300)) + "): pass",
]


@pytest.mark.parametrize("text", LIMITS, ids=range(len(LIMITS)))
def test_limits_of_the_parser(text: str):
    world = workspace(
        {"/ws/main.py": HEAD + text + "\n@ct.kernel\ndef k():\n    return x\n@ct.kernel\ndef other(): pass\n"}
    )
    file = world.file("/ws/main.py")
    assert file is not None
    found = {site.qualname: build_closure(site, world) for site in find_kernels(file, world, DECORATORS)}
    assert found["other"].closure is not None
    assert found["k"].closure is not None or found["k"].blocked_by is not None


_WORDS = (
    "def f( | ): | @ct.kernel\n | class C: | x | = | ' | ''' | ( | ) | [ | ] | { | } | # | \\ | \f | import | from "
    "| as | if | else: | try: | except: | return | lambda | * | , | : | . | é | \r | \t | ct | \0 | \ufeff | \ud800 "
    "| f'{ | }' | 1 | global x | for x in | match x:\n  case | del x | x += 1 | ; | … | \u2028 | \n | \n    "
)
_PIECES = st.sampled_from([piece.removeprefix(" ") for piece in _WORDS.split("|")])


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(_PIECES, max_size=40).map("".join), st.text(max_size=80)))
@example("@ct.kernel\ndef f(): return (x\n'''")
def test_no_text_raises(text: str):
    world = workspace({"/ws/main.py": HEAD + text})
    file = world.file("/ws/main.py")
    assert file is not None
    for problem in file.problems:
        assert 1 <= problem.span.line <= len(file.lines)
        assert problem.span[:2] <= problem.span[2:]
        assert problem.span.end_column <= len(file.lines[problem.span.end_line - 1].encode())
    for site in find_kernels(file, world, DECORATORS):
        result = build_closure(site, world)
        assert (result.closure is None) != (result.blocked_by is None)
        assert result.positions.places_at("/ws/main.py", site.name_span.line) is not None


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_half_typed_kernel_raises(data: st.DataObject):
    text = (STDLIB / "bisect.py").read_text().replace("def ", "@ct.kernel\ndef ")
    at = data.draw(st.integers(0, len(text)))
    size = data.draw(st.integers(0, 40))
    kernels = sites({"/ws/main.py": HEAD + text[:at] + data.draw(st.text(max_size=3)) + text[at + size :]})
    assert len({kernel.qualname for kernel in kernels}) >= 3


ENCODINGS = [
    (b"x = 1", "x = 1", False),
    ("é".encode(), "é", False),
    (b"\xef\xbb\xbfx", "x", False),
    (b"# -*- coding: latin-1 -*-\nx = '\xe9'", "# -*- coding: latin-1 -*-\nx = 'é'", False),
    (
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x80",
        "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n€",
        False,
    ),
    (b"x = 1\n# coding: latin-1\n\xe9", "x = 1\n# coding: latin-1\n\ufffd", True),
    (b"# coding: nonsense\nx", "# coding: nonsense\nx", True),
    (b"# coding: rot13\nx", "# coding: rot13\nx", True),
    (b"\xff\xfex\x00", "x", False),
    (b"x = '\xff'", "x = '\ufffd'", True),
]


@pytest.mark.parametrize("case", ENCODINGS, ids=lambda case: repr(case[0])[:30])
def test_decoding(case: tuple):
    data, text, problem = case
    assert decode(data) == text
    assert (decode_with_problem(data)[1] is not None) is problem


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from(["", "utf-8", "utf-7", "utf-16", "idna", "punycode", "hex", "unicode_escape", "shift_jis"]),
)
def test_no_bytes_raise(data: bytes, encoding: str):
    head = f"# coding: {encoding}\n".encode() if encoding else b""
    assert isinstance(decode(head + data), str)
