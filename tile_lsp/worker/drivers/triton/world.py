"""What code hears that asks array libraries about the machine while it is loaded: the answers of the job's target."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .device import shared_memory

#: Triton release → the torch that pins it.
_TORCH = {(3, 6): "2.11.0", (3, 7): "2.12.1", (3, 8): "2.14.1"}
_VENDORS = ("corex", "gcu", "maca", "mlu", "musa", "npu", "ptpu", "sdaa", "txda", "vacc")


def answers(target: str, triton_version: str) -> dict[str, Any]:
    """Dotted name → value, or the value of a call of it; `NotImplemented` for what there is not."""
    is_cuda = target.startswith("sm_")
    number = int(target[3:]) if is_cuda else 0
    capability = (number // 10, number % 10) if is_cuda else (9, 4)
    release = tuple(int(part) for part in triton_version.split(".")[:2])
    properties = Properties(target, capability)
    return {
        "torch.__version__": _TORCH.get(release, "2.15.0"),  # type: ignore[call-overload]
        "torch.version.cuda": "13.0" if is_cuda else None,
        "torch.version.hip": None if is_cuda else "7.0",
        "torch.version.xpu": None,
        "torch.cuda.is_available": True,
        "torch.cuda.device_count": 1,
        "torch.cuda.current_device": 0,
        "torch.cuda.get_device_capability": capability,
        "torch.cuda.get_device_name": properties.name,
        "torch.cuda.get_device_properties": properties,
        "torch.cuda.is_bf16_supported": number >= 80 or not is_cuda,
        "torch.xpu.is_available": False,
        "torch.backends.mps.is_available": False,
        "torch.compiler.is_compiling": False,
        "torch.is_grad_enabled": False,
        "torch.utils._triton.has_triton": True,
        "torch.utils._triton.has_triton_package": True,
        **_of_inductor(),
        # What other vendors add to torch, and what tells them by that.
        **dict.fromkeys((f"torch.{vendor}" for vendor in _VENDORS), NotImplemented),
        "transformers.__version__": "4.56.0",
    }


def _of_inductor() -> dict[str, ModuleType]:
    """Triton's own modules by the names that torch's compiler gives to them."""
    import triton.language as tl
    from triton.language.extra import libdevice

    helpers = "torch._inductor.runtime.triton_helpers"
    return {f"{helpers}.libdevice": libdevice, f"{helpers}.math": tl.math}


class Properties:
    """`torch.cuda.get_device_properties(…)`."""

    def __init__(self, target: str, capability: tuple[int, int]) -> None:
        self.name = f"NVIDIA {target}" if target.startswith("sm_") else f"AMD {target}"
        self.major, self.minor = capability
        self.multi_processor_count = 132 if target.startswith("sm_") else 304
        self.warp_size = 32 if target.startswith("sm_") else 64
        self.gcnArchName = target
        self.total_memory = 80 << 30
        self.regs_per_multiprocessor = 65536
        self.shared_memory_per_multiprocessor = 228 << 10
        self.shared_memory_per_block_optin = _shared(target)


def _shared(target: str) -> int:
    from triton.backends.compiler import GPUTarget

    if target.startswith("sm_"):
        return shared_memory(GPUTarget("cuda", int(target[3:]), 32))
    return shared_memory(GPUTarget("hip", target, 64))
