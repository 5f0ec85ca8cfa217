"""What numba-cuda raises, made into faults."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import Any

from ... import faults
from .api import errors
from .failures import Failure

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CANDIDATES = re.compile(r"\n\s*There (?:are|is) \d+ candidate implementations?:")
_SOURCE = re.compile(r"\n\s*(?:File \"|During: |<source |Enable logging at debug|- (?:Resolution|argument|Of which))")
_CALL = re.compile(
    r"No implementation of function (?:Function\((?P<function>.*?)\)|(?P<other>.*?)) found for signature:\s*"
    r">>> (?P<call>.*?)\s*$",
    re.DOTALL,
)
_ADVICE = "This is not usually a problem with Numba itself"
_BUILT_IN = re.compile(r"<(?:built-in function|class|function|ufunc) '?([\w.]+?)'?(?: at 0x[0-9a-f]+)?>")
_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "eq": "==",
    "ne": "!=", "gt": ">", "ge": ">=",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=", "imod": "%=", "ipow": "**=",
    "iand": "&=", "ior": "|=", "ixor": "^=", "ilshift": "<<=", "irshift": ">>=",
}  # fmt: skip
_LITERAL = re.compile(r"Literal\[(?P<type>\w+)\]\((?P<value>[^()]*)\)")
_RETURNED = re.compile(r"No conversion from (.*?) to none for '\$\w*return_value")
_HOST_FUNCTION = (
    "a function of a library of the host's (ctypes, cffi), which no GPU can call; "
    "cuda.declare_device names one in CUDA C++"
)
_RECURSION = (
    "numba-cuda generates no code for a function that calls itself, or comes back, with arguments of other types"
)
_RECURSION_HELP = (
    "call it with the types that it calls itself with: a literal has a type of its own, `int64(5)` has that of an int64"
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_FUNCTION = re.compile(r"\b\d{12,}(?=\()")
_STAGE = re.compile(r"^Failed in \w+ mode pipeline \(step: [^)]*\)\s*")


def of_failures(failures: Collection[Failure], members: Collection[str]) -> list[faults.Fault]:
    """Every error of a partial inference, each at the innermost place, called from the places around it."""
    found: dict[str, faults.Fault] = {}
    for failure in failures:
        for made in _unfold(failure, members):
            found.setdefault(repr((made["message"], made.get("chain"))), made)
    # What has no type because something else is wrong is no error of its own.
    causes = [made for made in found.values() if not made["message"].startswith("Undecided type ")]
    return causes or list(found.values())


def _unfold(failure: Failure, members: Collection[str]) -> Iterator[faults.Fault]:
    own = place_of(failure.location, members)
    around = [own] if own is not None else []
    if not failure.inner:
        yield faults.fault(faults.USER, message_of(failure.error), around, code=_code(failure.error))
        return
    for inner in failure.inner:
        for made in _unfold(inner, members):
            yield {**made, "chain": [*made.get("chain", []), *around]}


def to_fault(error: BaseException, members: Collection[str]) -> faults.Fault:
    if isinstance(error, faults.Refused):
        return error.fault
    if isinstance(error, MemoryError):
        return faults.out_of_memory()
    if isinstance(error, RecursionError):
        return faults.fault(faults.USER, "The kernel nests deeper than numba-cuda can follow", code="RecursionError")
    place = place_of(getattr(error, "loc", None), members)
    chain = [place] if place is not None else faults.chain_of(error.__traceback__, members)
    message = message_of(error)
    if isinstance(error, FileNotFoundError) and error.filename:
        name = os.path.basename(error.filename)
        return faults.fault(faults.USER, f"{name}, which is linked, is not there: {error.filename}", chain, code="link")
    if isinstance(error, AssertionError) and "dyn globals disabled" in message:
        return faults.fault(faults.USER, _HOST_FUNCTION, chain, code="host")
    if type(error).__name__ == "NVRTCError":
        return _of_linked_source(message, chain)
    if isinstance(error, AttributeError) and error.name == "insert_unresolved_ref":
        return faults.fault(faults.USER, _RECURSION, chain, help=_RECURSION_HELP, code="recursion")
    if not isinstance(error, (errors.NumbaError, TypeError)):
        # What it was not prepared for: the words are its own, and say little.
        message = f"numba-cuda can't compile this ({type(error).__name__}: {message})"
    return faults.fault(faults.USER, message, chain, code=_code(error))


def _of_linked_source(text: str, chain: list[faults.Place]) -> faults.Fault:
    """Of CUDA C++ that a device function is declared to be in: NVRTC's own words."""
    log = text.partition("compilation log:")[2] or text
    first = next((line for line in log.split("\n") if "error" in line), log.strip().split("\n")[0])
    message = f"CUDA C++ that is linked does not compile: {first.strip()}"
    variable = "NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS"
    help_ = f"set {variable} to the folder of that header" if "cannot open source file" in first else None
    return faults.fault(faults.USER, message, chain, help=help_, code="link")


def message_of(error: BaseException) -> str:
    """The first thing that it says, without listings of the source and of all that was tried."""
    text = _COLOURS.sub("", str(getattr(error, "msg", None) or error)).strip()
    # Where objects are in memory: another place each time.
    text = _FUNCTION.sub("a function", _ADDRESS.sub("", text))
    text = _STAGE.sub("", text)
    text = text.partition(_ADVICE)[0]
    text = _CANDIDATES.split(text)[0].strip()
    if "UndefinedType" in text:
        return "this name is not defined"
    if (returned := _RETURNED.search(text)) is not None:
        return f"a kernel returns nothing, and this is {returned[1]}"
    if (call := _CALL.search(text)) is not None:
        return _no_implementation(call)
    text = _SOURCE.split(text)[0]
    return re.sub(r"\s*\n\s*", "\n", text).strip() or type(error).__name__


def _no_implementation(call: re.Match[str]) -> str:
    function = call["function"] or call["other"] or ""
    named = _BUILT_IN.search(function)
    name = named[1] if named is not None else function
    given = re.sub(r"\s+", " ", call["call"])
    arguments = given[given.index("(") + 1 : -1] if "(" in given else given
    arguments = _LITERAL.sub(lambda m: repr(m["value"]) if m["type"] == "str" else m["value"], arguments)
    operator = _OPERATORS.get(name)
    if operator is not None:
        return f"{operator} is not defined for ({arguments})"
    return f"{name} takes no ({arguments})"


def place_of(location: Any, members: Collection[str]) -> faults.Place | None:
    if location is None or getattr(location, "filename", None) not in members:
        return None
    column = location.col if location.col is not None else -1
    return [
        location.filename,
        location.line,
        column,
        getattr(location, "end_line", -1),
        getattr(location, "end_col", -1),
    ]


def _code(error: BaseException) -> str:
    return "TypingError" if isinstance(error, errors.TypingError) else type(error).__name__
