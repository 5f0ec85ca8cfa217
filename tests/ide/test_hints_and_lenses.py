from __future__ import annotations

import pytest

from tile_lsp.analysis.snapshot import State
from tile_lsp.ide.code_lens import code_lenses, lens_title
from tile_lsp.ide.inlay_hints import inlay_hints
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

from .picture import PATH, Source, job, snapshot

RESOURCES = {Stage.RESOURCES: Artifact(Stage.RESOURCES, "k\n  registers   40\n")}


def check(source, kernels, expected, first=1, last=99, others=()):
    """The text with its hints in it is this."""
    lines = [line.encode() for line in source.lines]
    for hint in reversed(inlay_hints(snapshot(source.view(*kernels), *others), source.path, first, last)):
        line = lines[hint.line - 1]
        lines[hint.line - 1] = line[: hint.column] + f"⟨{hint.label}⟩".encode() + line[hint.column :]
    assert b"".join(lines).decode() == expected


def test_types_at_assignments_and_resources_at_the_name():
    source = Source("def k(A):\n    s = '😋'; é = A\n    use(é)\n")
    types = [
        source.typed("store", "é", "f16"),
        source.typed("load", "é", "f16", nth=1),
        source.typed("store", "s", "str"),
        source.typed("param", "A", "Array"),
    ]
    kernel = source.kernel("k", *types, jobs=(job("k", artifacts=RESOURCES),))
    check(source, [kernel], "def k⟨40 regs⟩(A):\n    s⟨: str⟩ = '😋'; é⟨: f16⟩ = A\n    use(é)\n")
    check(source, [kernel], "def k⟨40 regs⟩(A):\n    s = '😋'; é = A\n    use(é)\n", last=1)


def test_a_helper_at_two_types_has_both_in_one_hint():
    helper = Source("def gelu(x):\n    y = x\n", "/w/h.py")
    source = Source("def k(A):\n    gelu(A)\n    gelu(B)\n")
    kernel = source.kernel(
        "k",
        helper.typed("store", "y", "f16", source.place("gelu(A)")),
        helper.typed("store", "y", "f32", source.place("gelu(B)")),
    )
    check(helper, [], "def gelu(x):\n    y⟨: f16|f32⟩ = x\n", others=[source.view(kernel)])
    (hint,) = inlay_hints(snapshot(helper.view(), source.view(kernel)), helper.path, 1, 9)
    assert hint.tooltip == "f16: k ← k.py:2\nf32: k ← k.py:3"


def test_a_long_type_is_cut_in_the_hint_and_whole_in_its_tooltip():
    source = Source("def k(A):\n    y = A\n")
    long = f"Tuple[{', '.join(['float32'] * 20)}]"
    (hint,) = inlay_hints(snapshot(source.view(source.kernel("k", source.typed("store", "y", long)))), PATH, 1, 9)
    assert len(hint.label) == 60
    assert hint.label.endswith("…")
    assert hint.tooltip == f"{long}: k"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["Tile[f16,(8,4)]", "Tile[bf16,(8,4)]"], "Tile[f16|bf16,(8,4)]"),
        (["Tile[f16,(8,4)]", "Tile[f16,(4,8)]"], "Tile[f16,(8,4)] | Tile[f16,(4,8)]"),
        (["f16", "Tile[f16,()]"], "f16 | Tile[f16,()]"),
        (["Tile[float16,(128,64)]", "Tile[float32,(64,128)]", "int"], "Tile[float16,(128,64)] | 2 more"),
    ],
)
def test_several_types_in_one_hint(types, expected):
    source = Source("def k(A):\n    y = A\n")
    kernel = source.kernel("k", *(source.typed("store", "y", type_) for type_ in types))
    (hint,) = inlay_hints(snapshot(source.view(kernel)), PATH, 1, 9)
    assert hint.label == f": {expected}"
    assert hint.tooltip.splitlines() == [f"{type_}: k" for type_ in types]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("  registers   40\n", "40 regs"),
        (
            "  registers      255\n  shared memory  230656 B\n  code           16320 B  1020 instructions\n",
            "255 regs · 225.2 KiB shared · 1020 instrs",
        ),
        (
            "  registers  255\n  shared memory  230656 B\n  spills  640 B\n  code  16320 B  1020 instructions\n",
            "255 regs · 640 B spilled · 225.2 KiB shared",
        ),
    ],
)
def test_resources_fit_on_a_line_of_the_editor(table, expected):
    source = Source("def k(A):\n    pass\n")
    view = job("k", artifacts={Stage.RESOURCES: Artifact(Stage.RESOURCES, f"k\n{table}")})
    (hint,) = inlay_hints(snapshot(source.view(source.kernel("k", jobs=(view,)))), PATH, 1, 9)
    assert hint.label == expected
    assert len(hint.label) <= 43
    assert hint.tooltip.startswith("sm_90: ")
    assert "registers" in hint.tooltip


@pytest.mark.parametrize(
    ("state", "expected"), [(State.COMPILING, "compiling"), (State.BLOCKED, "not compiled"), (State.STALE, "stale")]
)
def test_the_lens_of_a_kernel_without_a_job_says_how_it_stands(state, expected):
    source = Source("def k(A):\n    pass\n")
    shot = snapshot(source.view(source.kernel("k", jobs=(), state=state)))
    assert lens_title(shot, PATH, "k", None) == expected


def test_lenses_of_a_kernel():
    source = Source("def k(A):\n    pass\n")
    jobs = (job("k", artifacts=RESOURCES), job("k", target="sm_100"))
    shot = snapshot(source.view(source.kernel("k", jobs=jobs, state=State.COMPILING)))
    lenses = code_lenses(shot, PATH)
    assert {lens.span for lens in lenses} == {source.span("k")}
    assert [lens_title(shot, PATH, lens.kernel, lens.stage) for lens in lenses] == [
        "Types",
        "Typed IR",
        "Tile IR",
        "PTX",
        "SASS",
        "sm_90 (1 of 2) | 40 registers | compiling",
    ]


def test_a_file_without_kernels_has_none():
    source = Source("x = 1\n")
    assert code_lenses(snapshot(source.view()), PATH) == ()
    assert inlay_hints(snapshot(source.view()), PATH, 1, 9) == ()
    assert inlay_hints(snapshot(), PATH, 1, 9) == ()
