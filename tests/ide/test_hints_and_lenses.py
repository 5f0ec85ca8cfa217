from __future__ import annotations

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
    check(source, [kernel], "def k⟨ 40 registers⟩(A):\n    s⟨: str⟩ = '😋'; é⟨: f16⟩ = A\n    use(é)\n")
    check(source, [kernel], "def k⟨ 40 registers⟩(A):\n    s = '😋'; é = A\n    use(é)\n", last=1)


def test_a_helper_at_two_types_has_both_in_one_hint():
    helper = Source("def gelu(x):\n    y = x\n", "/w/h.py")
    source = Source("def k(A):\n    gelu(A)\n    gelu(B)\n")
    kernel = source.kernel(
        "k",
        helper.typed("store", "y", "f16", source.place("gelu(A)")),
        helper.typed("store", "y", "f32", source.place("gelu(B)")),
    )
    check(helper, [], "def gelu(x):\n    y⟨: f16 | f32⟩ = x\n", others=[source.view(kernel)])
    (hint,) = inlay_hints(snapshot(helper.view(), source.view(kernel)), helper.path, 1, 9)
    assert hint.tooltip == "f16: k ← k.py:2\nf32: k ← k.py:3"


def test_a_long_type_is_cut_in_the_hint_and_whole_in_its_tooltip():
    source = Source("def k(A):\n    y = A\n")
    long = f"Tuple[{', '.join(['float32'] * 20)}]"
    (hint,) = inlay_hints(snapshot(source.view(source.kernel("k", source.typed("store", "y", long)))), PATH, 1, 9)
    assert len(hint.label) == 60
    assert hint.label.endswith("…")
    assert hint.tooltip == f"{long}: k"


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
