"""From an opcode as it is written to words: tables of sentences and phrases, and the code that combines them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec


class Explanation(msgspec.Struct, frozen=True):
    """What a line of a listing does."""

    name: str
    """The opcode as it is written, modifiers included; empty for a line that is no instruction."""
    does: str
    """One or two sentences; empty if the opcode is not known."""
    parts: tuple[tuple[str, str], ...] = ()
    """Modifiers, in the order of the line, and what each says; an empty phrase for one that is not known."""
    notes: tuple[str, ...] = ()
    """What else the line says: its predicate, operands with names, scheduling. Code between backquotes."""
    labels: tuple[str, ...] = ()
    """The labels that it names."""


class Language(msgspec.Struct, frozen=True):
    """The tables of one language. An opcode may have dots (`mbarrier.try_wait`): the longest that fits is taken."""

    opcodes: Mapping[str, str]
    """Opcode → what it does, in one or two sentences."""
    modifiers: Mapping[str, str]
    """Modifier → phrase, for all opcodes that say nothing else of it."""
    own: Mapping[str, Mapping[str, str]]
    """Opcode, or its first words → what modifiers mean there."""
    patterns: tuple[tuple[str, str, str], ...] = ()
    """(opcode or its first words, regular expression of a modifier, phrase in which `\\1` is its first group)."""
    roles: Mapping[str, tuple[str, ...]] = {}
    """Opcode → what its types, in order, are the types of."""
    types: frozenset[str] = frozenset()
    """The modifiers that are types, which `roles` counts."""

    def describe(self, name: str) -> Explanation:
        opcode, modifiers = self.split(name)
        roles = iter(self.roles.get(opcode, ()))
        parts = []
        for modifier in modifiers:
            phrase = self.phrase(opcode, modifier)
            role = next(roles, "") if modifier in self.types else ""
            parts.append((f".{modifier}", f"{role}: {phrase}" if role else phrase))
        return Explanation(name, self.opcodes.get(opcode, ""), tuple(parts))

    def split(self, name: str) -> tuple[str, list[str]]:
        """The opcode as the table has it, else the first word; and the modifiers after it."""
        words = name.split(".")
        for count in range(len(words), 0, -1):
            if (opcode := ".".join(words[:count])) in self.opcodes:
                return opcode, words[count:]
        return words[0], words[1:]

    def phrase(self, opcode: str, modifier: str) -> str:
        """What a modifier says at an opcode, the most specific table first; empty if none has it."""
        words = opcode.split(".")
        for count in range(len(words), 0, -1):
            if found := self.own.get(".".join(words[:count]), {}).get(modifier):
                return found
        if found := self.modifiers.get(modifier):
            return found
        for start, pattern, phrase in self.patterns:
            if (opcode == start or opcode.startswith(f"{start}.") or not start) and (
                match := re.fullmatch(pattern, modifier)
            ):
                return match.expand(phrase)
        return ""
