from __future__ import annotations

from tile_lsp.analysis.snapshot import State
from tile_lsp.ide.hover import hover
from tile_lsp.model.closure import Note
from tile_lsp.model.location import Span
from tile_lsp.model.outcome import Artifact, Fault, FaultKind
from tile_lsp.model.stage import Stage

from .picture import PATH, Source, job, snapshot


def check(source, kernels, expected, *others, span=None):
    """The hover at the cursor says just this, as plain text."""
    found = hover(snapshot(source.view(*kernels), *others), source.path, *source.cursor)
    assert (found.markup.plain() if found else None) == expected
    if span is not None:
        assert found.span == span


def test_the_type_comes_first_then_what_is_known_then_the_job():
    source = Source("""
        def matmul(A):
            s = '😋'; ‸acc = load(A)
    """)
    record = source.typed("store", "acc", "Tile[float32,(128,)]", facts=(("divisible by", "16"),), constant="0")
    kernel = source.kernel("matmul", record, jobs=(job("matmul", ("A", "f16[?]", "assumed")),))
    check(
        source,
        [kernel],
        "acc: Tile[float32,(128,)]\n\nconstant 0 · divisible by 16\n\nmatmul for sm_90; assumed: A",
        span=source.span("acc"),
    )


def test_the_innermost_expression_is_named_by_its_source():
    source = Source("""
        def k(A):
            x = f(g(‸1) + 2)
    """)
    types = [source.typed("expr", "f(g(1) + 2)", "int64"), source.typed("expr", "g(1)", "int32")]
    check(source, [source.kernel("k", *types)], "g(1): int32\n\nk for sm_90")


def test_on_a_callee_it_is_the_type_of_the_call():
    source = Source("""
        def k(A):
            x = ct.m‸ma(A, 1) + 2
    """)
    types = [
        source.typed("expr", "ct.mma(A, 1) + 2", "f32"),
        source.typed("expr", "ct.mma(A, 1)", "f16"),
        source.typed("expr", "ct.mma", "function mma"),
        source.typed("load", "ct", "module ct"),
    ]
    check(source, [source.kernel("k", *types)], "ct.mma(A, 1): f16\n\nk for sm_90", span=source.span("ct.mma(A, 1)"))
    source.cursor = (2, 8)
    check(source, [source.kernel("k", *types)], "ct.mma(A, 1): f16\n\nk for sm_90")


def test_nothing_is_known_of_nothing():
    source = Source("""
        x = ‸1
        def k(A):
            y = 2
    """)
    check(source, [source.kernel("k", source.typed("store", "y", "int32"))], None)


HELPER = """
    def gelu(x):
        y‸ = x * 2
"""


def test_a_helper_that_is_reached_at_two_types_shows_both_by_caller():
    helper = Source(HELPER, "/w/helpers.py")
    source = Source("""
        def k(A):
            a = gelu(A)
            b = gelu(A2)
    """)
    helper.cursor = (2, 4)
    kernel = source.kernel(
        "k",
        helper.typed("store", "y", "f16", source.place("gelu(A)")),
        helper.typed("store", "y", "f32", source.place("gelu(A2)")),
    )
    check(
        helper,
        [],
        "y: f16\n\nin k, called at k.py:2\n\ny: f32\n\nin k, called at k.py:3\n\nk for sm_90",
        source.view(kernel),
    )


def test_two_calls_on_one_line_are_told_apart():
    helper = Source(HELPER, "/w/helpers.py")
    source = Source("""
        def k(A, A2):
            a, größe = gelu(A), gelu(A2)
    """)
    helper.cursor = (2, 4)
    kernel = source.kernel(
        "k",
        helper.typed("store", "y", "f16", source.place("gelu(A)")),
        helper.typed("store", "y", "f32", source.place("gelu(A2)")),
    )
    check(
        helper,
        [],
        "y: f16\n\nin k, called at k.py:2:16\n\ny: f32\n\nin k, called at k.py:2:25\n\nk for sm_90",
        source.view(kernel),
    )


def test_a_helper_of_two_kernels_at_one_type_names_both():
    helper = Source(HELPER, "/w/helpers.py")
    helper.cursor = (2, 4)
    views = []
    for name in ("one", "two"):
        source = Source(f"def {name}(A):\n    gelu(A)\n", f"/w/{name}.py")
        views.append(source.view(source.kernel(name, helper.typed("store", "y", "f16", source.place("gelu(A)")))))
    check(
        helper,
        [],
        "y: f16\n\nin one, called at one.py:2 · in two, called at two.py:2\n\none for sm_90\ntwo for sm_90",
        *views,
    )


def test_many_types_are_cut_short():
    source = Source("""
        def k(A):
            ‸i = A
    """)
    types = [source.typed("store", "i", f"t{n}") for n in range(9)]
    found = hover(snapshot(source.view(source.kernel("k", *types))), PATH, *source.cursor)
    assert "t5" in found.markup.plain()
    assert "t6" not in found.markup.plain()
    assert "and 3 more" in found.markup.plain()


