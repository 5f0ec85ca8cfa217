"""The process that LLVM is asked in: what it makes of modules good and bad."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from tile_lsp.engine.own_tools import own_tool
from tile_lsp.frontends import llvm
from tile_lsp.model.outcome import FaultKind

HEAD = 'target triple = "nvptx64-nvidia-cuda"\n'
KERNEL = """\
@seen = addrspace(3) global [4 x float] undef
@unseen = addrspace(1) global i32 0

define ptx_kernel void @k(ptr addrspace(1) %x) {
  %v = call float @used(float 1.0)
  store float %v, ptr addrspace(1) %x
  %p = addrspacecast ptr addrspace(3) @seen to ptr
  store float %v, ptr %p
  ret void
}

define float @unused() {
  ret float 0.0
}

define linkonce_odr float @used(float %v) {
  %w = fadd float %v, 2.0
  ret float %w
}

declare void @never()
"""


async def test_a_slice_is_the_kernel_and_what_it_reaches(tool):
    made = await tool.text(llvm.SLICED, HEAD + KERNEL)
    assert made == snapshot("""\
target triple = "nvptx64-nvidia-cuda"

@seen = dso_local addrspace(3) global [4 x float] undef

define ptx_kernel void @k(ptr addrspace(1) %x) {
  %v = call float @used(float 1.000000e+00)
  store float %v, ptr addrspace(1) %x, align 4
  %p = addrspacecast ptr addrspace(3) @seen to ptr
  store float %v, ptr %p, align 4
  ret void
}

define linkonce_odr dso_local float @used(float %v) {
  %w = fadd float %v, 2.000000e+00
  ret float %w
}
""")


async def test_modules_that_follow_each_other_are_one(tool):
    first = (
        "; ModuleID = 'a'\n" + HEAD + "declare float @used(float)\n" + KERNEL[: KERNEL.index("define float @unused")]
    )
    second = "; ModuleID = 'b'\n" + HEAD + KERNEL[KERNEL.index("define linkonce_odr") :]
    made = await tool.text(llvm.SLICED, first + "\n" + second)
    assert made == await tool.text(llvm.SLICED, HEAD + KERNEL)


async def test_annotations_name_kernels_too(tool):
    text = KERNEL.replace("ptx_kernel ", "") + '!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !"kernel", i32 1}\n'
    made = await tool.text(llvm.SLICED, HEAD + text)
    assert "@k(" in made
    assert "@unused" not in made


async def test_where_no_kernel_is_known_all_is_kept(tool):
    assert "@unused" in await tool.text(llvm.SLICED, HEAD + KERNEL.replace("ptx_kernel ", ""))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("float f0x3FB8AA3B", "float 0x3FF7154760000000"),
        ("half f0x3C00", "half 0xH3C00"),
        ("bfloat f0x3F80", "bfloat 0xR3F80"),
        ("double f0x3FF0000000000000", "double 1.000000e+00"),
        ("float -inf", "float 0xFFF0000000000000"),
        ("half +inf", "half 0xH7C00"),
        ("bfloat -inf", "bfloat 0xRFF80"),
        ("double +inf", "double 0x7FF0000000000000"),
        ("float +qnan", "float 0x7FF8000000000000"),
        ("float -nan(0x200000)", "float 0xFFF4000000000000"),
        ("float 1.5", "float 1.500000e+00"),
    ],
)
async def test_floats_as_a_newer_llvm_writes_them(tool, written: str, read: str):
    kind = written.partition(" ")[0]
    text = f"define ptx_kernel void @k(ptr %p) {{\n  store {written}, ptr %p\n  ret void\n}}\n"
    made = await tool.text(llvm.SLICED, HEAD + text)
    assert f"  store {read}, ptr %p, align" in made
    second = f"define ptx_kernel void @k(ptr %p, {kind} %v) {{\n  %w = fadd {kind} %v, {written.partition(' ')[2]}\n"
    made = await tool.text(llvm.SLICED, HEAD + second + f"  store {kind} %w, ptr %p\n  ret void\n}}\n")
    assert f"%w = fadd {read.partition(' ')[0]} %v, {read.partition(' ')[2]}\n" in made


async def test_names_that_look_like_floats_are_left_alone(tool):
    text = 'define ptx_kernel void @k() #0 {\n  ret void\n}\nattributes #0 = { "no-infs-fp-math"="false" "x"="+inf" }\n'
    assert '"x"="+inf"' in await tool.text(llvm.SLICED, HEAD + text)


async def test_a_bad_module_is_a_result_in_llvms_words(tool):
    fault = await tool.fault(llvm.SLICED, HEAD + "define void @k() {\n  ret i32 %nothing\n}\n")
    assert fault.kind is FaultKind.USER
    assert fault.message == snapshot("""\
