"""What every driver of Numba's answers with, and how it reads a config's options."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from ... import faults


def no_parameters(function: Any, count: int) -> faults.Fault:
    message = (
        f"{function.__qualname__} takes {count} arguments, whose names the text does not tell: the function is made "
        "elsewhere, or given at run time"
    )
    return faults.fault(faults.USER, message, code="signature")


def no_kernel(found: Any, entry: Mapping[str, Any], package: str) -> faults.Fault:
    name = getattr(found, "__qualname__", None)
    described = f"the {type(found).__name__} {name}" if isinstance(name, str) else f"of type {type(found).__qualname__}"
    return faults.fault(
        faults.USER, f"{entry['expression']} is no kernel of {package}: it is {described}", code="kernel"
    )


def answer(blobs: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        "blobs": {name: base64.b64encode(data).decode() for name, data in blobs.items()},
        "values": {},
        "faults": {},
    }


def options_of(hints: Mapping[str, Any]) -> dict[str, Any]:
    options = dict(hints)
    bounds = options.get("launch_bounds")
    if isinstance(bounds, str):
        options["launch_bounds"] = tuple(int(number) for number in re.findall(r"\d+", bounds))
    return options
