"""Symbols in what compilers say, as the names that they stand for."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable

_SYMBOL = re.compile(r"\b_Z\w+")


def readable(text: str) -> str:
    """`_Z5twiceIfET_S0_ inlined into _Z1kPf` → `float twice<float>(float) inlined into k(float*)`; as it is where the
    machine has no library of C++ that could tell.
    """
    demangle = _demangler()
    return _SYMBOL.sub(lambda found: demangle(found[0]) or found[0], text) if demangle is not None else text


@functools.cache
def _demangler() -> Callable[[str], str | None] | None:
    for name in ("libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib"):
        try:
            library = ctypes.CDLL(name)
            function = library.__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        library.free.argtypes = (ctypes.c_void_p,)

        @functools.lru_cache(maxsize=1024)
        def demangle(symbol: str) -> str | None:
            failed = ctypes.c_int()
            made = function(symbol.encode(), None, None, ctypes.byref(failed))  # noqa: B023  it returns at once
            if not made:
                return None
            try:
                return ctypes.string_at(made).decode("utf-8", "replace")
            finally:
                library.free(made)  # noqa: B023

        return demangle
    return None
