"""Exceptions of code that we don't know, made into faults: whose they are, where they are, and what mends them."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from types import CodeType, TracebackType
from typing import Any

from . import distributions
from .syntax import byte_column

USER = "user"
ENVIRONMENT = "environment"

Fault = dict[str, Any]
Place = list[Any]
"""`[member id, line, column, end line, end column]`, as the server's `Place`."""

#: Distributions that have another name than what is imported.
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "attr": "attrs",
    "cuda.tile": "cuda-tile[tileiras]",
    "cupy": "cupy-cuda13x",
    "cv2": "opencv-python",
    "nvshmem": "nvshmem4py-cu13",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


#: Characters of a message that somebody may read.
_LONGEST = 1 << 14


class Refused(Exception):
    """Ends a piece of work with a fault that is already in its final form."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault["message"])
        self.fault = fault


@contextlib.contextmanager
def of_argument(name: str) -> Iterator[None]:
    """What is refused in here is said of an argument."""
    try:
        yield
    except Refused as refused:
        refused.fault.setdefault("argument", name)
        raise


def fault(
    kind: str,
    message: str,
    chain: list[Place] | None = None,
    help: str | None = None,  # noqa: A002
    code: str | None = None,
) -> Fault:
    made: Fault = {"kind": kind, "message": _short(message)}
    if chain:
        made["chain"] = chain
    if help:
        made["help"] = help
    if code:
        made["code"] = code
    return made


def out_of_memory() -> Fault:
    return fault(
        ENVIRONMENT,
        "Out of memory: loading or typing this kernel needs more than a worker may have.",
        help='set tile-lsp.memory to more, such as "8 GiB"',
        code="MemoryError",
    )


def from_exception(error: BaseException, members: Collection[str], sources: dict[str, str]) -> Fault:
    """What user code raised, at the innermost frame that is in the closure, called from the frames around it."""
    chain = chain_of(error.__traceback__, members)
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return {**out_of_memory(), "chain": chain}
    if isinstance(error, SystemExit):
        status = "" if error.code is None else f" with {error.code!r}"
        return fault(
            USER, f"The code ended the process{status} (sys.exit) while the kernel was loaded", chain, code=name
        )
    if isinstance(error, SyntaxError):
        return _syntax_fault(error, members, sources, chain)
    if isinstance(error, ImportError):
        return _import_fault(error, chain)
    message = _text(error)
    return fault(USER, f"{name}: {message}" if message else name, chain, code=name)


def chain_of(trace: TracebackType | None, members: Collection[str]) -> list[Place]:
    """Innermost first, each place once."""
    places = [place for place in _frames(trace) if place[0] in members]
    places.reverse()
    return once(places)


def once(chain: list[Place]) -> list[Place]:
    """Each place where it is met first: a recursion that ran to its limit comes by the same ones a thousand times."""
    return [list(place) for place in dict.fromkeys(map(tuple, chain))]


def _frames(trace: TracebackType | None) -> Iterator[Place]:
    while trace is not None:
        code = trace.tb_frame.f_code
        yield [code.co_filename, *_position(code, trace.tb_lasti, trace.tb_lineno)]
        trace = trace.tb_next


def _position(code: CodeType, instruction: int, line: int | None) -> Place:
    positions = getattr(code, "co_positions", None)
    if positions is not None and instruction >= 0:
        for index, position in enumerate(positions()):
            if index == instruction // 2:
                start, end, column, end_column = position
                if start is not None and column is not None and end is not None and end_column is not None:
                    return [start, column, end, end_column]
                break
    return [line or 1, -1, -1, -1]


def _syntax_fault(error: SyntaxError, members: Collection[str], sources: dict[str, str], chain: list[Place]) -> Fault:
    name = error.filename or ""
    if name in members:
        column = byte_column(sources.get(name, ""), error.lineno or 1, error.offset)
        return fault(USER, error.msg, [[name, error.lineno or 1, column, -1, -1], *chain], code=type(error).__name__)
    where = f" ({name}, line {error.lineno})" if name else ""
    return fault(USER, f"{type(error).__name__}: {error.msg}{where}", chain, code=type(error).__name__)


def _import_fault(error: ImportError, chain: list[Place]) -> Fault:
    given = getattr(error, "help", None)
    if given:
        return fault(ENVIRONMENT, str(error), chain, help=given, code=type(error).__name__)
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        if top not in sys.modules and top not in sys.stdlib_module_names:
            wanted = _DISTRIBUTIONS.get(error.name) or _DISTRIBUTIONS.get(top) or top.replace("_", "-")
            return fault(
                ENVIRONMENT,
                f"The module {error.name!r} is not installed in {sys.executable}",
                chain,
                help=distributions.pip(wanted),
                code=type(error).__name__,
            )
    return fault(USER, f"{type(error).__name__}: {_text(error)}", chain, code=type(error).__name__)


def _text(error: BaseException) -> str:
    try:
        return _short(str(error))
    except BaseException:
        # Its own code, which may do anything.
        return ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def describe(error: BaseException) -> str:
    """The last words of an error in our own code or in a compiler's: what, and the innermost place."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    text = _text(error)
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"
