"""Cells to one module: what only IPython understands is taken out, and nothing reaches from one cell into another."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.analysis.notebook import Unreadable, cell_position, cell_starts, module_text, read_notebook
from tile_lsp.analysis.python import Workspace, find_kernels, parse
from tile_lsp.analysis.python.ipython import plain_python
from tile_lsp.analysis.python.text import CELL_MARK


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        pytest.param("%load_ext a\nx = 1", "pass\nx = 1", id="magic"),
        pytest.param("if x:\n    !pip install a \\\n  b\ny = 1", "if x:\n    pass\n\ny = 1", id="shell, continued"),
        pytest.param("!echo 'it is\ny = 1", "pass\ny = 1", id="an open string of the shell"),
        pytest.param("x = !ls é\na.b[0] = %pwd", "x = None\na.b[0] = None", id="assigned"),
        pytest.param("x?\n?x\na.b??\n%time?\n*int*?", "pass\npass\npass\npass\npass", id="help"),
        pytest.param("/f x\n,f a b\n;f a", "pass\npass\npass", id="calls without brackets"),
        pytest.param("%time x = f(é)", "0;    x = f(é)", id="timed"),
        pytest.param("%timeit -n 10 -r3 f(x)", "0;                f(x)", id="timed with options"),
        pytest.param("  %time f()", "  0;    f()", id="timed in a block"),
        pytest.param("%time for i in x: pass", "pass", id="timed, no simple statement"),
        pytest.param("%time f(", "pass", id="timed, broken"),
        pytest.param("%%writefile a.py\nimport é (\n", "\n\n", id="another file"),
        pytest.param("\n%%bash\nls (", "\n\n", id="another language"),
        pytest.param("\n%%time\nx = 1", "\n\nx = 1", id="timed cell"),
        pytest.param("%%capture", "", id="one line"),
        pytest.param("x = 1\n%%time\ny = 1", "x = 1\npass\ny = 1", id="a cell magic that comes late"),
        pytest.param("x = await f(await g())", "x =       f(      g())", id="await in an expression"),
        pytest.param(
            "await f()\nfor i in x:\n    await g()", "None, f()\nfor i in x:\n    None, g()", id="await first"
        ),
        pytest.param("é = '😋'; y = await f()", "é = '😋'; y =       f()", id="await after wide characters"),
        pytest.param("!a\nx = await f()", "pass\nx =       f()", id="await beside magic"),
    ],
)
def test_what_is_not_python(cell, plain):
    assert plain_python(cell) == plain


@pytest.mark.parametrize(
    "cell",
    [
        "x = (a\n% b\n!= c)",
        "s = '''\n%time\n!ls\nwhy?\n'''",
        's = f"""\n%%bash\n"""',
        "x = a \\\n% b",
        "x != y\nx %= 3\nf(a!=b, '=%d')",
        "x = 1  # why?\n# %time\ns = 'why?'",
        "async def f():\n    await g()\nawaited = lambda: 1",
        "x = [\n'%s',\n\n%b]",
    ],
)
def test_what_is_python_stays(cell):
    assert plain_python(cell) == cell


def test_an_open_bracket_hides_no_magic_below_it():
    assert plain_python("f(\nx = 1\n%time g()") == "f(\nx = 1\n0;    g()"


#: Pieces of which cells are made: all that may reach out of a cell, or look like what separates them.
PIECES = [
    "(",
    ")",
    "'''",
    '"""',
    "'",
    "#",
    "\\",
    "\n",
    "\r",
    "\r\n",
    "@d",
    "def f(): pass",
    "else:",
    " ",
    "x = 1",
    "%",
    "!",
]
PIECES += ["?", "%%time", "await ", "é", "\ud83d", "\0", "\f", "\x1f", CELL_MARK, "\n" + CELL_MARK + "\n"]
cells = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=5)


