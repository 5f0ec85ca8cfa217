"""IR as others read it, too: what numba-cuda-mlir writes of its debug information only its own tools take."""

from __future__ import annotations

import re

from . import lines

_KINDLESS = re.compile(r"emissionKind: (?=[,)])")
_DEFINITION = re.compile(r"^#(loc\d*) = loc\((.*)\)$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^#di_\w+ = .*\n", re.MULTILINE)
_FUSED = re.compile(r"loc\(fused<#di_\w+>\[(#loc\d*|\"[^\"]*\":\d+:\d+)\]\)")
_ARGUMENT = re.compile(r" loc\([^()]*\)(?=[,)])")
_ALIAS = re.compile(r"#loc\d*")
_DEEPEST = 8


def llvm(text: str) -> str:
    return _KINDLESS.sub("emissionKind: DebugDirectivesOnly", text)


def mlir(text: str) -> str:
    """Each location a plain one: the function around it is known by the file's name."""
    text = _FUSED.sub(r"loc(\1)", _ATTRIBUTE.sub("", text))
    known = dict(_DEFINITION.findall(text))

    def resolved(match: re.Match[str]) -> str:
        value = match[2]
        for _ in range(_DEEPEST):
            if not _ALIAS.fullmatch(value):
                break
            value = known.get(value[1:], "unknown")
        return f"#{match[1]} = loc({value})"

    text = text.replace(f"{lines.FOLDER}/{lines.FILE}", lines.FILE)
    return _ARGUMENT.sub("", _DEFINITION.sub(resolved, text))
