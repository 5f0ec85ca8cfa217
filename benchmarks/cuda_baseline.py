"""NVRTC, nvdisasm and nvcc called by hand on CUDA C++: NVRTC warm in this process, the others as the programs they are.

Reads one JSON request a line, answers with the seconds that the work took. Collects garbage between requests, not in
them.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cuda.bindings import nvrtc

_ARCHITECTURE = "sm_90"


def compile_text(text: str, *options: str) -> bytes:
    """The cubin, empty where none was asked for."""
    program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])[1]
    words = [f"-arch={_ARCHITECTURE}".encode(), *(option.encode() for option in options)]
    status = nvrtc.nvrtcCompileProgram(program, len(words), words)[0]
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    data = b" " * nvrtc.nvrtcGetCUBINSize(program)[1] if "--fdevice-syntax-only" not in options else b""
    if data:
        nvrtc.nvrtcGetCUBIN(program, data)
    nvrtc.nvrtcDestroyProgram(program)
    return data


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="tile-lsp-bench-"))
    cubin, source = folder / "kernel.cubin", folder / "kernel.cu"
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        match request["op"]:
            case "check":
                compile_text(request["text"], "--fdevice-syntax-only")
            case "compile":
                cubin.write_bytes(compile_text(request["text"], "-lineinfo"))
            case "disassemble":
                subprocess.run([request["nvdisasm"], "-g", str(cubin)], capture_output=True, check=True)
            case "nvcc":
                source.write_text(request["text"], encoding="utf-8")
                words = ["-cubin", "-lineinfo", f"-arch={_ARCHITECTURE}", "-o", str(cubin), str(source)]
                subprocess.run([request["nvcc"], *words], capture_output=True, check=True)
        seconds = time.perf_counter() - start
        gc.enable()
        print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
