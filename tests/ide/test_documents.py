from __future__ import annotations

import msgspec
import pytest

from tile_lsp.analysis.snapshot import ProblemView, State
from tile_lsp.ide.document_hover import document_hover
from tile_lsp.ide.documents import document, missing_document, types_document
from tile_lsp.ide.fault_words import in_one_line
from tile_lsp.ide.links import definitions, lines_of, same_source
from tile_lsp.model.location import Place, SourceRange, Span
from tile_lsp.model.outcome import Artifact, Fault, FaultKind
from tile_lsp.model.stage import Stage

from .picture import PATH, Source, Straight, job, snapshot

HELPER = Source("def gelu(x):\n    return x * 2\n", "/w/h.py")
SOURCE = Source("""
    def k(A):
        x = load(A)
        y = gelu(x)
""")
LOAD = (SOURCE.place("load(A)"),)
INLINED = (HELPER.place("x * 2"), SOURCE.place("gelu(x)"))
SASS = Artifact(Stage.SASS, "k:\nLDG R0 ;\nLDG R1 ;\n  FMUL R0 ;\nEXIT ;\n", ((), (LOAD,), (LOAD,), (INLINED, LOAD)))
SERVED = """\
// SASS of k for sm_90
// A=f16[?]
// assumed: A

k:
// k.py:2: x = load(A)
LDG R0 ;
LDG R1 ;
  // h.py:2: return x * 2 ← k.py:3
  FMUL R0 ;
EXIT ;
"""


def served(source=SOURCE, outcome=SASS, stage=Stage.SASS, last=None, pinned=None, **kernel):
    view = source.kernel("k", jobs=kernel.pop("jobs", (job("k", ("A", "f16[?]", "assumed")),)), **kernel)
    shot = snapshot(source.view(view), HELPER.view())
    return document(shot, view, pinned or view.jobs[0].job, stage, outcome, last), shot


def test_a_listing_with_the_source_of_its_lines():
    made, _ = served()
    assert made.text == SERVED
    assert not made.stale
    assert len(made.rows) == len(made.links) == len(made.origins)
    assert [made.rows[i] for i, origin in enumerate(made.origins) if origin >= 0] == SASS.text.splitlines()


class Moved(Straight):
    """Positions after two lines were put above the kernel."""

    def resolve(self, place: Place) -> SourceRange | None:
        found = super().resolve(place)
        if found is None or found.path != PATH:
            return found
        line, column, end_line, end_column = found.span
        return SourceRange(PATH, Span(line + 2, column, end_line + 2, end_column))


def test_moved_source_changes_annotations_only():
    made, _ = served(Source("# one\n# two\n" + SOURCE.text), positions=Moved())
    assert made.text == SERVED.replace("k.py:2", "k.py:4").replace("k.py:3", "k.py:5")


def test_a_fault_is_the_text_and_the_last_listing_stays_below_it():
    fault = Fault(FaultKind.USER, "bad\nthing", INLINED, help="do this")
    alone, _ = served(outcome=fault)
    assert alone.text == SERVED[: SERVED.index("\nk:")].rstrip() + "\n// h.py:2: error: bad\n// thing\n// do this\n\n"
    both, _ = served(outcome=fault, last=SASS)
    assert "// the last version that compiled:\n\nk:\n" in both.text
    assert both.stale
    assert alone.stale


def test_broken_text_marks_the_listing_stale():
    made, _ = served(state=State.STALE)
    assert made.stale
    assert "// stale: the text is broken, this is the last version that could be read\n" in made.text


def test_broken_text_that_never_was_whole_says_where_it_is_broken():
    broken = ProblemView("'(' was never closed", SOURCE.span("gelu(x)"))
    view = SOURCE.kernel("k", state=State.STALE, jobs=())
    view = msgspec.structs.replace(view, inference=None)
    shot = snapshot(SOURCE.view(view, problems=(broken,)), HELPER.view())
    stale = "// stale: the text is broken (k.py:3: '(' was never closed), and no version of it could be read so far\n"
    assert types_document(shot, view).text == f"// Types of k\n{stale}\n"
    fault = Fault(FaultKind.USER, "bad")
    assert stale in document(shot, view, None, Stage.SASS, fault).text


def test_a_pinned_job_of_an_earlier_version_has_no_links():
    made, _ = served(pinned=job("k", version="older").job)
    assert not any(made.links)
    assert "k.py" not in made.text


def test_places_outside_the_workspace_are_left_out():
    chain = (Place("cuda/tile.py", 3, 0, 3, 9), *LOAD)
    made, _ = served(outcome=Artifact(Stage.SASS, "NOP ;\n", ((chain,),)))
    assert "// k.py:2: x = load(A)\nNOP ;" in made.text


def test_the_comment_leader_is_the_languages():
    made, _ = served(outcome=Artifact(Stage.LLVM, "ret void\n"), stage=Stage.LLVM)
    assert made.text.startswith("; LLVM IR of k for sm_90\n")


def test_links_both_ways():
    made, _ = served()
    row = {text: index for index, text in enumerate(made.rows)}
    assert [(place.path, place.span.line) for place in definitions(made, row["  FMUL R0 ;"])] == [
        (HELPER.path, 2),
        (PATH, 2),
    ]
    assert [made.rows[i] for i in lines_of(made, PATH, 2, 2)] == ["LDG R0 ;", "LDG R1 ;", "  FMUL R0 ;"]
    assert [made.rows[i] for i in lines_of(made, PATH, 3, 3)] == ["  FMUL R0 ;"], "a call leads to what was inlined"
    assert [made.rows[i] for i in same_source(made, row["LDG R0 ;"])] == [
        "// k.py:2: x = load(A)",
        "LDG R0 ;",
        "LDG R1 ;",
    ]
    for nowhere in (row["EXIT ;"], -1, 10_000):
        assert definitions(made, nowhere) == ()
        assert same_source(made, nowhere) == ()


