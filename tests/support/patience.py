"""How long tests wait for what should come to pass: long, for machines with other work."""

from __future__ import annotations

PATIENCE = 120.0
"""Seconds after which a wait has failed. No test is faster or slower for it."""
