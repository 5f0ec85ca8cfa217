"""Comments and settings against the kernel. Carets under a comment stand for the problem that is expected there."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pytest

from tile_lsp.model.job import Config

KERNEL = """
@ct.kernel
def kernel(A, out, tm: ct.Constant[int], causal: ct.Constant[bool], n: int = 4, eps: ct.Constant[float] = 1e-5):
    ct.store(out, (0, 0), ct.load(A, (0, 0), (tm, tm)) * n)
"""
TYPED = """
from typing import Annotated
Fixed = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1))]

@ct.kernel
def kernel(x: Fixed, count: ct.ScalarInt64, pair: tuple[ct.Constant[int], int], xs: list, w: ct.IndexedWithInt64):
    pass
"""


def above(kernel: str, comments: str) -> str:
    return re.sub(r"(?m)^@ct\.kernel", lambda _: f"{comments.strip()}\n@ct.kernel", textwrap.dedent(kernel))


@pytest.fixture
def check(read: Callable) -> Callable[[str, str], None]:
    """Reads comments above a kernel; the problems have to be those that the caret lines draw."""

    def run(kernel: str, comments: str) -> None:
        wanted = []
        lines = comments.strip().split("\n")
        for number, line in enumerate(lines):
            drawn = re.fullmatch(r"#(\s*)(\^+) (.*)", line)
            if drawn:
                above_it = next(other for other in reversed(lines[:number]) if "^" not in other)
                wanted.append((drawn.start(2), above_it[drawn.start(2) : drawn.end(2)], drawn[3]))
        result = read(above(kernel, comments))
        text = result.text.encode().split(b"\n")
        found = [
            (text[p.span.line - 1][p.span.column : p.span.end_column].decode(), p.message) for p in result.problems
        ]
        assert len(found) == len(wanted), found
        for (_, word, message), (found_word, found_message) in zip(sorted(wanted), found, strict=True):
            assert found_word == word
            assert message in found_message

    return run


@pytest.mark.parametrize(
    "comments",
    [
        """
# tile-lsp: A=f17[4,4] tm=128
#             ^^^ `f17` is not a dtype; did you mean `f16`?
""",
        """
# tile-lsp: a=f16[4,4] tmm=128 größe=1
#           ^ neither a parameter nor a hint; did you mean `A`?
#                      ^^^ did you mean `tm`?
#                              ^^^^^ the kernel has A, out, tm, causal, n, eps
""",
        """
# tile-lsp: num_cta=2
#           ^^^^^^^ did you mean `num_ctas`?
""",
        """
# tile-lsp: tm=f16[4,4] A=128 out=f32
#              ^^^^^^^^ tm is a ct.Constant[int]: give it a value, such as tm=128
#                         ^^^ A is an array (indexed with 2 coordinates
#                                 ^^^ out is an array
""",
        """
# tile-lsp: tm=1.5 causal=3 n=f16[4] eps=True
#              ^^^ 1.5 is float
#                         ^ 3 is int
#                             ^^^^^^ n is a scalar (int): give its type, such as n=i32
#                                        ^^^^ True is bool
""",
        """
# tile-lsp: tm=128 tm=64
#                  ^^ tm is given twice
""",
        """
# tile-lsp: target=sm_90,sm_91
#                        ^^^^^ tileiras does not compile for sm_91; it does for sm_80, sm_86
""",
        """
# tile-lsp: target=sm_90a
#                  ^^^^^^ chosen by the assembler itself; write sm_90
""",
        """
# tile-lsp: target=9.0,hopper
#                  ^^^ write sm_90
#                      ^^^^^^ `hopper` is no target
""",
        """
# tile-lsp: num_ctas=3 occupancy=64 opt_level=9 num_worker_warps=5 bytecode_version=12
#                    ^ a power of two from 1 to 16, not 3
#                                ^^ a number from 1 to 32, not 64
#                                             ^ 0, 1, 2 or 3, not 9
#                                                                ^ a power of two from 1 to 32
#                                                                                   ^^ one of 13.1
""",
        """
# tile-lsp: symbol=9x
#                  ^^ is no symbol name
""",
        """
# tile-lsp: A=f16[4,ü] tm= 128
#                   ^ `ü` is no dimension
#                      ^^^ a value is missing
#                          ^^^ expected NAME=VALUE
""",
    ],
)
def test_problems_at_the_word(check: Callable, comments: str) -> None:
    check(KERNEL, comments)


@pytest.mark.parametrize(
    "comments",
    [
        """
# tile-lsp: x=f32[?,64]
#             ^^^^^^^^^ known length along axis 0: write a number
""",
        """
# tile-lsp: count=i32
#                 ^^^ count is i64, as its annotation says, not i32
""",
        """
# tile-lsp: pair=(i32,i32)
#                ^^^^^^^^^ pair[0] is a
""",
        """