def test_hover_shows_the_source_line_and_the_call_chain():
    made, shot = served()
    row = {text: index for index, text in enumerate(made.rows)}
    assert document_hover(shot, made, row["  FMUL R0 ;"]).plain() == (
        "return x * 2\n\nh.py:2, called at k.py:3\n\nx = load(A)\n\nk.py:2"
    )
    assert document_hover(shot, made, row["EXIT ;"]) is None


def test_the_types_document_lists_bindings_in_the_order_of_the_source():
    view = SOURCE.kernel(
        "k",
        SOURCE.typed("store", "y", "f32", constant="1.0"),
        SOURCE.typed("param", "A", "Array"),
        SOURCE.typed("load", "x", "f16", nth=1),
        HELPER.typed("store", "x", "f16", SOURCE.place("gelu(x)")),
        SOURCE.typed("store", "x", "f16"),
        SOURCE.typed("store", "x", "f16"),
    )
    made = types_document(snapshot(SOURCE.view(view), HELPER.view()), view)
    assert made.text.splitlines()[2:] == [
        "1:7 A: Array",
        "2:5 x: f16",
        "3:5 y: f32 = 1.0",
        "h.py:1:10 x: f16  ← k.py:3",
    ]
    assert [(place.path, place.span.line) for place in definitions(made, 3)] == [(PATH, 2)]


def test_the_types_document_counts_characters():
    source = Source("def k(größe, n):\n    pass\n")
    view = source.kernel("k", source.typed("param", "n", "i32", nth=0))
    assert types_document(snapshot(source.view(view)), view).text.splitlines()[2:] == ["1:14 n: i32"]


def test_a_kernel_that_is_gone():
    made = missing_document(Stage.PTX, "k", "/w/k.py")
    assert made.text == "// /w/k.py has no kernel k\n"
    assert made.stale


LISTING = Artifact(
    Stage.SASS,
    """\
        .target sm_90
k:
        /*0000*/       LDC.64 R2, c[0x0][0x210] ;                           /* B------:R-:W0:-:S01 */
        /*0010*/  @!P0 LDG.E.CONSTANT R0, desc[UR4][R2.64] ;                /* B0-----:R-:W-:-:S05 */
        /*0020*/       BRA `(.L_x_0) ;                                      /* B------:R-:W-:-:S05 */
        /*0030*/       FROB.E R0 ;                                          /* B------:R-:W-:-:S05 */
.L_x_0:
        /*0040*/       ISETP.LT.AND P0, PT, R0, c[0x0][0x218], PT ;         /* B------:R-:W-:-:S05 */
""",
    ((), (), (), (LOAD,), (), (), (), (INLINED,)),
)


def test_hover_says_what_an_instruction_does_above_its_source():
    made, shot = served(outcome=LISTING)

    def hover(start: str) -> str:
        row = next(index for index, text in enumerate(made.rows) if start in text)
        found = document_hover(shot, made, row)
        return found.plain() if found else ""

    load = hover("LDG.E")
    assert load.startswith("LDG.E.CONSTANT: Loads from global memory.\n\n- .E: 64-bit address\n- .CONSTANT: ")
    assert "- runs in threads where P0 is false\n" in load
    assert "waits for scoreboard 0 (LDC.64 at 0000)" in load
    assert load.endswith("\n\nx = load(A)\n\nk.py:2")
    assert "c[0x0][0x210]: parameter A\n" in hover("LDC.64")
    assert "c[0x0][0x218]: parameter A.shape[0]\n" in hover("ISETP")
    label = next(index for index, text in enumerate(made.rows) if text == ".L_x_0:")
    jump = next(index for index, text in enumerate(made.rows) if "BRA" in text)
    assert f".L_x_0 is line {label + 1}, h.py:2" in hover("BRA")
    assert hover(".L_x_0:") == f".L_x_0: reached from line {jump + 1}"
    assert hover("FROB").startswith("FROB.E: not described here.\n\n- .E: 64-bit address\n- ")
    assert hover(".target") == ""


def test_hover_names_parameters_in_ptx():
    listing = ".visible .entry k(\n\t.param .u32 k_param_1\n)\n{\n\tld.param.b32 \t%r1, [k_param_1];\n}\n"
    made, shot = served(outcome=Artifact(Stage.PTX, listing), stage=Stage.PTX)
    row = next(index for index, text in enumerate(made.rows) if "ld.param" in text)
    assert "- k_param_1: parameter A.shape[0]" in document_hover(shot, made, row).plain()


@pytest.mark.parametrize(
    ("message", "help_", "line"),
    [
        ("a is not\ninstalled", None, "a is not installed"),
        ("a is not installed", "pip install a", "a is not installed: pip install a"),
        ("a is missing.", "Install it.", "a is missing. Install it."),
        ("a is missing", "Install it.", "a is missing. Install it."),
    ],
)
def test_a_fault_in_one_line_says_what_mends_it(message: str, help_: str | None, line: str):
    assert in_one_line(Fault(FaultKind.ENVIRONMENT, message, help=help_)) == line
