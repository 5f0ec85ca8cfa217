"""Lines for code that its own line table is not of. No compiler."""

from __future__ import annotations

import pytest

from tile_lsp.analysis.cubin import Function
from tile_lsp.frontends.numba.artifacts import matching

LDG, FMUL, STG, EXIT, NOP = 0x381, 0x220, 0x386, 0x94D, 0x918


def function(*opcodes: int) -> Function:
    """Each instruction 16 bytes, its opcode in the lowest 12 bits."""
    code = b"".join((opcode | 7 << 12).to_bytes(16, "little") for opcode in opcodes)
    return Function("k", 1, code, (), (), ())


@pytest.mark.parametrize(
    ("plain", "lined", "pairs"),
    [
        ((LDG, FMUL, STG), (LDG, FMUL, STG), {0: 0, 16: 16, 32: 32}),
        ((LDG, FMUL, STG), (LDG, NOP, FMUL, STG), {0: 0, 16: 32, 32: 48}),
        ((LDG, NOP, STG, EXIT), (LDG, STG, EXIT), {0: 0, 32: 16, 48: 32}),
        ((FMUL,), (EXIT,), {}),
    ],
)
def test_instructions_go_by_the_order_of_their_opcodes(plain, lined, pairs: dict[int, int]):
    assert matching(function(*plain), function(*lined)) == pairs
