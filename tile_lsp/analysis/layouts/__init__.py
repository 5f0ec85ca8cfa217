"""Triton's layouts: their text, and which register of which thread holds which element."""

from __future__ import annotations

from .attributes import Layout, Typed, aliases_of, parse, result_in, types_in
from .linear import Basis, Inverse, Linear
from .rules import UnknownLayout, linear, rank_of, smallest_shape

__all__ = [
    "Basis",
    "Inverse",
    "Layout",
    "Linear",
    "Typed",
    "UnknownLayout",
    "aliases_of",
    "linear",
    "parse",
    "rank_of",
    "result_in",
    "smallest_shape",
    "types_in",
]
