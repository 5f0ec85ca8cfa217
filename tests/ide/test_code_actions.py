from __future__ import annotations

import pytest

from tile_lsp.analysis.snapshot import State
from tile_lsp.ide.code_actions import code_actions, command_line
from tile_lsp.model.job import Argument, Config, Job
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from .picture import PATH, Source, job, snapshot


def actions(source, kernel, line, *others):
    return code_actions(snapshot(source.view(kernel), *others), source.path, line, line)


def edited(source, edit) -> str:
    lines = [line.encode() for line in source.lines]
    assert edit.span[:2] == edit.span[2:]
    row = lines[edit.span.line - 1]
    lines[edit.span.line - 1] = row[: edit.span.column] + edit.text.encode() + row[edit.span.column :]
    return b"".join(lines).decode()


@pytest.mark.parametrize(
    ("before", "arguments", "after"),
    [
        pytest.param(
            "def k(A, tm):\n    pass\n",
            (("A", "f16[?]", "assumed"), ("tm", "128", "default")),
            "# tile-lsp: A=f16[?] tm=128\ndef k(A, tm):\n    pass\n",
            id="no comment",
        ),
        pytest.param(
            "# tile-lsp: tm=64 # é\ndef k(A, tm):\n    pass\n",
            (("A", "f16[?]", "assumed"), ("tm", "64", "comment")),
            "# tile-lsp: tm=64 A=f16[?] # é\ndef k(A, tm):\n    pass\n",
            id="a comment that gives some",
        ),
        pytest.param(
            "# tile-lsp: tm=64\n# tile-lsp: target=sm_90\ndef k(A, tm):\n    pass\n",
            (("A", "f16[?]", "assumed"), ("tm", "128", "assumed")),
            "# tile-lsp: tm=64\n# tile-lsp: target=sm_90 A=f16[?] tm=128\ndef k(A, tm):\n    pass\n",
            id="the second of two comments",
        ),
        pytest.param(
            "def k(A):\r\n    pass\r\n",
            (("A", "f16[?]", "assumed"),),
            "# tile-lsp: A=f16[?]\r\ndef k(A):\r\n    pass\r\n",
            id="line ends of the file",
        ),
    ],
)
def test_pin_writes_what_was_assumed(before, arguments, after):
    source = Source(before)
    kernel = source.kernel("k", jobs=(job("k", *arguments),))
    (pin,) = (action for action in actions(source, kernel, kernel.span.line) if action.edit)
    assert edited(source, pin.edit) == after


def test_nothing_to_pin_where_nothing_was_assumed():
    source = Source("def k(A):\n    pass\n")
    kernel = source.kernel("k", jobs=(job("k", ("A", "f16[?]", "comment")),))
    assert not any(action.edit for action in actions(source, kernel, 1))


def test_actions_in_a_helper_are_those_of_the_kernels_that_inline_it():
    helper = Source("def gelu(x):\n    y = x\n", "/w/h.py")
    source = Source("def k(A):\n    gelu(A)\n")
    kernel = source.kernel("k", helper.typed("store", "y", "f16", source.place("gelu(A)")))
    shot = snapshot(helper.view(), source.view(kernel))
    kinds = [action.kind for action in code_actions(shot, helper.path, 2, 2)]
    assert "source.tile.sass" in kinds
    assert kinds[-1] == "source.tile.settings"
    assert code_actions(shot, helper.path, 1, 1) == ()


@pytest.mark.parametrize(
    ("kind", "code", "offered"),
    [
        (FaultKind.ENVIRONMENT, "frontend", True),
        (FaultKind.ENVIRONMENT, "untrusted", False),
        (FaultKind.USER, "type", False),
    ],
)
def test_what_was_missing_may_be_there_now(kind, code, offered):
    source = Source("def k(A):\n    pass\n")
    kernel = source.kernel("k", state=State.BLOCKED, jobs=(), faults=(Fault(kind, "triton is missing", code=code),))
    found = [action for action in actions(source, kernel, 1) if action.kind == "quickfix"]
    assert [action.command.name for action in found] == ["tile.retry"] * offered


def test_no_kernel_no_actions():
    source = Source("x = 1\n\n\ndef k(A):\n    pass\n")
    assert actions(source, source.kernel("k"), 1) == ()
    assert actions(source, source.kernel("k"), 4)[0].command.path == PATH


def test_a_command_line_survives_the_shell():
    value = Job("cutile", "k", "v", (Argument("A", "f16[4, ?]"),), Config("sm_90", (("num_ctas", 2),)))
    assert command_line("/a b/é.py", "k", value, Stage.SASS) == (
        "tile-lsp show sass '/a b/é.py::k' --arg 'A=f16[4, ?]' --target sm_90 --hint num_ctas=2"
    )
