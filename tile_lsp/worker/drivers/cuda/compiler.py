"""NVRTC as a function: text and options to PTX, cubin and a log. It needs no driver and no GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cuda.bindings import nvrtc

from ... import distributions
from . import clang_llvm, nvcc

_SAMPLE = "template <typename T> __global__ void sample(T *x) { x[threadIdx.x] += sqrtf(1.f); }\n"


class Result(NamedTuple):
    ok: bool
    log: str
    blobs: dict[str, bytes]
    """`ptx` and `cubin`, where they were asked for."""
    symbols: dict[str, str]
    """Name expression → the symbol that it became."""
    status: str
    """As NVRTC names it: `NVRTC_ERROR_COMPILATION`."""


class Compiler:
    """Raises `RuntimeError` or `ImportError` at construction if the library can't be loaded."""

    def __init__(self) -> None:
        major, minor = _checked(nvrtc.nvrtcVersion())
        self.version = (int(major), int(minor))
        self.folders = tuple(dict.fromkeys(_include_folders()))

    def parts(self) -> list[str]:
        """Name and version of everything besides the bindings that has a part in what is made."""
        found = [f"NVRTC {distributions.version_of('nvidia-cuda-nvrtc') or '.'.join(map(str, self.version))}"]
        for name, package in (
            ("headers", "nvidia-cuda-runtime"),
            ("CCCL", "nvidia-cuda-cccl"),
            ("libclang", "libclang"),
        ):
            version = distributions.version_of(package)
            if version is not None:
                found.append(f"{name} {version}")
        found += [os.path.basename(program) for program in (clang_llvm.find(), nvcc.find()) if program is not None]
        if not any(part.startswith("headers") for part in found) and self.folders:
            found.append(f"headers of {self.folders[0]}")
        return found

    def warm(self) -> None:
        """The first compile of a process reads the library's built-in headers."""
        self.compile(_SAMPLE, ["-arch=sm_90"], ["sample<float>"], ("ptx", "cubin"))

    def compile(
        self, source: str, options: Sequence[str], names: Sequence[str] = (), wanted: Sequence[str] = ()
    ) -> Result:
        program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []))
        try:
            for name in names:
                _checked(nvrtc.nvrtcAddNameExpression(program, name.encode()))
            encoded = [option.encode() for option in options]
            (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
            log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            ok = status == nvrtc.nvrtcResult.NVRTC_SUCCESS
            blobs: dict[str, bytes] = {}
            symbols: dict[str, str] = {}
            if ok and "--fdevice-syntax-only" not in options:
                for name, (size, get) in _OUTPUTS.items():
                    if name in wanted:
                        blobs[name] = _bytes(size, get, program)
                for name in names:
                    symbols[name] = _checked(nvrtc.nvrtcGetLoweredName(program, name.encode())).decode()
            return Result(ok, log, blobs, symbols, status.name)
        finally:
            nvrtc.nvrtcDestroyProgram(program)


_OUTPUTS = {
    "ptx": (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX),
    "cubin": (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN),
}


def _checked(result: tuple[Any, ...]) -> Any:
    if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(result[0].name)
    return result[1] if len(result) == 2 else result[1:]


def _bytes(size: Any, get: Any, program: Any) -> bytes:
    """NVRTC writes into the object that it is given: of one byte, Python has but one object for everybody."""
    length = _checked(size(program))
    data = bytes(max(length, 2))
    _checked(get(program, data))
    return data[:length]


def _text(size: Any, get: Any, program: Any) -> str:
    return _bytes(size, get, program).decode("utf-8", "replace").rstrip("\0")


def _include_folders() -> Iterator[str]:
    """The toolkit's headers: of the packages, else of an installed toolkit; one of them, or versions would mix."""
    for entry in sys.path:
        base = os.path.join(entry, "nvidia")
        for series in sorted(os.listdir(base), reverse=True) if os.path.isdir(base) else ():
            folder = os.path.join(base, series, "include")
            if os.path.isfile(os.path.join(folder, "cuda_fp16.h")):
                yield folder
                if os.path.isdir(os.path.join(folder, "cccl")):
                    yield os.path.join(folder, "cccl")
                return
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        folder = os.path.join(home, "include") if home else ""
        if folder and os.path.isfile(os.path.join(folder, "cuda_fp16.h")):
            yield folder
            if os.path.isdir(os.path.join(folder, "cccl")):
                yield os.path.join(folder, "cccl")
            return
