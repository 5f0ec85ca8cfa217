"""Kernels are found through whatever names their decorator, with exact spans."""

from __future__ import annotations

import ast

import pytest

from tests.analysis.python.fixtures import HEAD, files_of, sites
from tile_lsp.model.location import Span

FOUND = {
    "import as": "import cuda.tile as ct\n@ct.kernel\ndef k(): pass\n",
    "import": "import cuda.tile\n@cuda.tile.kernel\ndef k(): pass\n",
    "from package": "from cuda import tile\n@tile.kernel()\ndef k(): pass\n",
    "from module as": "from cuda.tile import kernel as kk\n@kk(occupancy=2)\ndef k(): pass\n",
    "star": "from cuda.tile import *\n@kernel\ndef k(): pass\n",
    "alias": HEAD + "kern = ct.kernel\nagain = kern\n@again\ndef k(): pass\n",
    "prepared": HEAD + "kern = ct.kernel(occupancy=2)\n@kern\ndef k(): pass\n",
    "partial": HEAD + "import functools\nkern = functools.partial(ct.kernel, occupancy=2)\n@kern\ndef k(): pass\n",
    "partial in place": HEAD + "from functools import partial as p\n@p(ct.kernel, occupancy=2)\ndef k(): pass\n",
    "through a module": "from common import ct\n@ct.kernel\ndef k(): pass\n-- common.py\nimport cuda.tile as ct\n",
    "through a star": "from common import *\n@t.kernel\ndef k(): pass\n"
    "-- common.py\nfrom deeper import *\n-- deeper.py\nimport cuda.tile as t\n",
    "through an attribute": "import pkg.common\n@pkg.common.ct.kernel\ndef k(): pass\n"
    "-- pkg/common.py\nimport cuda.tile as ct\n",
    "fallback import": "try:\n    import cuda.tile as ct\nexcept ImportError:\n    ct = None\n"
    "@ct.kernel\ndef k(): pass\n",
    "stacked": HEAD + "@a\n@b(1)\n@ct.kernel\n@c.d\ndef k(): pass\n",
    "async": HEAD + "@ct.kernel\nasync def k(): pass\n",
    "in a function, imported there": "def f():\n    import cuda.tile as ct\n    @ct.kernel\n    def k(): pass\n",
    "in a class": HEAD + "class C:\n    @staticmethod\n    @ct.kernel\n    def k(): pass\n",
    "in branches": HEAD
    + "if a:\n  try:\n    with b:\n      for c in d:\n        @ct.kernel\n        def k(): pass\n  finally: pass\n",
    "in a handler": HEAD + "try: pass\nexcept E:\n    @ct.kernel\n    def k(): pass\n",
    "in a case": HEAD + "match a:\n    case 1:\n        @ct.kernel\n        def k(): pass\n",
    "in the main block": HEAD + "if __name__ == '__main__':\n    @ct.kernel\n    def k(): pass\n",
    "wrapped": HEAD + "def fn(): pass\nk = ct.kernel(fn)\n",
    "wrapped with hints": HEAD + "def fn(): pass\nk = ct.kernel(occupancy=2)(fn)\n",
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str):
    (site,) = sites(files_of(FOUND[name]))
    assert site.qualname.rpartition(".")[2] == "k"
    assert site.decorator_name == "cuda.tile.kernel"
    assert not site.broken
    assert site.node is not None


@pytest.mark.parametrize(
    "text",
    [
        "@ct.kernel\ndef k(): pass\n",
        "import other as ct\n@ct.kernel\ndef k(): pass\n",
        "from common import ct\n@ct.kernel\ndef k(): pass\n-- common.py\nct = None\n",
        HEAD + "@ct.function\ndef k(): pass\n",
        HEAD + "def f(ct):\n    ct = other\n    @ct.kernel\n    def k(): pass\n",
        "'''\nimport cuda.tile as ct\n@ct.kernel\ndef k(): pass\n'''\n",
        HEAD + "x = ct.load(k)\n",
        HEAD + "def kernel_of(fn, **hints):\n    return ct.kernel(fn, **hints)\n",
        HEAD + "def with_hints(**hints):\n    def deco(fn):\n        return ct.kernel(**hints)(fn)\n    return deco\n",
        "import a\na = a.b\nfrom a import a\n@a.kernel\ndef k(): pass\n",
        "from main import *\nfrom main import x\nx = x\n@x.kernel\ndef k(): pass\n",
    ],
)
def test_not_found(text: str):
    assert sites(files_of(text)) == ()


