"""What NVRTC is given for a kernel: the members in a row, each under a name of its own from line 1, and options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: `using namespace std;` is an error where no header has opened it.
_PRELUDE = "namespace std {}\n"
#: What nvcc's own first header brings along from the C library, and NVRTC does not know.
_C_LIBRARY = {
    "INFINITY": "__int_as_float(0x7f800000)",
    "NAN": "__int_as_float(0x7fffffff)",
    "HUGE_VAL": "__longlong_as_double(0x7ff0000000000000LL)",
    "HUGE_VALF": "__int_as_float(0x7f800000)",
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1L)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807LL - 1LL)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
    "EXIT_SUCCESS": "0",
    "EXIT_FAILURE": "1",
    "RAND_MAX": "2147483647",
}
_TYPES = {
    "uint": "unsigned int",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
    # Of the driver's header, which is the host's but for these.
    "CUdeviceptr": "unsigned long long",
    "CUtexObject": "unsigned long long",
    "CUsurfObject": "unsigned long long",
    "CUtensorMap": "struct CUtensorMap_st { alignas(64) unsigned long long opaque[16]; }",
}
#: Of `<cstdint>`, which nvcc's first header includes.
_INTEGERS = re.compile(r"u?int(?:_least|_fast)?(?:8|16|32|64)_t|u?int(?:ptr|max)_t")
#: What front ends write for the type of a lambda or a functor that nothing names: enough to type what is around it.
UNKNOWN = "unknown_callable"
_UNKNOWN = (
    f"struct {UNKNOWN} {{ struct result {{ template <typename T> __device__ operator T() const; }}; "
    "template <typename... A> __device__ result operator()(A &&...) const; };\n"
)
_WORD = re.compile(r"[^\W\d]\w*")
#: For a kernel whose meaning is the same for every architecture.
ANY_TARGET = "sm_90"
#: How far libcu++ writes out its own lists of types, which comes to the same code. For nvcc it says 10, for NVRTC 16,
#: and reading its `<type_traits>`, which all of CUB, Thrust and cooperative groups include, takes seven times as long.
_AS_NVCC = ("-D_CCCL_META_UNROLL_LIMIT=10",)
_FLAGS = {
    "fmad": "--fmad",
    "ftz": "--ftz",
    "prec_div": "--prec-div",
    "prec_sqrt": "--prec-sqrt",
}


class Unit(NamedTuple):
    source: str
    members_text: str
    """The members alone."""
    members: Mapping[str, str]
    """Id → text."""
    name: str
    """The kernel, as a name expression: `ops::scale<float, 128>`."""
    is_template: bool
    folders: tuple[str, ...]
    """Where headers are looked for, outside the workspace."""


def compose(closure: Mapping[str, Any], arguments: Sequence[Sequence[str]]) -> Unit:
    members = {member["id"]: member["text"] for module in closure["modules"] for member in module["members"]}
    text_of_members = "".join(f'#line 1 "{name}"\n{text}\n' for name, text in members.items())
    values = [value for _, value in arguments]
    source = _prelude(text_of_members, set(_WORD.findall(" ".join(values)))) + text_of_members
    source += _UNKNOWN if UNKNOWN in values else ""
    expression = closure["entry"]["expression"]
    space = expression.partition("<")[0].rpartition("::")[0]
    if space and values:
        # The arguments of a template may be named as they are where it stands.
        source += f"using namespace {space};\n"
    name = f"{expression}<{', '.join(values)}>" if values else expression
    return Unit(source, text_of_members, members, name, "<" in name, tuple(closure.get("roots") or ()))


def _prelude(text: str, more: set[str]) -> str:
    """What stands before the first member, of it what the members, and `more` words, have a use for."""
    words = set(_WORD.findall(text)) | more
    lines = [
        f"#define {name} {value}\n" for name, value in _C_LIBRARY.items() if name in words and not _given(text, name)
    ]
    # A typedef may be said twice; a class of the name, or a template's parameter, may not.
    for name, type_ in _TYPES.items():
        if name in words and not _declares(text, name):
            lines.append(f"typedef {type_} {name};\n")
    if any(_INTEGERS.fullmatch(word) and not _declares(text, word) for word in words):
        lines.append("#include <cuda/std/cstdint>\nnamespace cuda { namespace std {} }\n")
        lines.append("namespace std { using namespace cuda::std; }\n" if "std" in words else "")
    return _PRELUDE + "".join(lines)


def _declares(text: str, name: str) -> bool:
    """True if it is the name of a class, an alias or a macro, or a template's parameter."""
    return re.search(rf"\b(?:struct|class|union|enum|typename|define|using)\s+{name}\b", text) is not None


def _given(text: str, name: str) -> bool:
    """True if a header that the text includes defines a macro of limits."""
    return "#include <cuda/std/climits>" in text and name.endswith(("_MAX", "_MIN", "_BIT"))


def options(
    unit: Unit, folders: Sequence[str], hints: Mapping[str, Any], target: str | None, *, syntax_only: bool = False
) -> list[str]:
    """NVRTC's command line. Columns are lines (see `analysis.cuda.positions`), so line information holds both."""
    found = [f"-arch={target or ANY_TARGET}", *_AS_NVCC]
    found += [f"-I{folder}" for folder in (*unit.folders, *folders)]
    if hints.get("std"):
        found.append(f"-std={hints['std']}")
    if hints.get("fastmath"):
        found.append("--use_fast_math")
    found += str(hints["options"]).split(",") if hints.get("options") else []
    if syntax_only:
        return [*found, "--fdevice-syntax-only"]
    found.append("-lineinfo")
    for name, option in _FLAGS.items():
        if name in hints:
            found.append(f"{option}={'true' if hints[name] else 'false'}")
    if hints.get("restrict"):
        found.append("--restrict")
    if hints.get("maxrregcount"):
        found.append(f"--maxrregcount={hints['maxrregcount']}")
    if "opt" in hints:
        found.append(f"--ptxas-options=-O{hints['opt']}")
    return [*found, "--optimization-info=inline", "--ptxas-options=-v", "--ptxas-options=--warn-on-spills"]


def condition_of(unit: Unit) -> str | None:
    """The innermost directive that the kernel stands in the branch of."""
    simple = unit.name.partition("<")[0].rpartition("::")[2]
    around: list[str] = []
    found: str | None = None
    for text in unit.members.values():
        if text.startswith("#if"):
            around.append(text)
        elif text.startswith(("#el", "#endif")) and around:
            around[-1:] = [text] if text.startswith("#el") else []
        elif "\n{" in text and {simple, "__global__"} <= set(text.split("\n")):
            found = around[-1] if around else None
    return found


_GROUPS = "#include <cooperative_groups"


def shortcuts(unit: Unit) -> list[str]:
    """More options, with which a text that is sound is found to be so sooner; if it is not, they may be why.

    Cooperative groups can do without libcu++, which is nineteen parts in twenty of what they take to read. A macro that
    stands before them could break what is left out.
    """
    before, found, _ = unit.members_text.partition(_GROUPS)
    return ["-D_CG_LIMIT_INCLUDED_DEPENDENCIES"] if found and "#define" not in before else []