def test_states_are_visible():
    for state, word in [
        (State.STALE, "stale"),
        (State.COMPILING, "compiling"),
        (State.FAILED, "error"),
        (State.BLOCKED, "nothing was compiled"),
    ]:
        source = Source("""
            def k(A):
                ‸y = A
        """)
        kernel = source.kernel("k", source.typed("store", "y", "f16"), state=state)
        found = hover(snapshot(source.view(kernel)), PATH, *source.cursor).markup.plain()
        assert found.startswith("y: f16")
        assert word in found, state


def test_the_kernels_name_has_arguments_with_origins_configs_and_notes():
    source = Source("""
        def ‸k(A, tm):
            pass
    """)
    resources = Artifact(
        Stage.RESOURCES,
        "k\n  registers          40\n  shared memory     17408 B  1024 B of it the driver's\n"
        "  spills                0 B\n"
        "  code             3392 B  212 instructions\n",
    )
    arguments = (("A", "f16[?,?]", "assumed"), ("tm", "128", "comment"))
    fault = Fault(FaultKind.ENVIRONMENT, "tileiras timed out after 120 s")
    kernel = source.kernel(
        "k",
        jobs=(
            job("k", *arguments, artifacts={Stage.RESOURCES: resources}),
            job("k", *arguments, target="sm_100", hints=(("num_ctas", 2),), faults=(fault,)),
        ),
        notes=(Note("loaded by importing the module"),),
    )
    check(
        source,
        [kernel],
        "kernel k(\n    A: f16[?,?],  # assumed\n    tm: 128,      # from the comment\n)\n\n"
        "- sm_90 (active): 40 registers · 17 KiB shared · 212 instructions\n"
        "- sm_100 · num_ctas=2: tileiras timed out after 120 s\n\n"
        "- loaded by importing the module",
    )


def test_a_kernel_that_could_not_run_says_why_and_what_mends_it():
    source = Source("""
        def ‸k(A):
            pass
    """)
    fault = Fault(FaultKind.ENVIRONMENT, "cuda-tile is not installed", help="pip install cuda-tile")
    kernel = source.kernel("k", jobs=(), state=State.BLOCKED, faults=(fault,))
    check(
        source,
        [kernel],
        "kernel k(A)\n\nnothing was compiled\n\ncuda-tile is not installed\npip install cuda-tile",
    )


def test_a_parameter_shows_its_type_and_where_its_argument_came_from():
    source = Source("""
        def k(‸A: Array):
            pass
    """)
    kernel = source.kernel(
        "k", source.typed("param", "A", "Array[float16,(?,?)]"), jobs=(job("k", ("A", "f16[?,?]", "annotation")),)
    )
    check(source, [kernel], "A: Array[float16,(?,?)]\n\nA=f16[?,?], from the annotation\n\nk for sm_90")


def test_a_parameter_of_a_kernel_that_was_never_inferred():
    source = Source("""
        def k(‸A):
            pass
    """)
    kernel = source.kernel("k", jobs=(job("k", ("A", "f16[?]", "assumed")),), state=State.BLOCKED)
    check(source, [kernel], "A: f16[?]\n\nA=f16[?], assumed\n\nk for sm_90; assumed: A (nothing was compiled)")


def test_words_of_a_job_comment():
    for at, says in [
        ("tm=12‸8", "tm = 128\n\nargument tm of k"),
        ("target=‸sm_90", "target = sm_90\n\nk: the architectures"),
        ("num_ctas=2‸", "num_ctas = 2\n\nk: a hint"),
    ]:
        words = "tm=128 target=sm_90 num_ctas=2".replace(at.replace("‸", ""), at)
        source = Source(f"# tile-lsp: {words}\ndef k(tm):\n    pass\n")
        found = hover(snapshot(source.view(source.kernel("k"))), PATH, *source.cursor)
        assert found.markup.plain().startswith(says)


def test_a_job_comment_above_nothing_says_so():
    source = Source("# tile-lsp: tm=12‸8\n\ndef k(tm):\n    pass\n")
    found = hover(snapshot(source.view(source.kernel("k"))), PATH, *source.cursor)
    assert "no kernel follows" in found.markup.plain()
    assert found.span == Span(1, 12, 1, 18)


def test_markdown_shows_text_as_it_stands():
    source = Source("""
        def ‸k(A):
            pass
    """)
    fault = Fault(FaultKind.USER, "expected *tile* <b>, got `x[0]`\nsm_90 _x")
    kernel = source.kernel("k", jobs=(), faults=(fault,))
    text = hover(snapshot(source.view(kernel)), PATH, *source.cursor).markup.markdown()
    assert "expected \\*tile\\* \\<b>, got `x[0]`  \nsm_90 \\_x" in text
