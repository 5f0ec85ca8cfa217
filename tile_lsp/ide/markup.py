"""Text for people, in blocks that render as Markdown or as plain text, whichever the client can show."""

from __future__ import annotations

import re

import msgspec

_SPECIAL = re.compile(r"([\\*\[\]<]|(?<!\w)_|_(?!\w)|(?m:^)[#>])")
"""What Markdown would take for markup. Nothing else has a backslash before it: some clients show those."""


class Code(msgspec.Struct, frozen=True, tag="code"):
    """Verbatim lines."""

    text: str
    language: str = "python"


class Text(msgspec.Struct, frozen=True, tag="text"):
    """One paragraph; parts between backquotes are code."""

    text: str


class Items(msgspec.Struct, frozen=True, tag="items"):
    """A list; parts between backquotes are code."""

    items: tuple[str, ...]


Block = Code | Text | Items


class Markup(msgspec.Struct, frozen=True):
    blocks: tuple[Block, ...]

    def markdown(self) -> str:
        parts = []
        for block in self.blocks:
            match block:
                case Code(text=text, language=language):
                    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
                    parts.append(f"{fence}{language}\n{text}\n{fence}")
                case Text(text=text):
                    parts.append(_escape(text))
                case Items(items=items):
                    parts.append("\n".join(f"- {_escape(item)}" for item in items))
        return "\n\n".join(parts)

    def plain(self) -> str:
        parts = []
        for block in self.blocks:
            match block:
                case Code(text=text):
                    parts.append(text)
                case Text(text=text):
                    parts.append(text.replace("`", ""))
                case Items(items=items):
                    parts.append("\n".join(f"- {item.replace('`', '')}" for item in items))
        return "\n\n".join(parts)


def code(text: str) -> str:
    """Inline code for `Text` and `Items`; a text that holds a backquote stays plain."""
    return text if "`" in text or not text.strip() else f"`{text}`"


def _escape(text: str) -> str:
    """Markdown that shows the text as it stands, but for code between backquotes; line ends are kept."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        pieces = ["`".join(pieces)]
    shown = [f"`{piece}`" if index % 2 else _SPECIAL.sub(r"\\\1", piece) for index, piece in enumerate(pieces)]
    return "".join(shown).replace("\n", "  \n")
