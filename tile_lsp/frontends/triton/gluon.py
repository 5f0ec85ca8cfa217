"""Layouts that a Gluon kernel takes as parameters: what it uses them for, and ones that fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tile_lsp.frontends.names import chain


class LayoutUse(NamedTuple):
    """Of one parameter."""

    rank: int
    """Dimensions of what is laid out so; 0 where that is not seen."""
    shared: bool
    """In shared memory."""


#: Function → position of its layout, and of its shape; -1 where it has none.
_TAKES = {
    "arange": (2, -1),
    "zeros": (2, 0),
    "full": (3, 0),
    "full_like": (4, 2),
    "convert_layout": (1, -1),
    "set_auto_layout": (1, -1),
    "allocate_shared_memory": (2, 1),
}


def language_of(node: ast.FunctionDef) -> str:
    """What the file calls Gluon's language, `gl`; empty for a kernel of Triton's."""
    if not any("gluon" in ast.unparse(decorator) for decorator in node.decorator_list):
        return ""
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        names = chain(argument.annotation) if argument.annotation is not None else None
        if names is not None and len(names) > 1 and names[-1] == "constexpr":
            return ".".join(names[:-1])
    return "gl"


def layout_uses(node: ast.FunctionDef) -> dict[str, LayoutUse]:
    """By name."""
    found: dict[str, LayoutUse] = {}
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            for name, use in _of_call(call):
                known = found.get(name, LayoutUse(0, False))
                found[name] = LayoutUse(max(known.rank, use.rank), known.shared or use.shared)
    return found


def _of_call(call: ast.Call) -> Iterator[tuple[str, LayoutUse]]:
    word = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    at, shape_at = _TAKES.get(word, (0, -1) if word == "load" and len(call.args) == 1 else (-1, -1))
    if word in ("load", "store") and "layout" not in given and at < 0:
        return
    layout = given.get("layout") or (call.args[at] if 0 <= at < len(call.args) else None)
    if layout is None:
        return
    shape = given.get("shape") or (call.args[shape_at] if 0 <= shape_at < len(call.args) else None)
    rank = len(shape.elts) if isinstance(shape, (ast.List, ast.Tuple)) else 1 if word == "arange" else 0
    yield from _within(layout, rank, word == "allocate_shared_memory")


def _within(layout: ast.expr, rank: int, shared: bool) -> Iterator[tuple[str, LayoutUse]]:
    if isinstance(layout, ast.Name):
        yield layout.id, LayoutUse(rank, shared)
    elif isinstance(layout, ast.Call) and "SliceLayout" in ast.unparse(layout.func):
        parent = next((keyword.value for keyword in layout.keywords if keyword.arg == "parent"), None)
        parent = parent or (layout.args[-1] if layout.args else None)
        if parent is not None:
            yield from _within(parent, rank + 1, shared)


def fitting(language: str, rank: int, shared: bool, lanes: int, warps: int) -> str:
    """A layout as an expression: memory row by row, or 4 neighbours a thread, 8 threads along a row."""
    rank = max(1, rank)
    order = list(reversed(range(rank)))
    if shared:
        return f"={language}.SwizzledSharedLayout(1, 1, 1, {order})".replace(", ", ",")
    ones = [1] * (rank - 1)
    threads = [lanes] if rank == 1 else [*ones[1:], lanes // 8, 8]
    return f"={language}.BlockedLayout({[*ones, 4 if rank > 1 else 1]}, {threads}, {[warps, *ones]}, {order})".replace(
        ", ", ","
    )


def descriptor_layout(element: str, dims: list[int]) -> str:
    """Of a tensor descriptor's blocks in shared memory, as a signature holds it: the widest swizzle that fits."""
    bits = {"fp16": 16, "bf16": 16, "fp32": 32, "i32": 32}.get(element, 8)
    row = dims[-1] * bits // 8
    width = next((width for width in (128, 64, 32) if row >= width), 0)
    return f"NVMMASharedLayout(swizzle_byte_width={width},element_bitwidth={bits},rank={len(dims)})"
