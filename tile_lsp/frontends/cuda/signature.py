"""What may be said of a template's arguments and of configs."""

from __future__ import annotations

from collections.abc import Sequence

from tile_lsp.frontends.given import Vocabulary

from .hints import HINTS, check_hint, parse_hint
from .targets import check_target


def vocabulary(parameters: Sequence[str], others: Sequence[str]) -> Vocabulary:
    """`parameters`: the template's; `others`: the function's, which have their types already."""
    typed = "has its type already; a comment gives arguments of the template, a target or options"
    return Vocabulary(
        parameters,
        lambda name, text: text.strip(),
        check_target,
        HINTS,
        lambda name, text: parse_hint(text),
        check_hint,
        refused={name: f"`{name}` {typed}" for name in others},
        is_neither="a template's parameter nor an option",
        has="the template has",
        has_none="the kernel is no template",
    )