# tile-lsp: pair=(1,2,3)
#                ^^^^^^^ pair has 2 items by its annotation
""",
        """
# tile-lsp: xs=f32[4] w=i32
#              ^^^^^^ xs is a list of arrays
#                       ^^^ w is an array
""",
        """
# tile-lsp: x=f32[64,64] count=i64 pair=(128,i32) xs=list[f32[?]] w=f32[?]
""",
    ],
)
def test_problems_with_annotations(check: Callable, comments: str) -> None:
    check(TYPED, comments)


def test_each_comment_is_a_job(read: Callable) -> None:
    result = read(
        above(
            KERNEL,
            """
# tile-lsp: A=float16[64,64] tm=16 target=sm_90,sm_100 num_ctas=2
# tile-lsp: tm=32 occupancy=2 target=sm_80 \\
#           num_ctas=1 symbol=small
""",
        )
    )
    assert not result.problems
    first, second = result.specs
    assert [argument.spec for argument in first.arguments][:3] == ["f16[64,64]", "f16[?:16,?:16]", "16"]
    assert first.configs == (Config("sm_90", (("num_ctas", 2),)), Config("sm_100", (("num_ctas", 2),)))
    assert second.configs == (Config("sm_80", (("num_ctas", 1), ("occupancy", 2)), "small"),)
    assert first.comment is not None
    assert second.comment is not None
    assert second.comment.span.end_line == first.comment.span.line + 2


def test_spelling_and_order_make_no_other_job(read: Callable) -> None:
    one = read(above(KERNEL, "# tile-lsp: A=float16[64, 64]/align=16 tm=0x10 occupancy=2 num_ctas=1"))
    other = read(above(KERNEL, "# tile-lsp: num_ctas=1 occupancy=2 tm=16 A=f16[64,64]"))
    assert one.specs[0].arguments == other.specs[0].arguments
    assert one.specs[0].configs == other.specs[0].configs


def test_numbers_are_scalars_unless_declared_constant(read: Callable) -> None:
    result = read(above(KERNEL, "# tile-lsp: n=7 tm=64 eps=1e-3"))
    assert result.arguments["n"] == "i32"
    assert result.arguments["tm"] == "64"
    assert result.arguments["eps"] == "0.001"


def test_sources_in_order(read: Callable) -> None:
    settings = {
        "targets": ["sm_100"],
        "hints": {"occupancy": 2},
        "kernels": {"ker*": {"arguments": {"A": "f16[64,64]", "tm": 32, "other": 1}, "hints": {"num_ctas": 2}}},
    }
    result = read(above(KERNEL, "# tile-lsp: tm=16 occupancy=4"), settings)
    assert not result.problems
    assert result.origins == {
        "A": "settings",
        "out": "assumed",
        "tm": "comment",
        "causal": "assumed",
        "n": "default",
        "eps": "default",
    }
    assert result.arguments["tm"] == "16"
    assert result.arguments["A"] == "f16[64,64]"
    assert result.specs[0].configs == (Config("sm_100", (("num_ctas", 2), ("occupancy", 4))),)


def test_a_comment_without_a_target_leaves_it_open(read: Callable) -> None:
    result = read(above(KERNEL, "# tile-lsp: tm=16"))
    assert result.specs[0].configs == (Config(),)


def test_settings_that_can_not_be_are_reported_and_left(read: Callable) -> None:
    settings = {
        "targets": ["sm_12", "sm_90"],
        "hints": {"num_ctas": 3},
        "kernels": {"kernel": {"arguments": {"tm": "f16[4]", "A": "q"}}},
    }
    result = read(KERNEL, settings)
    assert {problem.setting for problem in result.problems} == {
        ("targets",),
        ("hints", "num_ctas"),
        ("arguments", "tm"),
        ("arguments", "A"),
    }
    assert result.specs[0].configs == (Config("sm_90"),)
    assert result.origins["tm"] == "assumed"


def test_a_parameter_named_like_a_config_word(read: Callable) -> None:
    kernel = """
@ct.kernel
def kernel(A, target: ct.Constant[int]):
    ct.store(A, (0,), ct.zeros((target,), ct.float32))
"""
    result = read(above(kernel, "# tile-lsp: target=64 @target=sm_90"))
    assert not result.problems
    assert result.arguments["target"] == "64"
    assert result.specs[0].configs == (Config("sm_90"),)


def test_names_that_the_kernel_captures_may_be_bound(read: Callable) -> None:
    result = read(
        """
def make(TILE):
    # tile-lsp: TILE=64 a=f32[?]
    @ct.kernel
    def kernel(a):
        ct.store(a, (0,), ct.zeros((TILE,), ct.float32))
    return kernel
"""
    )
    assert not result.problems
    assert result.arguments == {"a": "f32[?]"}
