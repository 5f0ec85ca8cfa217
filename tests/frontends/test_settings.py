"""Settings: one schema whatever the spelling, and problems where they are written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.model.settings import Cache, KernelSettings, Settings, Timeouts, decode, merge
from tile_lsp.model.toml import read_toml


def test_defaults() -> None:
    assert decode({}) == (Settings(), ())
    assert decode(None) == (Settings(), ())


def test_both_spellings() -> None:
    kebab = {"extra-roots": ["lib"], "code-lens": False, "cache": {"directory": "/c"}, "timeouts": {"tool": 5}}
    camel = {"extraRoots": ["lib"], "codeLens": False, "cache": {"directory": "/c"}, "timeouts": {"tool": 5}}
    expected = Settings(extra_roots=("lib",), code_lens=False, cache=Cache(directory="/c"), timeouts=Timeouts(tool=5.0))
    assert decode(kebab) == decode(camel) == (expected, ())


def test_what_editors_send_for_unset_is_unset() -> None:
    assert decode({"python": None, "targets": [], "cache": None, "timeouts": {"tool": None}}) == (Settings(), ())
    assert decode({"python": ""})[0].python is None


@pytest.mark.parametrize(
    ("given_size", "size"), [(1024, 1024), ("1 KiB", 1024), ("2g", 2 << 30), ("1.5 MB", 3 << 19), ("100", 100)]
)
def test_sizes(given_size: object, size: int) -> None:
    settings, problems = decode({"memory": given_size})
    assert (settings.memory, problems) == (size, ())


def test_kernels() -> None:
    settings, problems = decode(
        {
            "targets": "sm_90, sm_100",
            "hints": {"num_ctas": 1, "occupancy": 2},
            "kernels": {
                "mat*": {"arguments": {"tm": 64, "eps": 1e-5, "on": True, "A": "f16[?,?]"}, "hints": {"num_ctas": 2}},
                "*/b.py::matmul": {"targets": ["sm_80"]},
            },
        }
    )
    assert not problems
    arguments = {"tm": "64", "eps": "1e-05", "on": "True", "A": "f16[?,?]"}
    hints = {"num_ctas": 2, "occupancy": 2}
    assert settings.for_kernel("matmul", "/w/a.py") == KernelSettings(arguments, ("sm_90", "sm_100"), hints)
    assert settings.for_kernel("matmul", "/w/b.py").targets == ("sm_80",)
    assert settings.for_kernel("add") == KernelSettings({}, ("sm_90", "sm_100"), {"num_ctas": 1, "occupancy": 2})


TOML = """\
[project]
name = "größe"

[tool.tile-lsp]
targets = [
    "sm_90",
    "sm_100",
]
pyhton = "3"
code-lens = "yes"
loading = "eager"
memory = "much"
cache.size = -1
timeouts = { tool = 0, inference = 3 }
hints = { "é" = [1], opt_level = 2 }

[tool.tile-lsp.kernels."mat*"]
arguments.A = ["f16"]
target = ["sm_90"]
"""


def test_problems_where_they_are_written() -> None:
    section = read_toml(TOML, ("tool", "tile-lsp"))
    assert section.error is None
    settings, problems = decode(section.values)
    lines = TOML.encode().split(b"\n")
    found = {}
    for problem in problems:
        span = section.locate(problem.path)
        found[lines[span.line - 1][span.column : span.end_column].decode()] = (span.line, problem.message)
    assert found == {
        "pyhton": (9, "there is no setting `pyhton`; did you mean `python`?"),
        "code-lens": (10, "code-lens: expected true or false, not 'yes'"),
        "loading": (11, "loading: expected one of auto, slice, import, not 'eager'"),
        "memory": (12, """memory: expected a number of bytes, or text such as "2 GiB", not 'much'"""),
        "size": (13, """size: expected a number of bytes, or text such as "2 GiB", not -1"""),
        "tool": (14, "tool: expected a number of seconds above 0, not 0"),
        '"é"': (15, "é: expected a number or text, not [1]"),
        "A": (18, """A: expected a number, or text such as "f16[4096,4096]", not ['f16']"""),
        "target": (19, "there is no setting `target`; did you mean `targets`?"),
    }
    assert settings.targets == ("sm_90", "sm_100")
    assert settings.hints == {"opt_level": 2}
    assert settings.timeouts == Timeouts(inference=3.0)


@pytest.mark.parametrize(
    ("text", "table", "path", "place"),
    [
        ("a.b.c = 1", ("a",), ("b", "c"), (1, 4, 5)),
        ("a.b.c = 1", ("a",), ("b", "missing"), (1, 2, 3)),
        ("[a]\n'x y' = 1\n", ("a",), ("x y",), (2, 0, 5)),
        ('s = """\nk = 1\n"""\nk = 2', (), ("k",), (4, 0, 1)),
        ("s = '''a'b'''\nk = [{x = 1}, {y = 2}]", (), ("k", "1", "y"), (2, 15, 16)),
        ("[[t]]\nx = 1\n[[t]]\nx = 2 # x = 3\ny = 3", (), ("t", "1", "y"), (5, 0, 1)),
        ("\ufeffa = 1\r\nb = 2\r\n", (), ("b",), (2, 0, 1)),
        ("'é' = '#'\nb = 2020-01-01", (), ("b",), (2, 0, 1)),
    ],
)
def test_places_of_keys(text: str, table: tuple, path: tuple, place: tuple[int, int, int]) -> None:
    section = read_toml(text, table)
    assert section.error is None
    span = section.locate(path)
    assert (span.line, span.column, span.end_column) == place


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [("a = \n", 1, "Invalid value"), ('é = "x\nb = 1', 1, ""), ("[a]\nb = 1\nb = 2", 3, "overwrite")],
)
def test_text_that_is_no_toml(text: str, line: int, words: str) -> None:
    section = read_toml(text)
    assert section.values == {}
    assert section.error is not None
    message, span = section.error
    assert words in message
    assert span.line == line


def test_no_such_table() -> None:
    assert read_toml("[tool]\nx = 1", ("tool", "tile-lsp")).values == {}
    assert read_toml("tool = 3", ("tool", "tile-lsp")).values == {}


def test_later_sources_win_key_by_key() -> None:
    file = {"extra-roots": ["a"], "cache": {"size": 1, "enabled": True}, "kernels": {"k": {"targets": ["sm_90"]}}}
    editor = {"extraRoots": ["b"], "cache": {"enabled": False}, "kernels": {"k": {"hints": {"num_ctas": 2}}}}
    settings, problems = decode(merge(file, editor))
    assert not problems
    assert settings.extra_roots == ("b",)
    assert settings.cache == Cache(enabled=False, size=1)
    assert settings.kernels == {"k": KernelSettings(targets=("sm_90",), hints={"num_ctas": 2})}


_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["targets", "cache", "size", "kernels", "hints", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_values)
def test_decode_never_raises(values: Any) -> None:
    settings, _ = decode(values)
    assert isinstance(settings, Settings)


@given(st.text(alphabet="ab.[]{}=\"'#,\n 1"))
def test_toml_never_raises(text: str) -> None:
    section = read_toml(text)
    for key in section.values:
        assert (key,) in section.spans
