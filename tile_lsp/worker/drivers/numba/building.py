"""From LLVM IR to PTX and a cubin, as the dispatcher would for a device of that kind.

Everything is made twice: plain, which is what runs, and with line tables beside the code. Whether the two have the
same code is for the reader to see.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numba.cuda import codegen, dispatcher
from numba.cuda.cudadrv import driver, nvvm
from numba.cuda.cudadrv.libs import get_cudalib
from numba.cuda.descriptor import cuda_target
from numba.cuda.memory_management.nrt import NRT_LIBRARY

from . import lines

_SHARED = re.compile(r"too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)")

_EXTERN = re.compile(r"(?:Unresolved extern function|Undefined reference to) '([^']+)'")

Capability = tuple[int, int, str]


class Refused(Exception):
    """What a tool says no to."""

    def __init__(self, message: str, code: str, place: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.place = place


def capability(target: str) -> Capability:
    """`"sm_90"` → `(9, 0, "a")`: numba-cuda takes what is the architecture's own from 9.0 on."""
    number = int(target.removeprefix("sm_"))
    major, minor = divmod(number, 10)
    return major, minor, "a" if (major, minor) >= (9, 0) else ""


def build(library: Any, options: dict[str, Any], cc: Capability) -> dict[str, bytes]:
    """`cubin`, `lined`, and `ptx` where `lined` does not hold it. Raises `Refused`."""
    texts = library.llvm_strs
    plain = _Build(library, [lines.without(text) for text in texts], options, cc, lined=bool(options.get("lineinfo")))
    lined = _Build(library, texts, options, cc, lined=True)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(plain.cubin), pool.submit(lined.cubin)]
        cubin = running[0].result()
        try:
            with_lines = running[1].result()
            # After link-time optimisation the cubin itself holds the PTX that it was assembled from, if that was all.
            ptx = b"" if options.get("lto") and not lined.linked else lined.ptx()
        except Refused:
            # What is linked besides may not go together with line information: then there is none.
            with_lines, ptx = b"", plain.ptx()
    return {
        "ptx": lines.portable(ptx.decode("utf-8", "replace").rstrip("\0")).encode(),
        "cubin": cubin,
        "lined": with_lines,
    }


class _Build:
    def __init__(self, library: Any, texts: list[str], options: dict[str, Any], cc: Capability, *, lined: bool) -> None:
        self._library = library
        self._texts = texts
        self._cc = cc
        self._lined = lined
        self._lto = bool(options.get("lto"))
        self._options = options
        self._nvvm: dict[str, Any] = {
            "fastmath": options.get("fastmath") or False,
            "opt": 3 if options.get("opt") else 0,
        }
        if options.get("debug"):
            self._nvvm["g"] = None
        self._code: bytes | None = None
        self.linked = self._files()

    def cubin(self) -> bytes:
        linker = self._linker()
        for file in self.linked:
            linker.add_file_guess_ext(file, False)
        try:
            return bytes(linker.complete().code)
        except Exception as error:
            raise Refused(_words(error), "link") from error

    def ptx(self) -> bytes:
        """What is assembled: after link-time optimisation, where there is such."""
        if not self._lto:
            return self._asm()
        linker = self._linker()
        for file in self.linked:
            linker.add_file_guess_ext(file, True)
        try:
            return bytes(linker.get_linked_ptx())
        except Exception as error:
            raise Refused(_words(error), "link") from error

    def _linker(self) -> Any:
        linker = driver._Linker(
            max_registers=self._options.get("max_registers"), lineinfo=self._lined, cc=_short(self._cc), lto=self._lto
        )
        if self._lto:
            linker.add_ltoir(self._compiled())
        else:
            linker.add_ptx(self._asm())
        return linker

    def _asm(self) -> bytes:
        return self._compiled().decode().strip("\0").strip().encode()

    def _compiled(self) -> bytes:
        if self._code is None:
            self._code = nvvm_compile(self._texts, self._nvvm, self._cc, lto=self._lto)
        return self._code

    def _files(self) -> list[Any]:
        """What the dispatcher links besides."""
        library = self._library
        found = [*library._linking_files, *(self._options.get("link") or ())]
        text = "\n".join(self._texts)
        if any(name in text for name in dispatcher.reshape_funcs):
            found.append(os.path.join(os.path.dirname(dispatcher.__file__), "reshape_funcs.cu"))
        if cuda_target.target_context.enable_nrt and re.search("|".join(dispatcher._Kernel.NRT_functions), text):
            found.append(NRT_LIBRARY)
        if library.use_cooperative or library.needs_cudadevrt:
            found.append(get_cudalib("cudadevrt", static=True))
        return found


def nvvm_compile(texts: list[str], options: dict[str, Any], cc: Capability, *, lto: bool) -> bytes:
    given = {**options, "arch": codegen.nvrtc.get_arch_option(*_short(cc))}
    if lto:
        given["gen-lto"] = None
    try:
        return nvvm.compile_ir(list(texts), **given)
    except Exception as error:
        raise Refused(_words(error), "nvvm") from error


def _short(cc: Capability) -> tuple[Any, ...]:
    return cc if cc[2] else cc[:2]


def _words(error: BaseException) -> str:
    """What the assembler says, in its own words less what surrounds them."""
    text = str(error).strip()
    if (match := _SHARED.search(text)) is not None:
        used, most = int(match[1], 16), int(match[2], 16)
        return f"{used} bytes of shared memory, and a block has {most} at most"
    if (missing := _EXTERN.search(text)) is not None:
        return f"no code of the name {missing[1]} is linked: declare_device takes link=…, CUDA C++, PTX or objects"
    wanted = [line for line in text.split("\n") if "error" in line.lower()]
    return "\n".join(wanted or text.split("\n")[:3])
