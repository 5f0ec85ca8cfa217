"""A device that is not there: what code hears that asks triton for the current one while it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton.backends.driver import DriverBase

#: Shared memory that one block may have, in bytes, by compute capability; by AMD's architecture.
SHARED_MEMORY = {75: 65536, 80: 166912, 86: 101376, 87: 166912, 88: 101376, 89: 101376, 90: 232448, 100: 232448}
SHARED_MEMORY |= {103: 232448, 107: 232448, 110: 232448, 120: 101376, 121: 101376}
_LDS = 65536
_LDS_GFX950 = 163840


def shared_memory(target: Any) -> int:
    """Bytes of shared memory (LDS) that one block may have on a `GPUTarget`."""
    if target.backend == "cuda":
        return SHARED_MEMORY.get(target.arch, 101376)
    return _LDS_GFX950 if target.arch == "gfx950" else _LDS


class Device(DriverBase):
    """Answers questions; runs nothing."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.utils = _Utils(target)
        self.launcher_cls: Any = None

    @classmethod
    def is_active(cls) -> bool:
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "void*"

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self) -> str:
        return "cuda:0"

    def get_device_interface(self) -> Any:
        return None

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return lambda call, quantiles=None, **options: [0.0] * len(quantiles or (0,))

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: Any) -> None:
        pass


class _Utils:
    def __init__(self, target: Any) -> None:
        self._target = target

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": shared_memory(self._target),
            "multiprocessor_count": 132 if self._target.backend == "cuda" else 304,
            "max_num_regs": 65536,
            "warpSize": self._target.warp_size,
            "sm_clock_rate": 1_755_000,
            "mem_clock_rate": 2_619_000,
            "mem_bus_width": 5120,
        }