LLVM IR parsing error
<string>:3:7: error: value doesn't match function result type 'void'
  ret i32 %nothing
      ^\
""")


async def test_a_module_that_is_not_sound_is_a_result_too(tool):
    text = """\
define ptx_kernel void @k(i1 %c) {
  br i1 %c, label %a, label %b
a:
  %x = add i32 1, 2
  br label %b
b:
  %y = add i32 %x, 1
  ret void
}
"""
    fault = await tool.fault(llvm.SLICED, HEAD + text)
    assert fault.kind is FaultKind.USER
    assert "Instruction does not dominate all uses" in fault.message


async def test_no_module_at_all(tool):
    fault = await tool.fault(llvm.SLICED, "")
    assert fault.message == "there is no LLVM IR"


async def test_where_llvm_ends_its_process_its_last_words_are_the_message(tool):
    text = "declare void @llvm.nvvm.wgmma.fence.sync.aligned()\n"
    text += "define ptx_kernel void @k() {\n  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n  ret void\n}\n"
    fault = await tool.fault(llvm.PTX, HEAD + text, "sm_80")
    assert fault.kind is FaultKind.ENVIRONMENT
    assert fault.code == "crash"
    assert fault.message == snapshot("""\
LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.wgmma.fence.sync.aligned
llvm was ended by SIGABRT\
""")
    assert "wgmma.fence.sync.aligned" in await tool.text(llvm.PTX, HEAD + text, "sm_90")
    assert tool.counters.tools == {"llvm": 2}


async def test_an_architecture_that_llvm_does_not_know(tool):
    fault = await tool.fault(llvm.PTX, HEAD + KERNEL, "sm_999")
    assert fault.message == snapshot("LLVM 22.1.0 knows no sm_999a")


async def test_remarks_name_nodes_of_the_debug_information(tool):
    text = KERNEL.replace("@used(float 1.0)", "@used(float 1.0), !dbg !5").replace(
        "@k(ptr addrspace(1) %x)", "@k(ptr addrspace(1) %x) !dbg !4"
    )
    text += """\
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, isOptimized: true, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "k", directory: "file")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 7, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DILocation(line: 8, column: 5, scope: !4)
"""
    assert await tool.text(llvm.REMARKS, HEAD + text) == snapshot(
        "!5: 'used' inlined into 'k' with (cost=-35, threshold=4125) at callsite k:1:5;\n"
    )


def test_what_is_missing_is_said_with_what_mends_it(monkeypatch: pytest.MonkeyPatch):
    from tile_lsp.engine import own_tools

    for name, said in (("no-such-thing", "is not installed for tile-lsp in"), ("pygls", "is too old")):
        own = own_tools._OWN["llvm"]._replace(distribution=name, requirement=f"{name}>=999.1")
        monkeypatch.setitem(own_tools._OWN, "llvm", own)
        fault = own_tool("llvm")
        assert said in fault.message
        assert fault.help.endswith(f" -m pip install '{name}>=999.1'")
