"""What may be said of a kernel's arguments and configs."""

from __future__ import annotations

from collections.abc import Collection

from tile_lsp.frontends.given import Vocabulary

from . import spec, targets
from .hints import HINTS, check_hint, parse_hint

_REFUSED = {"symbol": "triton names a kernel's symbol after its function; it can't be chosen"}


def vocabulary(parameters: Collection[str], constants: Collection[str], captured: Collection[str]) -> Vocabulary:
    """`constants`: those of the parameters that are constexprs. `captured`: parameters of functions around the kernel,
    which a comment may bind as well.
    """
    return Vocabulary(
        tuple(parameters),
        lambda name, text: spec.canonical(text, name, name in constants),
        targets.check_target,
        HINTS,
        lambda name, text: parse_hint(text),
        check_hint,
        bound=captured,
        refused=_REFUSED,
        is_neither="a parameter nor an option of triton",
    )
