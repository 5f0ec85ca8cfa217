"""What cuda.tile raises, made into faults."""

from __future__ import annotations

import re
from typing import Any

from ... import faults
from .compiler import Compiler
from .places import Places

#: Lines of normalised members: they mean nothing to a reader, and the places say it better.
_LINE = re.compile(r" \((?:at )?lines? \d+\)?")
_PARAMETER = re.compile(r"kernel parameter '(\w+)'|parameter (\w+) at position")


def to_fault(
    error: BaseException, compiler: Compiler, places: Places, members: Any, parameters: dict[str, Any]
) -> faults.Fault:
    """`parameters`: locations of the kernel's parameters, by name."""
    if isinstance(error, faults.Refused):
        return error.fault
    if isinstance(error, MemoryError):
        return faults.out_of_memory()
    kinds = compiler.exceptions
    code = type(error).__name__
    if isinstance(error, kinds.TileError):
        location = error.loc
        chain = [] if location.is_unknown() else faults.once(places.chain(location))
        cause = error.__cause__
        if isinstance(error, kinds.TileInternalError):
            return faults.fault(faults.USER, _internal(compiler, cause or error), chain, code=code)
        if cause is not None:
            # Python code that ran at compile time: where it raised is more exact than where it was called.
            chain = faults.once([*faults.chain_of(cause.__traceback__, members), *chain])
        return faults.fault(faults.USER, _LINE.sub("", str(error.message)), chain, code=code)
    if isinstance(error, RecursionError):
        return faults.fault(faults.USER, "The kernel nests deeper than cuda.tile can follow", code=code)
    if isinstance(error, TypeError) and "arameter" in str(error):
        match = _PARAMETER.search(str(error))
        location = parameters.get(match[1] or match[2]) if match else None
        return faults.fault(faults.USER, str(error), places.chain(location) if location else [], code="signature")
    chain = faults.chain_of(error.__traceback__, members)
    return faults.fault(faults.USER, _internal(compiler, error), chain, code="InternalError")


def _internal(compiler: Compiler, error: BaseException) -> str:
    message = str(getattr(error, "message", "") or error) or "no message"
    name = type(error).__name__
    named = message if name.endswith("InternalError") or name == "InternalError" else f"{name}: {message}"
    return f"internal error of cuda-tile {compiler.version}: {named}"
