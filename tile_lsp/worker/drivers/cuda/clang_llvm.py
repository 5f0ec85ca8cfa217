"""What clang, the program, is given to make LLVM IR of a kernel: NVRTC shows none of its own.

It reads what `clang_unit` has libclang read: the same headers, the same declarations. What is there only so that types
are told apart is taken back: shared memory is an address space again, and threads know their numbers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence

from . import clang_unit
from .unit import Unit

_OLDEST, _NEWEST = 17, 40
_REAL = """\
#undef __shared__
#define __shared__ __attribute__((shared))
#define TL_SREG(name, reg, type) \\
  static inline __device__ __attribute__((always_inline)) type tile_lsp_##name() { \\
    return type{(unsigned)__nvvm_read_ptx_sreg_##reg##_x(), (unsigned)__nvvm_read_ptx_sreg_##reg##_y(), \\
                (unsigned)__nvvm_read_ptx_sreg_##reg##_z()}; \\
  }
TL_SREG(thread, tid, uint3)
TL_SREG(block, ctaid, uint3)
TL_SREG(threads, ntid, dim3)
TL_SREG(blocks, nctaid, dim3)
#define threadIdx (tile_lsp_thread())
#define blockIdx (tile_lsp_block())
#define blockDim (tile_lsp_threads())
#define gridDim (tile_lsp_blocks())
#define warpSize 32
"""
#: The newest architecture of each clang; IR of an older one is IR all the same.
_ARCHITECTURES = (
    (20, ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a")),
    (18, ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a")),
    (0, ("sm_75", "sm_80", "sm_86", "sm_90")),
)


def find() -> str | None:
    """The newest clang on PATH, by the number in its name; else plain `clang`."""
    numbered = (shutil.which(f"clang-{number}") for number in range(_NEWEST, _OLDEST - 1, -1))
    return next((path for path in numbered if path), None) or shutil.which("clang")


def blobs(made: Unit, options: Sequence[str], version: tuple[int, int], clang: str) -> dict[str, bytes]:
    """The text, the files that exist for clang alone, and its command line, less the names of files."""
    known = clang_unit.options_of(options, version)
    probe = f'\n#line 1 ""\n__device__ const void *tile_lsp_kernel = (const void *)&{made.name};\n'
    text = clang_unit.builtins().decode() + _REAL + known.preamble + made.source + (probe if made.is_template else "")
    root = clang_unit._ROOT
    files = {path: content for path, content in clang_unit._files().items() if path.startswith(f"{root}/")}
    empty = [path for path, content in files.items() if not content]
    overlay = {
        "version": 0,
        "case-sensitive": "true",
        "roots": [{"type": "file", "name": path, "external-contents": os.devnull} for path in sorted(empty)],
    }
    arguments = [option for option in clang_unit._FIXED if not option.startswith("--cuda-gpu-arch")]
    arguments += [f"--cuda-gpu-arch={_architecture(options, clang)}", f"-std=c++{known.standard}", f"-I{root}"]
    arguments += [f"-I{folder}" for folder in known.folders]
    arguments += ["-idirafter", os.path.join(clang_unit._OWN, "absent")]
    arguments += ["-S", "-emit-llvm", "-O2", "-gline-tables-only", "-fdebug-compilation-dir=."]
    return {
        "clang-text": text.encode(),
        "clang-files": json.dumps(overlay).encode(),
        "clang-options": "\n".join(json.dumps(argument) for argument in arguments).encode(),
    }


def _architecture(options: Sequence[str], clang: str) -> str:
    """The kernel's, or the newest before it that this clang knows."""
    target = next((option.partition("=")[2] for option in options if option.startswith("-arch=")), "sm_90")
    found = re.search(r"-(\d+)$", clang)
    release = int(found[1]) if found else 0
    known = next(names for oldest, names in _ARCHITECTURES if release >= oldest)
    if target in known:
        return target
    number = int(re.sub(r"\D", "", target))
    return [name for name in known if int(re.sub(r"\D", "", name)) <= number and name[-1].isdigit()][-1]