@given(cells)
def test_each_cell_is_parsed_as_if_it_were_alone(cells):
    text = module_text(cells)
    starts = cell_starts(text.split("\n"))
    assert len(starts) == max(len(cells), 1)
    whole = parse("/a.ipynb", text)
    found = [(*cell_position(starts, one.offset + 1), one.statement.chunk.text) for one in whole.statements]
    problems = [(cell_position(starts, one.span.line)[0], one.message) for one in whole.problems]
    alone = []
    alone_problems = []
    for number, cell in enumerate(cells, 1):
        file = parse("/a.ipynb", module_text([cell]))
        alone += [(number, one.offset + 1, one.statement.chunk.text) for one in file.statements]
        alone_problems += [(number, one.message) for one in file.problems]
    assert (found, problems) == (alone, alone_problems)


@given(cells)
def test_lines_keep_their_number(cells):
    lines = module_text(cells).split("\n")
    starts = cell_starts(lines)
    ends = [start - 2 for start in starts[1:]] + [len(lines)]
    for cell, start, end in zip(cells, starts, ends, strict=False):
        assert end - start == len(cell.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1


def test_the_whole_tree_is_that_of_the_cells():
    file = parse("/a.ipynb", module_text(["x = (1,", "2)", "y = 3"]))
    assert [ast.unparse(node) for node in file.tree.body] == ["y = 3"]


def test_comments_of_the_cell_above_are_not_the_kernels():
    kernel = "@ct.kernel\ndef k(x):\n    pass"
    cells = [
        "import cuda.tile as ct\n# tile-lsp: x=f32[1]",
        kernel,
        f"# tile-lsp: x=f32[2]\n{kernel.replace('k(', 'l(')}",
    ]
    text = module_text(cells)
    workspace = Workspace({"/a.ipynb": text}.get, ())
    first, second = find_kernels(workspace.file("/a.ipynb"), workspace, frozenset({"cuda.tile.kernel"}))
    assert first.comment_lines == ()
    assert [line.text for line in second.comment_lines] == ["# tile-lsp: x=f32[2]"]


def test_a_notebook_is_no_module_of_its_stem_and_of_no_package():
    files = {"/p/__init__.py": "", "/p/a.py": "x = 1", "/p/a.ipynb": "from a import x", "/p/b-c.ipynb": ""}
    workspace = Workspace(files.get, ("/",))
    assert [workspace.own_module(path).name for path in files] == ["p", "p.a", "a_ipynb", "b_c_ipynb"]
    assert workspace.resolve_name(workspace.file("/p/a.ipynb"), "x") == "p.a.x"


def saved(cells: object, **more: object) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells, **more}).encode()


def code(source: object, metadata: object = None) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [{"data": {"image/png": "…"}}]}


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (saved([code("a\n"), code(["b\n", "c"]), {"cell_type": "markdown", "source": "d"}]), ("a\n", "b\nc")),
        (saved([]), ()),
        (b"\xef\xbb\xbf" + saved([code("é")]), ("é",)),
        (saved([{"cell_type": "code"}, {"cell_type": "raw", "source": "x"}]), ("",)),
        (saved([code("a"), code("b", {"vscode": {"languageId": "ruby"}})]), ("a",)),
        (saved([code("a")], metadata={"language_info": {"name": "julia"}}), ()),
        (saved([code("a")], metadata={"kernelspec": {"language": "R"}}), ()),
        (saved([code("a")], metadata={"language_info": {"name": "ipython"}}), ("a",)),
        (saved([code("a", [1]), code("b", {"vscode": 3})], metadata=[{}]), ("a", "b")),
    ],
)
def test_reading(data, cells):
    assert read_notebook(data) == cells


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"nbformat":4,"metadata":' + b"[" * 100_000,
        b'{"nbformat":4,"unknown":' + b'{"a":' * 100_000,
        saved([code("a")])[:-3],
        saved([code("a")], nbformat=3),
        saved([code("a")], nbformat="4"),
        saved([code(7)]),
        saved([code(["a", None])]),
        saved([None]),
        saved({"0": code("a")}),
        saved(None),
        b'{"nbformat":4,"cells":[{"cell_type":"code","source":"\\ud800"}]}',
    ],
)
def test_what_is_no_notebook(data):
    assert isinstance(read_notebook(data), Unreadable)


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.text(max_size=3) | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["cells", "nbformat", "metadata", "source", "cell_type"]), inner)
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_data_is_too_odd(data):
    found = read_notebook(data)
    assert isinstance(found, Unreadable) or all(isinstance(cell, str) for cell in found)
