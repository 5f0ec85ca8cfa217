; LLVM IR of add for sm_90
source_filename = "add"
target triple = "nvptx64-nvidia-cuda"
@shared = external addrspace(3) global [0 x i8], align 16
%pair = type { i32, float }
define ptx_kernel void @add(ptr addrspace(1) nocapture readonly %a, float %x) local_unnamed_addr #0 !dbg !4 {
entry:
  %tid = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !8
  %1 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %i, !dbg !9
  %v = load <4 x float>, ptr addrspace(1) %1, align 16
  %sum = fadd contract float %x, 0x3FF0000000000000
  %done = icmp slt i32 %tid, -12
  br i1 %done, label %exit, label %loop
loop:                                             ; preds = %loop, %entry
  %n = phi i32 [ 0, %entry ], [ %m, %loop ]
  store float %sum, ptr addrspace(1) %1, align 4
  ret void
exit:
  unreachable
}
attributes #0 = { nounwind "target-cpu"="sm_90" }
!4 = distinct !DISubprogram(name: "add", line: 3)
