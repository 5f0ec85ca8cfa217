"""How clang is asked to read what NVRTC compiles: its options, what stands for headers, and a translation unit's life.

The text is given as NVRTC gets it. Clang then takes the branches of headers that are meant for NVRTC, and what NVRTC
knows without a header is declared in `clang_include/builtins.h`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .clang_library import FOR_REUSE, Library, library

_ROOT = "/tile-lsp"
"""A folder that exists for clang alone, in memory."""
UNIT = f"{_ROOT}/unit.cu"
_BUILTINS = f"{_ROOT}/builtins.cu"
_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clang_include")

#: What these declare is in `builtins.h`, or is of no use to device code.
_EMPTY = (
    *("assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "malloc.h", "math.h", "memory.h"),
    *("stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "time.h"),
    *("cassert", "cctype", "cerrno", "cfloat", "cinttypes", "climits", "cmath", "cstdarg", "cstddef", "cstdint"),
    *("cstdio", "cstdlib", "cstring", "ctime", "new"),
    *("builtin_types.h", "channel_descriptor.h", "common_functions.h", "cuda_runtime.h", "cuda_runtime_api.h"),
    *("cuda_device_runtime_api.h", "device_atomic_functions.h", "device_double_functions.h", "device_functions.h"),
    *("device_launch_parameters.h", "device_types.h", "driver_types.h", "host_config.h", "host_defines.h"),
    *("math_functions.h", "sm_20_atomic_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h"),
    *("sm_32_intrinsics.h", "sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h"),
    *("surface_functions.h", "surface_types.h", "texture_fetch_functions.h", "texture_types.h", "vector_functions.h"),
    *("vector_functions.hpp", "vector_types.h", "crt/host_defines.h", "crt/device_functions.h"),
    *("crt/math_functions.h", "cuda_profiler_api.h", "helper_cuda.h", "helper_functions.h", "helper_string.h"),
    *("helper_timer.h", "helper_image.h"),
)  # fmt: skip

_FIXED = (
    *("-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_90", "-nostdinc"),
    *("-w", "-ferror-limit=0", "-fno-spell-checking", "-ftemplate-backtrace-limit=1"),
    *("-Xclang", "-fcuda-allow-variadic-functions"),
    # NVRTC says that it is none of these, and headers ask.
    *("-U__clang__", "-U__GNUC__", "-U__GNUG__", "-U__linux__", "-U__x86_64__", "-U__CUDA__"),
    *(
        "-D__CUDACC__=1",
        "-D__CUDACC_RTC__=1",
        "-D__EDG__=1",
        "-D__NV_BUILTIN_MOVE_FORWARD=1",
        "-D__NV_BUILTIN_INITIALIZER_LIST=1",
    ),
    # Documented: cooperative groups with traits of their own instead of libcu++, whose traits alone take 0.1 s.
    "-D_CG_LIMIT_INCLUDED_DEPENDENCIES",
    "-DCCCL_DISABLE_NVRTC_COMPATIBILITY_CHECK",
)
_STANDARDS = {"03": "03", "11": "11", "14": "14", "17": "17", "20": "20", "23": "23"}
_DEFAULT_STANDARD = "17"
_DEFAULT_ARCH = "75"
_ARCH = re.compile(r"(?:sm|compute|lto)_(\d+)([af]?)")


class Options(NamedTuple):
    """What of NVRTC's options says how text is read."""

    standard: str
    folders: tuple[str, ...]
    preamble: str
    """Lines before the text: macros, and headers to include first."""
    everywhere: bool
    """A function without qualifiers is a device function."""


def options_of(arguments: Sequence[str], version: tuple[int, int]) -> Options:
    """NVRTC's options in any of their spellings; what clang need not know is left out."""
    standard, arch, suffix = _DEFAULT_STANDARD, _DEFAULT_ARCH, ""
    folders: list[str] = []
    macros: list[str] = []
    includes: list[str] = []
    everywhere = False
    for name, value in _pairs(arguments):
        match name:
            case "std":
                standard = _STANDARDS.get(value[-2:], standard)
            case "arch":
                if found := _ARCH.fullmatch(value):
                    arch, suffix = found.groups()
            case "include-path":
                folders.append(value)
            case "define-macro":
                macro, _, meaning = value.partition("=")
                name = macro.partition("(")[0]
                macros += [f"#undef {name}", f"#define {macro} {meaning if '=' in value else '1'}"]
            case "undefine-macro":
                macros.append(f"#undef {value}")
            case "pre-include":
                includes.append(f'#include "{value}"')
            case "default-device":
                everywhere = True
    number = f"{arch}0"
    target = ["#undef __CUDA_ARCH__", f"#define __CUDA_ARCH__ {number}", f"#define __CUDA_ARCH_LIST__ {number}"]
    if suffix:
        target.append(f"#define __CUDA_ARCH_FEAT_SM{arch}_ALL")
        target.append(f"#define __CUDA_ARCH_SPECIFIC__ {number}")
    major, minor = version
    target += [f"#define __CUDACC_VER_MAJOR__ {major}", f"#define __CUDACC_VER_MINOR__ {minor}"]
    target += ["#define __CUDACC_VER_BUILD__ 0", f"#define CUDART_VERSION {major}0{minor}0"]
    target += [f"#define __CUDA_API_VER_MAJOR__ {major}", f"#define __CUDA_API_VER_MINOR__ {minor}"]
    # Headers count on NVRTC to have this one.
    target.append("#include <nv/target>")
    if everywhere:
        includes.append("#pragma clang force_cuda_host_device begin")
    return Options(standard, tuple(folders), "\n".join((*target, *macros, *includes)) + "\n", everywhere)


