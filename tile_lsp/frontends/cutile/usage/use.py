"""What was seen of the parameters of a kernel."""

from __future__ import annotations

from tile_lsp.frontends.cutile.terms import Dims, Mono, Slot, Term


class Use:
    """What was seen of one slot."""

    def __init__(self) -> None:
        self.array: str | None = None
        """Why it is an array, for people."""
        self.rank: int | None = None
        self.rank_why = ""
        self.min_rank = 0
        self.sequence: str | None = None
        """Why it is a list or a tuple."""
        self.dynamic = False
        """Indexed with something other than a literal: a list, not a tuple."""
        self.items: int = 0
        """The least number of items, where literals index it."""
        self.scalar: str | None = None
        self.partners: list[Term] = []
        """Dtypes that it was combined with."""
        self.is_dtype = False
        self.compared: list[object] = []
        """Literals that it is compared with."""
        self.roles: dict[str, str] = {}
        """`mma`, `scaled`, `scale`, `index`, `lock`, `truth` → why."""


class Usage:
    """The outcome."""

    def __init__(self) -> None:
        self.uses: dict[Slot, Use] = {}
        self.shapes: dict[Dims, None] = {}
        """Shapes of tiles, in the order in which they were met."""
        self.accumulators: dict[Dims, None] = {}
        self.equalities: list[tuple[Mono, Mono]] = []
        """Sizes that have to be the same."""
        self.stores: list[tuple[Slot, Term, str]] = []
        """Array, dtype of what is stored into it, and where."""

    def use(self, slot: Slot) -> Use:
        return self.uses.setdefault(slot, Use())