def test_everything_about_a_site():
    text = HEAD + (
        "# not directly above\n\n"
        "# tile-lsp: x=f16[64]\n"
        "#   target=sm_90\n"
        "@ct.kernel(\n    occupancy=2)\n"
        "# between\n"
        "def  ядро(a: ct.Constant[int], /, bé=3, *c, d: int = 4, **e):\n    pass\n"
    )
    (site,) = sites(files_of(text))
    assert site.qualname == "ядро"
    assert site.span == Span(6, 0, 10, 8)
    assert site.name_span == Span(9, 5, 9, 13)
    assert [(p.name, p.kind, tuple(p.span)) for p in site.parameters] == [
        ("a", "positional", (9, 14, 9, 15)),
        ("bé", "normal", (9, 38, 9, 41)),
        ("c", "vararg", (9, 46, 9, 47)),
        ("d", "keyword", (9, 49, 9, 50)),
        ("e", "kwarg", (9, 63, 9, 64)),
    ]
    assert [ast.unparse(p.default) if p.default else None for p in site.parameters] == [None, "3", None, "4", None]
    assert site.parameters[0].annotation is not None
    assert ast.unparse(site.parameters[0].annotation) == "ct.Constant[int]"
    assert [comment.text for comment in site.comment_lines] == [
        "# tile-lsp: x=f16[64]",
        "#   target=sm_90",
        "# between",
    ]
    assert site.comment_lines[0].span == Span(4, 0, 4, 21)
    assert site.decorator is not None
    assert site.node is not None
    assert site.node.lineno == 9
    (decorator,) = site.node.decorator_list
    assert decorator.lineno == 6
    assert ast.dump(site.decorator) == ast.dump(decorator)


def test_scopes_and_order():
    text = HEAD + (
        "class A:\n    class B:\n        @ct.kernel\n        def one(): pass\n"
        "def f():\n    def g():\n        @ct.kernel\n        def two(): pass\n    return g\n"
    )
    assert [(site.qualname, site.scope) for site in sites(files_of(text))] == [
        ("A.B.one", (("class", "A"), ("class", "B"))),
        ("f.<locals>.g.<locals>.two", (("function", "f"), ("function", "g"))),
    ]


def test_wrapped_kernels_are_named_by_what_is_bound():
    first, second = sites(
        files_of(HEAD + "def fn(a): pass\n# of the first\nx = ct.kernel(fn)\ny = ct.kernel(num_ctas=2)(fn)\n")
    )
    assert (first.qualname, second.qualname) == ("x", "y")
    assert first.function == second.function == "fn"
    assert first.span == second.span
    assert [comment.text for comment in first.comment_lines] == ["# of the first"]
    assert second.comment_lines == ()


BROKEN = {
    "body": (
        HEAD + "@ct.kernel\ndef k(a):\n    x = (\n    y\n\n@ct.kernel\ndef other(): pass\n",
        "k",
        Span(2, 0, 5, 5),
    ),
    "signature": (HEAD + "@ct.kernel(occupancy=2)\ndef k(a, b=:\n    pass\n", "k", Span(2, 0, 4, 8)),
    "decorator": (HEAD + "@ct.kernel(occupancy=\ndef k(a):\n    pass\n", "k", Span(2, 0, 4, 8)),
    "class": (
        HEAD + "class C:\n    @ct.kernel\n    def k(a):\n        x = =\n    def f(): pass\n",
        "C.k",
        Span(3, 4, 5, 13),
    ),
    "factory": (
        HEAD + "def f():\n    @ct.kernel\n    def k(a):\n        x = =\n    return k\n",
        "f.<locals>.k",
        Span(3, 4, 5, 13),
    ),
    "import": ("import cuda.tile as ct as\n@ct.kernel\ndef k(): pass\n", "k", Span(2, 0, 3, 13)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_kernels_are_still_known(name: str):
    text, qualname, span = BROKEN[name]
    site = sites(files_of(text))[0]
    assert site.broken
    assert site.qualname == qualname
    assert site.span == span
    line = text.split("\n")[site.name_span.line - 1]
    assert line[site.name_span.column : site.name_span.end_column] == "k"


def test_a_broken_kernel_leaves_its_neighbours_alone():
    broken, sound = sites(files_of(BROKEN["body"][0]))
    assert (broken.broken, sound.broken) == (True, False)
