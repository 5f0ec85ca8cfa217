"""Writes schemas/ from the types of the code: the custom requests, and the settings as files and editors spell them."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tile_lsp.model import settings
from tile_lsp.server import requests

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: Settings are read leniently; the types of the code are what they come to.
_ALSO_TEXT = {"Settings": {"memory", "targets"}, "KernelSettings": {"targets"}, "Cache": {"size"}}


def generate() -> dict[str, str]:
    """Text of each file by its name."""
    return {
        "requests.json": _text(_requests()),
        "settings.json": _text(_settings(lambda name: name.replace("_", "-"))),
        "settings.editor.json": _text(_settings(_camel)),
    }


def _requests() -> dict[str, Any]:
    """`requests` and `notifications` by method; their types under `$defs`."""
    types = [kind for request in requests.REQUESTS.values() for kind in (request.params, request.result)]
    types += requests.NOTIFICATIONS.values()
    schemas, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    _add_descriptions(components, requests)
    pairs = iter(schemas)
    return {
        "$schema": _DIALECT,
        "title": "Custom requests of tile-lsp",
        "requests": {method: {"params": next(pairs), "result": next(pairs)} for method in requests.REQUESTS},
        "notifications": {method: {"params": next(pairs)} for method in requests.NOTIFICATIONS},
        "$defs": dict(sorted(components.items())),
    }


def _settings(spell: Callable[[str], str]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([settings.Settings], ref_template="#/$defs/{name}")
    _add_descriptions(components, settings)
    for name, fields in _ALSO_TEXT.items():
        for field in fields:
            schema = components[name]["properties"][field]
            schema["type"] = [schema["type"], "string"]
    arguments = components["KernelSettings"]["properties"]["arguments"]
    arguments["additionalProperties"] = {"type": ["string", "number", "boolean"]}
    for component in components.values():
        component["properties"] = {spell(name): schema for name, schema in component["properties"].items()}
        for schema in component["properties"].values():
            if "$ref" in schema and isinstance(schema.get("default"), dict):
                schema["default"] = {spell(name): value for name, value in schema["default"].items()}
        component["additionalProperties"] = False
    top = components.pop("Settings")
    return {"$schema": _DIALECT, **top, "title": "Settings of tile-lsp", "$defs": dict(sorted(components.items()))}


def _add_descriptions(components: dict[str, Any], module: Any) -> None:
    """The string below a field in the source describes it."""
    for name, component in components.items():
        for kind in getattr(module, name).__mro__:
            if kind is msgspec.Struct:
                break
            for field, text in _field_comments(kind):
                encoded = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))[field]
                component["properties"][encoded].setdefault("description", text)


def _field_comments(kind: type) -> Iterator[tuple[str, str]]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    for field, comment in zip(definition.body, definition.body[1:], strict=False):
        match field, comment:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, text in generate().items():
        (folder / name).write_text(text, encoding="utf-8")