_SPELLINGS = {
    **dict.fromkeys(("-I", "--include-path", "-include-path", "-isystem"), "include-path"),
    **dict.fromkeys(("-D", "--define-macro", "-define-macro"), "define-macro"),
    **dict.fromkeys(("-U", "--undefine-macro", "-undefine-macro"), "undefine-macro"),
    **dict.fromkeys(("-include", "--pre-include", "-pre-include"), "pre-include"),
    **dict.fromkeys(("-std", "--std"), "std"),
    **dict.fromkeys(("-arch", "--gpu-architecture", "-gpu-architecture"), "arch"),
}
_FLAGS = {
    **dict.fromkeys(("-default-device", "--device-as-default-execution-space"), "default-device"),
}


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each option that is known here, written in one argument or in two."""
    remaining = iter(arguments)
    for argument in remaining:
        if argument in _FLAGS:
            yield _FLAGS[argument], ""
        elif argument in _SPELLINGS:
            yield _SPELLINGS[argument], next(remaining, "")
        elif "=" in argument and argument.partition("=")[0] in _SPELLINGS:
            name, _, value = argument.partition("=")
            yield _SPELLINGS[name], value
        elif argument[:2] in ("-I", "-D", "-U") and len(argument) > 2:
            yield _SPELLINGS[argument[:2]], argument[2:]


@functools.cache
def _files() -> dict[str, bytes]:
    """Everything in clang's own folder, by path."""
    files = {f"{_ROOT}/{name}": b"" for name in _EMPTY}
    for folder, _, names in os.walk(_OWN):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                inside = os.path.relpath(path, _OWN).replace(os.sep, "/")
                files[_BUILTINS if inside == "builtins.h" else f"{_ROOT}/{inside}"] = file.read()
    return files


def builtins() -> bytes:
    """What is declared ahead of any text."""
    return _files()[_BUILTINS]


#: Descriptors of precompiled `builtins.h`, by C++ standard. Children of this process inherit them.
_precompiled: dict[str, int] = {}


def precompile(standard: str = _DEFAULT_STANDARD) -> None:
    """Have the builtins parsed once for this process and its children. The file has no name: it goes with them."""
    if standard in _precompiled or not os.path.isdir("/proc/self/fd"):
        return
    clang = library()
    index = clang.createIndex(1, 0)
    unit = clang.parse(index, _BUILTINS, [*_FIXED, f"-std=c++{standard}"], _files(), FOR_REUSE)
    if unit is not None:
        with tempfile.TemporaryDirectory(prefix="tile-lsp-") as folder:
            path = os.path.join(folder, "builtins.pch")
            if clang.saveTranslationUnit(unit, os.fsencode(path), 0) == 0:
                _precompiled[standard] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        clang.disposeTranslationUnit(unit)
    clang.disposeIndex(index)


class Unit(NamedTuple):
    clang: Library
    handle: Any
    text: bytes
    """The whole main file: preamble, source, and what was appended."""


@contextlib.contextmanager
def parsed(text: bytes, options: Options) -> Iterator[Unit | None]:
    """The translation unit while the context lasts; None where clang gave up on it. `text` has the preamble.

    Raises `Unavailable` where there is no clang.
    """
    clang = library()
    arguments = [*_FIXED, f"-std=c++{options.standard}", f"-I{_ROOT}", *(f"-I{folder}" for folder in options.folders)]
    arguments += ["-idirafter", f"{_ROOT}/absent"]
    prepared = _precompiled.get(options.standard)
    if prepared is not None:
        arguments += ["-Xclang", "-fno-validate-pch", "-include-pch", f"/proc/self/fd/{prepared}"]
    else:
        arguments += ["-include", _BUILTINS]
    index = clang.createIndex(1, 0)
    unit = clang.parse(index, UNIT, arguments, {**_files(), UNIT: text})
    try:
        yield None if unit is None else Unit(clang, unit, text)
    finally:
        if unit is not None:
            clang.disposeTranslationUnit(unit)
        clang.disposeIndex(index)
