"""What NVRTC is given for a kernel: the members in a row, each under a name of its own from line 1, and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: `using namespace std;` is an error where no header has opened it.
_PRELUDE = "namespace std {}\n"
#: For a kernel whose meaning is the same for every architecture.
_ANY_TARGET = "sm_90"
_FLAGS = {
    "fmad": "--fmad",
    "ftz": "--ftz",
    "prec_div": "--prec-div",
    "prec_sqrt": "--prec-sqrt",
}


class Unit(NamedTuple):
    source: str
    members: Mapping[str, str]
    """Id → text."""
    name: str
    """The kernel, as a name expression: `ops::scale<float, 128>`."""
    is_template: bool
    folders: tuple[str, ...]
    """Where headers are looked for, outside the workspace."""


def compose(closure: Mapping[str, Any], arguments: Sequence[Sequence[str]]) -> Unit:
    members = {member["id"]: member["text"] for module in closure["modules"] for member in module["members"]}
    source = _PRELUDE + "".join(f'#line 1 "{name}"\n{text}\n' for name, text in members.items())
    values = [value for _, value in arguments]
    expression = closure["entry"]["expression"]
    name = f"{expression}<{', '.join(values)}>" if values else expression
    return Unit(source, members, name, "<" in name, tuple(closure.get("roots") or ()))


def options(
    unit: Unit, folders: Sequence[str], hints: Mapping[str, Any], target: str | None, *, syntax_only: bool = False
) -> list[str]:
    """NVRTC's command line. Columns are lines (see `analysis.cuda.positions`), so line information holds both."""
    found = [f"-arch={target or _ANY_TARGET}"]
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
