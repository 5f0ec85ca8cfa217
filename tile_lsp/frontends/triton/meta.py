"""Signatures that Inductor writes above its kernels: `triton_meta={"signature": {"in_ptr0": "*fp32", …}, …}`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tile_lsp.analysis.python import KernelSite

from . import spec

_DIVISIBLE = "tt.divisibility"


def read_meta(site: KernelSite, constants: frozenset[str]) -> Mapping[str, str]:
    """Parameter → spec; empty where no decorator has such a thing. Never raises. `constants`: names of constexprs."""
    for decorator in site.definition.decorator_list if site.definition is not None else ():
        if not isinstance(decorator, ast.Call):
            continue
        node = next((keyword.value for keyword in decorator.keywords if keyword.arg == "triton_meta"), None)
        if isinstance(node, ast.Dict):
            return _read(_items(node), [parameter.name for parameter in site.parameters], constants)
    return {}


def _read(meta: Mapping[object, ast.expr], names: list[str], constants: frozenset[str]) -> dict[str, str]:
    divisible = _divisible(meta.get("configs"))
    found: dict[str, str] = {}
    # Earlier releases say positions among those that are no constants, in place of names.
    typed = [name for name in names if name not in constants]
    for key, node in _items(meta.get("signature")).items():
        name = key if isinstance(key, str) else typed[key] if isinstance(key, int) and key < len(typed) else None
        text = node.value if isinstance(node, ast.Constant) else None
        if name not in names or not isinstance(text, str) or text == "constexpr":
            continue
        at = names.index(name)
        made = spec.canonical(text + (":16" if at in divisible else ""), name, constexpr=False)
        if isinstance(made, str):
            found[name] = made
    for key, node in _items(meta.get("constants")).items():
        name = key if isinstance(key, str) else names[key] if isinstance(key, int) and key < len(names) else None
        text = spec.literal(node.value) if isinstance(node, ast.Constant) else None
        if name in names and text is not None:
            found[name] = text
    return found


def _divisible(node: ast.expr | None) -> frozenset[int]:
    """Positions of the parameters that are divisible by 16, in any of the ways that releases wrote it."""
    found: set[int] = set()
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Dict):
            for key, value in _items(inner).items():
                if key == _DIVISIBLE:
                    found.update(_numbers(value))
                elif isinstance(key, tuple) and len(key) == 1 and _DIVISIBLE in ast.unparse(value):
                    found.update(key)
        elif isinstance(inner, ast.keyword) and inner.arg == "divisible_by_16":
            found.update(_numbers(inner.value))
    return frozenset(found)


def _numbers(node: ast.expr) -> list[int]:
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, int)]


def _items(node: ast.expr | None) -> dict[object, ast.expr]:
    """Of a dictionary whose keys are literals."""
    found: dict[object, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
        try:
            found[ast.literal_eval(key) if key is not None else None] = value
        except (ValueError, TypeError):
            continue
    return found
