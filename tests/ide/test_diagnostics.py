from __future__ import annotations

import msgspec

from tile_lsp.analysis.snapshot import ProblemView
from tile_lsp.ide.diagnostics import diagnostics
from tile_lsp.model.location import Place, Span
from tile_lsp.model.outcome import Artifact, Fault, FaultKind, Inference, Remark, Severity
from tile_lsp.model.stage import Stage

from .picture import PATH, Source, job, snapshot

SOURCE = Source("""
    def k(A):
        x = A + missing
        y = gelu(A)
""")


def fault(message, *chain, kind=FaultKind.USER, **more):
    return Fault(kind, message, chain, **more)


def check(kernels, expected, *others, **options):
    """Each diagnostic of the file as (text that it marks, message, severity)."""
    found = diagnostics(snapshot(SOURCE.view(*kernels), *others), **options)[PATH]
    assert [(marked(item.span), item.message, item.severity) for item in found] == expected
    return found


def marked(span: Span, source: Source = SOURCE) -> str:
    assert span.line == span.end_line
    return source.lines[span.line - 1].encode()[span.column : span.end_column].decode()


def test_a_fault_stands_on_its_range():
    error = fault("undefined", SOURCE.place("missing"), code="TypeCheckingError")
    (found,) = check([SOURCE.kernel("k", faults=(error,))], [("missing", "undefined", Severity.ERROR)])
    assert found.code == "TypeCheckingError"


def test_a_fault_without_place_stands_on_the_kernels_name():
    error = fault("out of memory", kind=FaultKind.ENVIRONMENT, help="pip install x")
    check([SOURCE.kernel("k", faults=(error,))], [("k", "out of memory\npip install x", Severity.WARNING)])


def test_a_fault_in_a_helper_stands_in_the_helper_with_its_callers():
    helper = Source("def gelu(x):\n    return x @ x\n", "/w/helpers.py")
    error = fault("bad shapes", helper.place("x @ x"), SOURCE.place("gelu(A)"))
    found = diagnostics(snapshot(SOURCE.view(SOURCE.kernel("k", faults=(error,))), helper.view()))
    assert found[PATH] == ()
    (item,) = found[helper.path]
    assert marked(item.span, helper) == "x @ x"
    assert item.message == "bad shapes"
    assert [(other.place.path, marked(other.place.span)) for other in item.related] == [(PATH, "gelu(A)")]


def test_a_fault_in_a_library_stands_at_its_call():
    error = fault("no such overload", Place("cuda/tile.py", 7), SOURCE.place("gelu(A)"))
    check([SOURCE.kernel("k", faults=(error,))], [("gelu(A)", "no such overload", Severity.ERROR)])


def test_one_error_for_many_kernels_is_said_once():
    helper = Source("def gelu(x):\n    return x @ x\n", "/w/helpers.py")
    views = []
    for name in ("one", "two"):
        source = Source(f"def {name}(A):\n    gelu(A)\n", f"/w/{name}.py")
        error = fault("bad", helper.place("x @ x"), source.place("gelu(A)"))
        views.append(source.view(source.kernel(name, faults=(error,))))
    (item,) = diagnostics(snapshot(helper.view(), *views))[helper.path]
    assert item.message == "bad\n[in one, two]"


def test_faults_of_code_generation_name_their_configs():
    error = fault("ptxas failed")
    kernel = SOURCE.kernel("k", jobs=(job("k", faults=(error,)), job("k", target="sm_100", faults=(error,))))
    check([kernel], [("k", "ptxas failed\n[in k for sm_90, k for sm_100]", Severity.ERROR)])


def test_problems_of_the_text_keep_their_severity():
    problem = ProblemView("unknown hint", SOURCE.span("missing"), Severity.WARNING, "signature")
    found = diagnostics(snapshot(SOURCE.view(problems=(problem,))))[PATH]
    assert [(item.message, item.severity, item.code) for item in found] == [
        ("unknown hint", Severity.WARNING, "signature")
    ]


def test_remarks_are_shown_only_where_asked_for():
    remark = Remark("uses tensor cores", chain=(SOURCE.place("gelu(A)"),))
    kernel = SOURCE.kernel(
        "k", jobs=(job("k", artifacts={Stage.REMARKS: Artifact(Stage.REMARKS, "", remarks=(remark,))}),)
    )
    check([kernel], [])
    check([kernel], [("gelu(A)", "uses tensor cores", Severity.INFORMATION)], remarks=True)


def test_what_constants_rule_out_is_faded_where_every_kernel_that_reaches_it_agrees():
    inactive = SOURCE.place("gelu(A)")
    faded = Inference(inactive=(inactive,), reached=(inactive.member,))
    kernels = [
        msgspec.structs.replace(SOURCE.kernel("k"), name=name, inference=inference)
        for name, inference in (("k", faded), ("l", faded), ("m", Inference(reached=(inactive.member,))))
    ]
    message = "Ruled out by the constants of the active job: nothing is generated for it."
    (found,) = check(kernels[:2], [("gelu(A)", message, Severity.HINT)])
    assert found.unnecessary
    check(kernels, [])


def test_remarks_of_inference_are_hints_once_for_all_jobs():
    remark = Remark("computed in float64", Severity.HINT, (SOURCE.place("gelu(A)"),), "float64")
    kernel = SOURCE.kernel("k", jobs=(job("k"), job("k", ("A", "f16[?]", "assumed"))))
    kernel = msgspec.structs.replace(kernel, inference=Inference(remarks=(remark,)))
    (found,) = check([kernel], [("gelu(A)", "computed in float64", Severity.HINT)], remarks=True)
    assert found.code == "float64"
    check([kernel], [])
