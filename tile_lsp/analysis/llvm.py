"""LLVM IR text: without its debug metadata, and the source of each line by it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tile_lsp.model.location import Chain, Place
from tile_lsp.model.outcome import Artifact
from tile_lsp.model.stage import Stage

_DEBUG = re.compile(r",? !dbg !(\d+)")
_METADATA = re.compile(r"!(\d+) = (?:distinct )?(!DI\w+)\((.*)\)\s*")
_FIELD = re.compile(r"(\w+): (!\d+|\d+|\"(?:[^\"\\]|\\.)*\")")
_RECORD = re.compile(r"\s*(?:#dbg_\w+\(|call void @llvm\.dbg\.)")
_DEEPEST = 64


def read(text: str) -> Artifact:
    """Never raises: a location that is not understood is left out."""
    nodes = _nodes(text)
    lines: list[str] = []
    chains: list[Chain] = []
    known: dict[str, Chain] = {}
    for line in text.split("\n"):
        if line.startswith("!") or _RECORD.match(line):
            continue
        match = _DEBUG.search(line)
        number = f"!{match[1]}" if match else ""
        if number and number not in known:
            known[number] = _chain(number, nodes)
        lines.append(_DEBUG.sub("", line) if match else line)
        chains.append(known.get(number, ()))
    while lines and not lines[-1].strip():
        lines.pop()
        chains.pop()
    return Artifact(Stage.LLVM, "\n".join(lines) + "\n", tuple((chain,) if chain else () for chain in chains))


def chains(text: str, numbers: Iterable[str]) -> dict[str, Chain]:
    """Of nodes of the debug information, named as in the text: `!12`. One that is no place has no chain."""
    nodes = _nodes(text)
    return {number: _chain(number, nodes) for number in numbers}


def _nodes(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for line in text.split("\n"):
        if line.startswith("!") and (match := _METADATA.match(line)):
            found[f"!{match[1]}"] = (match[2], dict(_FIELD.findall(match[3])))
    return found


def _chain(number: str, nodes: dict[str, tuple[str, dict[str, str]]]) -> Chain:
    places: list[Place] = []
    for _ in range(_DEEPEST):
        kind, fields = nodes.get(number, ("", {}))
        if kind == "!DISubprogram":
            file, line, column = _file(number, nodes), int(fields.get("line", "0")), -1
        elif kind == "!DILocation":
            file = _file(fields.get("scope", ""), nodes)
            line, column = int(fields.get("line", "0")), int(fields.get("column", "0")) - 1
        else:
            break
        if file and line and not file.startswith("/"):
            places.append(Place(file, line, column))
        if "inlinedAt" not in fields:
            break
        number = fields["inlinedAt"]
    return tuple(places)


def _file(scope: str, nodes: dict[str, tuple[str, dict[str, str]]]) -> str:
    """The file of a scope, as the source named it: folder and name."""
    for _ in range(_DEEPEST):
        kind, fields = nodes.get(scope, ("", {}))
        if kind == "!DIFile":
            folder, name = _string(fields.get("directory", "")), _string(fields.get("filename", ""))
            return f"{folder}/{name}" if folder not in ("", ".") else name
        scope = fields.get("file") or fields.get("scope") or ""
        if not scope:
            break
    return ""


def _string(text: str) -> str:
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.strip('"').encode())
    return raw.decode("utf-8", "replace")
