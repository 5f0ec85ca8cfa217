"""A module's syntax tree as JSON, for text that is newer than the server's own Python."""

from __future__ import annotations

import ast
from typing import Any

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def parse(source: str, filename: str) -> dict[str, Any]:
    """`{"tree": node}` or `{"error": {"message", "line", "column", "end_line", "end_column"}}` (lines 1-based,
    columns 0-based bytes).

    A node is `{"_": "Name", "id": "x", "ctx": {"_": "Load"}, "lineno": …}`. A constant that JSON has no form for, or
    would change, is `{"_literal": repr}`.
    """
    try:
        tree = ast.parse(source, filename)
    except SyntaxError as error:
        return {"error": _where(error, source)}
    except (ValueError, RecursionError, MemoryError) as error:
        return {
            "error": {
                "message": str(error) or type(error).__name__,
                "line": 1,
                "column": 0,
                "end_line": 1,
                "end_column": 0,
            }
        }
    return {"tree": _dump(tree)}


def _dump(value: Any) -> Any:
    if isinstance(value, ast.AST):
        node: dict[str, Any] = {"_": type(value).__name__}
        for name in value._fields:
            field = getattr(value, name, None)
            node[name] = _constant(field) if isinstance(value, ast.Constant) and name == "value" else _dump(field)
        for name in _POSITION:
            position = getattr(value, name, None)
            if position is not None:
                node[name] = position
        return node
    if isinstance(value, list):
        return [_dump(item) for item in value]
    return value


def _constant(value: object) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str) and value.isprintable():
        return value
    if isinstance(value, int) and abs(value) < 1 << 53:
        return value
    return {"_literal": "..." if value is ... else repr(value)}


def _where(error: SyntaxError, source: str) -> dict[str, Any]:
    line, column = error.lineno or 1, byte_column(source, error.lineno or 1, error.offset)
    end_line = error.end_lineno or line
    end = byte_column(source, end_line, error.end_offset) if error.end_offset else column
    return {"message": error.msg, "line": line, "column": column, "end_line": end_line, "end_column": max(end, column)}


def byte_column(source: str, line: int, offset: int | None) -> int:
    """A `SyntaxError`'s offset (1-based, in characters) as a 0-based column of UTF-8 bytes."""
    if not offset or offset < 1:
        return 0
    lines = source.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return len(text[: offset - 1].encode("utf-8", "replace"))
