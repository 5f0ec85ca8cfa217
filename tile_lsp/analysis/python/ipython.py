"""What IPython adds to Python, taken out of a notebook's cell in place: lines stay, and what is left has its columns.

A magic or shell line becomes `pass`, so that a block it stands in keeps a body; what is assigned from one becomes
`None`; Python behind `%time` and `%timeit` is kept: kernels are launched there; a cell of another language is
emptied; `await` at top level, which no module may have, is blanked.
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Iterator

_SUSPECT = re.compile(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t;]*$|\bawait\b", re.MULTILINE)
_CELL_MAGIC = re.compile(r"[ \t]*%%[ \t]*(\w*)")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "debug"})
"""Cell magics that run their cell as Python, in the notebook."""
_MAGIC = re.compile(r"(?P<indent>[ \t]*)[%!?,;/]")
_TIMED = re.compile(
    r"(?P<indent>[ \t]*)(?P<magic>%time(?:it)?[ \t]+(?:(?:-[nrp][ \t]*\d+|-[tcqo]|--[\w-]+)[ \t]+)*)(?P<code>[^-\s].*)"
)
_ASSIGNED = re.compile(r"(?P<target>[ \t]*\w[\w.,\[\] \t]*=[ \t]*)[%!](?!=)")
_HELP = re.compile(r"(?P<indent>[ \t]*)%{0,2}(?:[^\W\d]|\*)[\w.*\[\]'\"]*\?\??[ \t]*;?[ \t]*")
_TOKEN = re.compile(
    r"""
      \#[^\n]*
    | \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
    | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
    | (?P<unclosed>\"{3}|'{3})
    | "(?:[^"\\\n]|\\.)*"
    | '(?:[^'\\\n]|\\.)*'
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | \\\n
    | (?P<end>\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_PATIENCE = 20
"""Brackets or strings left open, in one cell, that are looked for an end of: each look may take the whole cell."""


@functools.lru_cache(maxsize=1024)
def plain_python(cell: str) -> str:
    """The cell as Python. Lines end with `\\n` and stay as many as they are. Never raises."""
    if not _SUSPECT.search(cell):
        return cell
    blank = len(cell) - len(cell.lstrip(" \t\n"))
    head = cell.rfind("\n", 0, blank) + 1
    if magic := _CELL_MAGIC.match(cell, head):
        if magic[1] not in _PYTHON_CELLS:
            return "\n" * cell.count("\n")
        end = cell.find("\n", head)
        cell = "\n" * cell.count("\n", 0, head) + (cell[end:] if end >= 0 else "")
    cell = "\n".join(_statements(cell))
    return _without_awaits(cell) if "await" in cell else cell


def _statements(cell: str) -> Iterator[str]:
    """The cell's lines; those of one statement may come together."""
    position, patience = 0, _PATIENCE
    while position <= len(cell):
        end = _line_end(cell, position)
        plain = _plain_line(cell[position:end])
        if plain is not None:
            yield plain
            while cell[position:end].endswith("\\") and end < len(cell):
                position, end = end + 1, _line_end(cell, end + 1)
                yield ""
        else:
            if patience:
                stop = _statement_end(cell, position)
                if stop is None:
                    patience -= 1
                else:
                    end = stop
            yield cell[position:end]
        position = end + 1


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _statement_end(text: str, begin: int) -> int | None:
    """Where the line ends that the statement at `begin` ends in; None if a bracket or a string stays open."""
    depth, position = 0, begin
    while match := _TOKEN.search(text, position):
        kind, position = match.lastgroup, match.end()
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "unclosed":
            return None
        elif kind == "end" and not depth:
            return match.start()
    return None if depth else len(text)


def _plain_line(line: str) -> str | None:
    """What takes the place of the first line of a statement, or None if it is Python."""
    if (timed := _TIMED.fullmatch(line)) and _is_simple(timed["code"]):
        return f"{timed['indent']}{'0;':<{len(timed['magic'])}}{timed['code']}"
    if found := _MAGIC.match(line) or _HELP.fullmatch(line):
        return f"{found['indent']}pass"
    if found := _ASSIGNED.match(line):
        return f"{found['target']}None"
    return None


def _is_simple(code: str) -> bool:
    """True for statements that may follow a semicolon."""
    tree = _tree(f"0;{code}")
    return tree is not None and len(tree.body) > 1


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _without_awaits(cell: str) -> str:
    """`x = await f()` as `x =       f()`; as a statement `None, f()`, which must not be indented."""
    tree = _tree(cell)
    if tree is None:
        return cell
    lines = [line.encode("utf-8", "surrogatepass") for line in cell.split("\n")]
    starts = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Expr):
            starts.add((node.lineno, node.col_offset))
        elif isinstance(node, ast.Await):
            row, column = node.lineno - 1, node.col_offset
            blank = b"None," if (node.lineno, column) in starts else b"     "
            lines[row] = lines[row][:column] + blank + lines[row][column + 5 :]
        pending.extend(ast.iter_child_nodes(node))
    return b"\n".join(lines).decode("utf-8", "surrogatepass")
