"""Typed IR as text with the source of each line; the text itself holds no line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import typetext
from .api import ir
from .errors import place_of
from .records import Path

#: What a call's text says twice.
_CALL = re.compile(r"(\bcall \$?[\w.]+\(.*?)(?:, )?func=.*\)$")

Line = tuple[str, list[Any]]


def artifact(found: Iterable[Path], members: Mapping[str, str]) -> dict[str, Any]:
    """As the server's `Artifact`: the kernel first, then each function that it reaches, once."""
    texts: list[str] = []
    lines: list[list[list[Any]]] = []
    seen: set[int] = set()
    for path in found:
        if id(path.state) in seen:
            continue
        if seen:
            texts.append("")
            lines.append([])
        seen.add(id(path.state))
        for text, chain in _function(path, members):
            texts.append(text)
            lines.append([chain] if chain else [])
    return {"stage": "typed", "text": "\n".join(texts) + "\n" if texts else "", "lines": lines}


def _function(path: Path, members: Mapping[str, str]) -> Iterator[Line]:
    state = path.state
    names = state.func_ir.arg_names
    parameters = ", ".join(f"{name}: {ty}" for name, ty in zip(names, state.args, strict=False))
    name = state.func_ir.func_id.func_qualname
    yield f"def {name}({typetext.scrub(parameters)}) -> {state.return_type}:", []
    for offset, block in sorted(state.func_ir.blocks.items()):
        yield f"  label {offset}:", []
        for inst in block.body:
            if isinstance(inst, ir.Del):
                continue
            value = getattr(inst, "value", None)
            location = getattr(value, "loc", None) or inst.loc
            place = place_of(location, members) or place_of(inst.loc, members)
            chain = [place, *path.sites] if place is not None else []
            yield f"    {_text(state, inst)}", chain


def _text(state: Any, inst: Any) -> str:
    text = _CALL.sub(r"\1)", typetext.scrub(" ".join(str(inst).split())))
    if isinstance(inst, ir.Assign):
        ty = state.typemap.get(inst.target.name)
        return f"{text}  :: {typetext.of(ty)}" if ty is not None else text
    signature = state.calltypes.get(inst)
    return f"{text}  :: {typetext.scrub(str(signature))}" if signature is not None else text
