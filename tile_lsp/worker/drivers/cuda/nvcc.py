"""Where NVRTC refuses what nvcc takes: kernels that launch kernels, device code that uses the host's standard library.

nvcc is given the same members with the headers that its users have, and takes a second where NVRTC takes a tenth.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .unit import Unit

#: What NVRTC says of names that only nvcc's headers, or its runtime for the device, have.
_REFUSED = re.compile(
    r'identifier "(?:cuda[A-Z]\w*|std)" is undefined|namespace "(?:::)?std" has no member|'
    r"device-side kernel launch|cannot open source file|could not open source file|device runtime|cudadevrt|"
    # Of a header of the toolkit, which is for nvcc then: its place is part of the message.
    r"^\w[\w.]*:\d+: .*(?:A function (?:without execution space|explicitly marked as a __host__)|\"std\" has no)|"
    r'identifier "(?:memset|memcpy|malloc|free|fprintf|stderr|exit|abort|rand|qsort)" is undefined'
)
#: `({ int a = f(); a; })`, which is GNU's, and nvcc's where the host's compiler is GNU's.
_STATEMENTS = re.compile(r"\(\s*\{")
_HEADERS = (
    *("cuda_runtime.h", "cstdio", "cstdlib", "cstdint", "cstring", "cmath", "cfloat", "climits", "limits"),
    *("algorithm", "array", "functional", "numeric", "tuple", "type_traits", "utility"),
)
_FILE = re.compile(r'^(\s*\.file\s+\d+ )"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_FLAGS = {"fmad": "-fmad", "ftz": "-ftz", "prec_div": "-prec-div", "prec_sqrt": "-prec-sqrt"}
_TIMEOUT = 100.0


class Made(NamedTuple):
    ok: bool
    log: str
    blobs: dict[str, bytes]


def find() -> str | None:
    """That of the packages, else PATH's; it is of no use without a compiler for the host."""
    if shutil.which("g++") is None and shutil.which("gcc") is None:
        return None
    for entry in sys.path:
        base = os.path.join(entry, "nvidia")
        for series in sorted(os.listdir(base), reverse=True) if os.path.isdir(base) else ():
            path = os.path.join(base, series, "bin", "nvcc")
            if os.access(path, os.X_OK) and os.path.isdir(os.path.join(base, series, "include", "crt")):
                return path
    return shutil.which("nvcc")


def may_do(messages: Sequence[str], text: str = "") -> bool:
    """True if some error in the text is one of those that nvcc has not."""
    if "expected an expression" in messages and _STATEMENTS.search(text) is not None:
        return True
    return any(_REFUSED.search(message) for message in messages)


def compile_unit(nvcc: str, made: Unit, hints: Mapping[str, Any], target: str) -> Made:
    """`ptx` and `cubin`, relocatable: what device code calls of the runtime is linked later."""
    text = "".join(f"#include <{header}>\n" for header in _HEADERS) + made.members_text
    if made.is_template:
        text += (
            f'\n#line 1 ""\n__attribute__((used)) static const void *tile_lsp_kernel = (const void *)&{made.name};\n'
        )
    with tempfile.TemporaryDirectory(prefix="tile-lsp-") as folder:
        source, cubin = os.path.join(folder, "kernel.cu"), os.path.join(folder, "kernel.cubin")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        command = [nvcc, "-cubin", "-rdc=true", "-lineinfo", f"-arch={target}", "--keep", "--keep-dir", folder]
        command += ["--expt-relaxed-constexpr", "-Xptxas=-v", "-o", cubin, *(f"-I{path}" for path in made.folders)]
        command += _options(hints)
        env = {name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")}
        try:
            ran = subprocess.run(
                [*command, source], cwd=folder, env=env, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Made(False, f"nvcc: {error}", {})
        log = f"{ran.stdout}{ran.stderr}".replace(f"{folder}{os.sep}", "")
        if ran.returncode:
            return Made(False, log, {})
        blobs = {"log": log.encode()}
        with open(cubin, "rb") as binary:
            blobs["cubin"] = binary.read()
        listed = next((name for name in os.listdir(folder) if name.endswith(".ptx")), None)
        if listed is not None:
            with open(os.path.join(folder, listed), encoding="utf-8", errors="replace") as ptx:
                blobs["ptx"] = _named(ptx.read(), folder, made.members).encode()
        return Made("ptx" in blobs, log, blobs)


def _options(hints: Mapping[str, Any]) -> list[str]:
    found = [f"-std={hints['std']}"] if hints.get("std") else []
    found += ["--use_fast_math"] if hints.get("fastmath") else []
    found += [f"{option}={'true' if hints[name] else 'false'}" for name, option in _FLAGS.items() if name in hints]
    found += [f"-maxrregcount={hints['maxrregcount']}"] if hints.get("maxrregcount") else []
    found += ["--restrict"] if hints.get("restrict") else []
    return [*found, *([f"-Xptxas=-O{hints['opt']}"] if "opt" in hints else [])]


def _named(ptx: str, folder: str, members: Mapping[str, str]) -> str:
    """Files by the names of the members; nvcc puts the folder that it works in before them."""

    def own(match: re.Match[str]) -> str:
        name = match[2].removeprefix(f"{folder}/").removeprefix(f"{os.path.realpath(folder)}/")
        return f'{match[1]}"{name}"' if name in members else match[0]

    return _FILE.sub(own, ptx)
