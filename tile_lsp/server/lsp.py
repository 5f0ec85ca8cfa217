"""asyncio, and `types` of lsprotocol, imported fast: imported first, it halves the start of the server.

Importing lsprotocol makes more than 500 attrs classes, and most of that time goes into compiling methods that nobody
here calls: comparing, printing, slots. asyncio imports ssl, and OpenSSL with it, where there is one; no network is
reached from here.
"""

from __future__ import annotations

import functools
import gc
import sys

import attrs

if "asyncio" not in sys.modules and "ssl" not in sys.modules:
    sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        import asyncio  # noqa: F401
    finally:
        del sys.modules["ssl"]

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
