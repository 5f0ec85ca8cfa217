"""Hover on a word of a `# tile-lsp:` comment: which argument or setting it gives, and what came of it."""

from __future__ import annotations

from tile_lsp.analysis.comments import CommentItem, JobComment, read_comments
from tile_lsp.analysis.python.text import CELL_MARK
from tile_lsp.analysis.snapshot import FileView, KernelView
from tile_lsp.ide.markup import Code, Markup, Text, code
from tile_lsp.model.location import Span

_LEADERS = ("#", "//")


def comment_hover(file: FileView, line: int, column: int) -> tuple[Markup, Span] | None:
    """The markup and the span of the `NAME=VALUE` at a position, or None where there is none."""
    if not _is_comment(file, line):
        return None
    last = line
    while _is_comment(file, last + 1):
        last += 1
    for comment in comments_above(file, last + 1):
        for item in comment.items:
            span = Span(*item.name_span[:2], *item.value_span[2:])
            if span.contains(line, column):
                kernel = next((kernel for kernel in file.kernels if kernel.span.line == last + 1), None)
                return _item(item, kernel), span
    return None


def comments_above(file: FileView, line: int) -> tuple[JobComment, ...]:
    """The job comments among the comment lines that end right above a line."""
    first = line
    while _is_comment(file, first - 1):
        first -= 1
    return read_comments([_comment_line(file, number) for number in range(first, line)])


def _is_comment(file: FileView, line: int) -> bool:
    if not 1 <= line <= len(file.lines) or file.lines[line - 1] == CELL_MARK:
        return False
    return file.lines[line - 1].lstrip(" \t\f").startswith(_LEADERS)


def _comment_line(file: FileView, line: int) -> tuple[str, Span]:
    whole = file.lines[line - 1].rstrip("\r\n")
    text = whole.lstrip(" \t\f")
    end = len(whole.encode())
    return text, Span(line, end - len(text.encode()), line, end)


def _item(item: CommentItem, kernel: KernelView | None) -> Markup:
    head = Code(f"{item.name} = {item.value}")
    if kernel is None:
        return Markup((head, Text("no kernel follows this comment: it is not read")))
    if any(name == item.name for name, _ in kernel.parameters):
        given = next(
            (
                argument.argument.spec
                for view in kernel.jobs
                for argument in view.arguments
                if argument.argument.name == item.name
            ),
            None,
        )
        text = f"argument {code(item.name)} of {code(kernel.name)}"
        if given is not None and given != item.value:
            text += f", taken as {code(given)}"
        return Markup((head, Text(text)))
    meaning = {
        "target": "the architectures to compile for; several, by commas, are as many jobs",
        "symbol": "the name of the kernel in the compiled module",
    }.get(item.name, "a hint to code generation; types do not depend on it")
    return Markup((head, Text(f"{code(kernel.name)}: {meaning}")))
