"""From places in normalised members to today's source ranges, and back."""

from __future__ import annotations

from tile_lsp.model.location import Chain, Place, SourceRange


class Positions:
    """The map for one closure. Immutable; built lazily, member by member."""

    def resolve(self, place: Place) -> SourceRange | None:
        """Today's range of a place, or None for a member that isn't of this closure."""
        raise NotImplementedError

    def chain(self, chain: Chain) -> tuple[SourceRange, ...]:
        """Each place of a chain, those that can't be resolved left out."""
        raise NotImplementedError

    def places_at(self, path: str, line: int, column: int | None = None) -> tuple[Place, ...]:
        """Places of a source position, innermost first: with a column the expressions around it, else the
        normalised lines (no columns) that came from the line."""
        raise NotImplementedError
