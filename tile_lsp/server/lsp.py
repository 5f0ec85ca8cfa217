"""`types` of lsprotocol, imported fast.

Importing lsprotocol makes more than 500 attrs classes, and most of that time goes into compiling methods that nobody
here calls: comparing, printing, slots. Leaving them out halves the start of the server.
"""

from __future__ import annotations

import functools
import gc
import sys

import attrs

if "lsprotocol.types" in sys.modules:
    from lsprotocol import types
else:
    _define, _collecting = attrs.define, gc.isenabled()
    attrs.define = functools.partial(_define, repr=False, eq=False, slots=False)
    gc.disable()
    try:
        from lsprotocol import types
    finally:
        attrs.define = _define
        if _collecting:
            gc.enable()

__all__ = ["types"]
