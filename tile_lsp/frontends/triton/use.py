"""What is known of a kernel's parameters from their use: the values that its reader fills in."""

from __future__ import annotations

import msgspec


class Asserted(msgspec.Struct, frozen=True):
    """A dtype that a kernel insists on, or a divisor, or a value."""

    dtype: str = ""
    divisor: str = ""
    """A parameter, or a number."""
    value: str = ""
    """As a spec."""
    same: str = ""
    """The parameter that it is equal to."""
    flag: str = ""
    """The parameter that it hangs on; empty where it always holds."""
    holds: bool = True
    """What that has to be."""


class Use(msgspec.Struct):
    """What is known of one parameter; each text says why, for people."""

    pointer: str = ""
    descriptor: int = 0
    """Rank, where it is used as a tensor descriptor."""
    block: tuple[str, ...] = ()
    """Lengths of a descriptor's block, names of parameters or numbers, where what it moves is given a shape."""
    asserted: tuple[Asserted, ...] = ()
    index: str = ""
    """The values that are loaded through it are used as numbers: sizes, offsets, labels."""
    dot: bool = False
    """The values that are loaded through it are operands of `tl.dot`."""
    truth: bool = False
    """The values that are loaded through it are conditions."""
    size: bool = False
    """Length of a range, or of a block's side."""
    static_loop: bool = False
    flag: bool = False
    """Tested for truth."""
    number: bool = False
    """Computed with as an integer."""
    none: bool = False
    """Compared with None."""
    dtype: bool = False
    texts: tuple[str, ...] = ()
    """Equal to one of these, or not."""
    numbers: tuple[int, ...] = ()
    """The same."""
    called: int = 0
    """It is a function: called with so many arguments."""
    contiguous: bool = False
    """A stride of the last dimension of blocks: what `[None, :]` is multiplied with."""
    one: str = ""
    """Why it has to be 1."""
    fraction: str = ""
    """Compared with this number, which is no integer."""
    full: bool = False
    """What it is, or what is loaded through it, goes into functions that take no half precision."""
    floating: bool = False
    """What is stored through it is no integer."""
    layout: int = -1
    """Dimensions of what it is the layout of, 0 if that is not seen; -1 for what is no layout."""
    shared: bool = False
    """It is a layout of shared memory."""
    items: int = 0
    """So many items of it are used: it is a tuple."""
    counted_by: str = ""
    """The parameter that says how many there are."""
    multiplied: bool = False
    address: bool = False
    """A pointer is made of it."""


class Usage(msgspec.Struct):
    uses: dict[str, Use]
    language: str = ""
    """What the file calls Gluon's language; empty for Triton's own."""
    alias: str = ""
    """What the kernel calls the language."""
    has_dot: bool = False
    rank: int = 1
    """Most dimensions of a block."""
    needs_float32: bool = False
    """Values go into functions that take no half precision."""

    def of(self, name: str) -> Use:
        return self.uses.get(name) or Use()
