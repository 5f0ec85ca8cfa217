"""Headers that are not the workspace's: which of them the device reads, and what tells that a kernel needs one."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from . import cub

#: First folders of the toolkit's libraries, each with the words without which none of its names can be said.
_LIBRARIES: dict[str, frozenset[str]] = {
    "cub": frozenset({"cub"}),
    "cuda": frozenset({"cuda"}),
    "thrust": frozenset({"thrust"}),
    "cooperative_groups": frozenset({"cooperative_groups"}),
    "nv": frozenset(),
    "crt": frozenset(),
}
#: That the toolkit's headers open, or the text before all others.
NAMESPACES = frozenset({"std", "cuda", "nvcuda", "cooperative_groups", "cub", "thrust", "cute"})
#: Of the toolkit, and read by the device: matched from the start of the name.
_TOOLKIT = (
    "cooperative_groups", "cuComplex", "cuda_awbarrier", "cuda_bf16", "cuda_fp", "cuda_pipeline", "cuda_tf32",
    "curand_", "math_constants", "mma.h", "sm_", "vector_", "device_", "texture_", "surface_", "channel_descriptor",
    "builtin_types", "host_defines", "library_types",
)  # fmt: skip
#: Of the toolkit, for host code only, or built into NVRTC.
_HOST_TOOLKIT = (
    "cublas", "cudnn", "cufft", "cusolver", "cusparse", "cudaGL", "cuda_gl_interop", "cuda_runtime", "cuda.h",
    "driver_", "cuda_profiler_api", "nvrtc", "nvml", "npp", "cudaProfiler", "curand.h", "cuda_vdpau", "cuda_egl",
    "cudaEGL", "cuda_occupancy", "cuda_device_runtime_api", "nvJitLink", "nvvm", "cudla", "cufile", "nvjpeg",
    "device_launch_parameters", "vector_types", "vector_functions", "nvtx3/", "nvToolsExt",
)  # fmt: skip
#: Of the host, and including what the device reads too: those headers, each with a part of the names that it gives.
_CARRIERS = ("cublas", "cusolver")
_CARRIED = {"cuda_fp16.h": "half", "cuda_bf16.h": "bfloat16", "cuComplex.h": "Complex"}
#: Standard headers that device code has some use for, and what stands in for them.
STANDARD: dict[str, str] = {
    "cstdint": "cuda/std/cstdint",
    "stdint.h": "cuda/std/cstdint",
    "cstddef": "cuda/std/cstddef",
    "stddef.h": "cuda/std/cstddef",
    "climits": "cuda/std/climits",
    "limits.h": "cuda/std/climits",
    "cfloat": "cuda/std/cfloat",
    "float.h": "cuda/std/cfloat",
    "limits": "cuda/std/limits",
    "type_traits": "cuda/std/type_traits",
    "utility": "cuda/std/utility",
    "tuple": "cuda/std/tuple",
    "array": "cuda/std/array",
    "functional": "cuda/std/functional",
    "algorithm": "cuda/std/algorithm",
    "numeric": "cuda/std/numeric",
    "complex": "cuda/std/complex",
    "cmath": "cuda/std/cmath",
    "atomic": "cuda/std/atomic",
    "bit": "cuda/std/bit",
    "concepts": "cuda/std/concepts",
    "optional": "cuda/std/optional",
    "variant": "cuda/std/variant",
    "span": "cuda/std/span",
    "initializer_list": "cuda/std/initializer_list",
    "iterator": "cuda/std/iterator",
    "ratio": "cuda/std/ratio",
    "cassert": "cuda/std/cassert",
}
#: Words that the C headers give without `std::`; any of them, or `std`, calls for the header.
_PLAIN: dict[str, frozenset[str]] = {
    "cuda/std/cstdint": frozenset(
        f"{sign}{word}"
        for sign in ("", "u", "U")
        for word in (
            *(f"int{kind}{width}_t" for kind in ("", "_least", "_fast") for width in (8, 16, 32, 64)),
            *(f"INT{width}_{end}" for width in (8, 16, 32, 64) for end in ("MAX", "MIN")),
            *("intptr_t", "intmax_t"),
        )
    ),
    "cuda/std/cstddef": frozenset({"ptrdiff_t", "max_align_t"}),
    "cuda/std/climits": frozenset(
        {"CHAR_BIT"}
        | {
            f"{sign}{kind}_{end}"
            for sign in ("", "U", "S")
            for kind in ("CHAR", "SHRT", "INT", "LONG", "LLONG")
            for end in ("MAX", "MIN")
        }
    ),
    "cuda/std/cfloat": frozenset(
        f"{kind}_{word}"
        for kind in ("FLT", "DBL", "LDBL")
        for word in ("MAX", "MIN", "EPSILON", "DIG", "MANT_DIG", "TRUE_MIN")
    ),
}


def is_toolkit(name: str) -> bool:
    """True for what comes with the CUDA toolkit or with the language: no file of the workspace takes its place."""
    return (
        (name.partition("/")[0] in _LIBRARIES and "/" in name)
        or name.startswith((*_TOOLKIT, *_HOST_TOOLKIT))
        or name in STANDARD
        or name in _HOST_STANDARD
    )


_HOST_STANDARD_TEXT = """
assert.h cctype cerrno chrono condition_variable cstdarg cstdio cstdlib cstring ctime ctype.h deque errno.h
exception fcntl.h filesystem fstream future iomanip ios iosfwd iostream istream list map math.h memory
memory.h mutex new ostream queue random regex set signal.h sstream stack stdarg.h stdbool.h stdexcept stdio.h
stdlib.h streambuf string string.h string_view strings.h sys/stat.h sys/time.h sys/types.h thread time.h
typeinfo unistd.h unordered_map unordered_set valarray vector windows.h inttypes.h cinttypes
"""
_HOST_STANDARD = frozenset(_HOST_STANDARD_TEXT.split())


#: What `using namespace std;` lets device code say without `std::`, and the language does not have itself.
_OPENED_TEXT = """
accumulate advance array atomic bit_and bit_cast bit_or bit_xor clamp complex conditional conditional_t countl_zero
countr_zero decay decay_t declval distance enable_if enable_if_t equal_to exchange false_type fill forward function
get greater greater_equal hash index_sequence initializer_list integer_sequence integral_constant invoke iota
is_arithmetic is_base_of is_const is_convertible is_enum is_floating_point is_integral is_pointer is_same is_same_v
is_signed is_unsigned less less_equal lower_bound make_index_sequence make_pair make_signed make_tuple make_unsigned
minus modulus move multiplies next not_equal_to nullopt numeric_limits optional pair plus popcount prev ratio
remove_const remove_cv remove_cvref remove_pointer remove_reference result_of span swap tie true_type tuple
tuple_element tuple_size upper_bound variant visit void_t
"""
_OPENED = frozenset(_OPENED_TEXT.split())


def wanted_of_open(name: str, words: AbstractSet[str]) -> str | None:
    """The same where `std` is named but to open it. The functions of `<cmath>` are there without: those of libcu++
    beside them would make their calls ambiguous.
    """
    return wanted(name, words | {"std"} if name != "cmath" and not _OPENED.isdisjoint(words) else words)


def wanted(name: str, words: AbstractSet[str]) -> str | None:
    """What to include for a header of the toolkit or the language, where device code of these words needs it."""
    standin = STANDARD.get(name)
    if standin is not None:
        if not {"std"} & words and not _PLAIN.get(standin, frozenset()) & words:
            return None
        return standin
    if name.startswith(_CARRIERS):
        return name if _carried(words) else None
    if name in _HOST_STANDARD or (name.startswith(_HOST_TOOLKIT) and not name.startswith(_TOOLKIT)):
        return None
    if name.startswith("curand"):
        return name if any(word.startswith("curand") for word in words) else None
    folder = name.partition("/")[0].removesuffix(".h")
    if folder in _LIBRARIES:
        said = _LIBRARIES[folder]
        return name if said & words or not said else None
    return name if name.startswith(_TOOLKIT) else None


def inclusion(name: str, words: AbstractSet[str]) -> str:
    """The lines that include what `wanted` gave for words: where it stands in for a standard header, with its names in
    `std`.
    """
    if name.startswith(_CARRIERS):
        return "\n".join(f"#include <{header}>" for header in _carried(words))
    if cub.is_mixed(name):
        return "\n".join(f"#include <{header}>" for header in cub.headers_for(words))
    if not name.startswith("cuda/std/"):
        return f"#include <{name}>"
    # Some are nothing but macros, and open no namespace.
    return f"#include <{name}>\nnamespace cuda {{ namespace std {{}} }}\nnamespace std {{ using namespace cuda::std; }}"


def _carried(words: AbstractSet[str]) -> list[str]:
    return [header for header, part in _CARRIED.items() if any(part in word for word in words)]
