"""Settings from the files of a workspace, with the editor's over them."""

from __future__ import annotations

import pytest

from tile_lsp.engine.settings import settings_file, workspace_settings, written_setting
from tile_lsp.model.location import Span

PYPROJECT = """\
[project]
name = "kernels"

[tool.tile-lsp]
targets = ["sm_90"]
extra-roots = ["lib"]
trust = "always"
timeout = 3

[tool.tile-lsp.hints]
num_ctas = 2
"""


def settings(files: dict[str, str], editor: dict[str, object] | None = None, roots: tuple[str, ...] = ("/w",)):
    return workspace_settings(roots, files.get, editor)


def test_pyproject():
    found, problems, _ = settings({"/w/pyproject.toml": PYPROJECT})
    assert (found.targets, found.extra_roots, dict(found.hints)) == (("sm_90",), ("lib",), {"num_ctas": 2})
    assert found.trust == "editor"
    assert [(problem.path, problem.span) for problem in problems] == [
        ("/w/pyproject.toml", Span(8, 0, 8, 7)),
        ("/w/pyproject.toml", Span(7, 0, 7, 5)),
    ]


def test_where_settings_are_written():
    files = {"/w/pyproject.toml": PYPROJECT, "/w/inner/tile-lsp.toml": ""}
    assert settings_file("/w/a/k.py", ("/w", "/w/inner"), files.get) == ("/w/pyproject.toml", Span(4, 6, 4, 14), True)
    assert settings_file("/w/inner/k.py", ("/w", "/w/inner"), files.get)[::2] == ("/w/inner/tile-lsp.toml", True)
    assert settings_file("/w2/k.py", ("/w",), files.get)[::2] == ("/w2/tile-lsp.toml", False)


def test_its_own_file_wins_over_pyproject():
    found, problems, _ = settings({"/w/pyproject.toml": PYPROJECT, "/w/tile-lsp.toml": 'targets = "sm_80"'})
    assert (found.targets, found.extra_roots, problems) == (("sm_80",), (), ())


def test_the_editor_wins_key_by_key():
    found, _, problems = settings({"/w/pyproject.toml": PYPROJECT}, {"targets": ["sm_120"], "extraRoots": None, "x": 1})
    assert (found.targets, dict(found.hints)) == (("sm_120",), {"num_ctas": 2})
    assert [problem.path for problem in problems] == [("x",)]


def test_the_first_folder_wins():
    files = {"/a/tile-lsp.toml": 'targets = "sm_80"', "/b/tile-lsp.toml": 'targets = "sm_90"\nhints.occupancy = 2'}
    found, _, _ = settings(files, roots=("/a", "/b"))
    assert (found.targets, dict(found.hints)) == (("sm_80",), {"occupancy": 2})


def test_a_file_that_is_no_toml():
    found, problems, _ = settings({"/w/tile-lsp.toml": "targets = ["})
    assert found.targets == ()
    assert [problem.path for problem in problems] == ["/w/tile-lsp.toml"]


def test_a_pyproject_of_others():
    assert settings({"/w/pyproject.toml": "[tool.black]\n"})[1] == ()


def test_targets_and_hints_that_no_language_has_are_marked_where_they_are_written():
    text = """\
targets = ["sm_90", "banana"]
[hints]
num_warps = 4
num_worps = 4
[kernels."k*"]
targets = ["gfx942", "sm_9"]
"""
    found, problems, _ = settings({"/w/tile-lsp.toml": text})
    assert found.targets == ("sm_90", "banana")
    lines = text.split("\n")
    marked = [lines[p.span.line - 1][p.span.column : p.span.end_column] for p in problems]
    assert marked == ["targets", "num_worps", "targets"]
    assert "`banana`" in problems[0].message
    assert "`sm_9`" in problems[2].message


@pytest.mark.parametrize(
    ("editor", "where", "line"),
    [
        ({}, 'tile-lsp.toml, kernels."m*".Arguments.x', 2),
        ({"kernels": {"m*": {"arguments": {"y": "i32"}}}}, 'tile-lsp.toml, kernels."m*".Arguments.x', 2),
        (
            {"kernels": {"m*": {"arguments": {"x": "f33"}}}},
            'the editor\'s setting tile-lsp.kernels."m*".arguments.x',
            None,
        ),
        (
            {"kernels": {"mm": {"arguments": {"x": "f33"}}}},
            "the editor's setting tile-lsp.kernels.mm.arguments.x",
            None,
        ),
    ],
)
def test_where_a_value_is_written(editor, where, line):
    files = {"/w/tile-lsp.toml": '[kernels."m*".Arguments]\nx = "f34"\n', "/w/pyproject.toml": PYPROJECT}
    found, _, _ = settings(files, editor)
    keys = found.keys_of(("arguments", "x"), "mm")
    words, place = written_setting(found, keys, ("/w",), files.get)
    assert words == where
    assert (place and place.span.line) == line
