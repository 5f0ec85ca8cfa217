"""What a compilation came to: artifacts and faults. A fault is a value, never an exception that crosses a layer."""

from __future__ import annotations

import enum

import msgspec

from .location import Chain, Place
from .stage import Stage


class FaultKind(enum.StrEnum):
    """Whose fault it is, which decides how long it is remembered."""

    USER = "user"
    """The kernel's: type error, unsupported syntax. A result like any other, cached and persisted."""
    ENVIRONMENT = "environment"
    """Tool missing, crash, timeout, out of memory. Not persisted, not retried until something changes."""


class Severity(enum.StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why there is no artifact."""

    kind: FaultKind
    message: str
    chain: Chain = ()
    """Where, innermost first; empty where the compiler gave no place (then it is shown on the kernel's name)."""
    help: str | None = None
    """The command or setting that mends it."""
    code: str | None = None
    """The compiler's own name for the error, such as `TypeCheckingError`."""
    argument: str | None = None
    """The argument that it is of, where what was given for that is wrong."""
    others: tuple[Fault, ...] = ()
    """What else is wrong, each at its own place, where one step found it all."""
    passed_over: bool = False
    """Who launches the kernel takes another of its configs in place of this one: no error of the kernel."""

    @property
    def each(self) -> tuple[Fault, ...]:
        """This one and the others."""
        others = tuple(msgspec.structs.replace(other, passed_over=self.passed_over) for other in self.others)
        return (self, *others) if others else (self,)

    @property
    def severity(self) -> Severity:
        if self.passed_over:
            return Severity.INFORMATION
        return Severity.ERROR if self.kind is FaultKind.USER else Severity.WARNING


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """A note from a compiler that is no fault."""

    message: str
    severity: Severity = Severity.INFORMATION
    chain: Chain = ()
    code: str | None = None


class TypeRecord(msgspec.Struct, frozen=True, array_like=True):
    """The type that the compiler gave to one range of source, on one path of inlining."""

    chain: Chain
    """The typed range first, then the call sites through which this record was reached."""
    kind: str
    """`param`, `store` (an assignment target), `declared` (one whose type the text says), `load` (a name read) or
    `expr`.
    """
    type: str
    """In the language's own notation: `Tile[float16,(128,64)]`."""
    name: str | None = None
    constant: str | None = None
    """The value, where the compiler knows it."""
    facts: tuple[tuple[str, str], ...] = ()
    """What else is known, in order: `("divisible by", "16")`, `("strides", "(?, 1)")`."""
    scope: str | None = None
    """The function or class that it is in, where that is another than the kernel and its text says less of it than its
    language does: `ops::scaled<float, 8>`."""


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stage's text, with the source of each of its lines.

    `lines[i]` holds the chains that line `i` (0-based) of `text` came from, most specific first, and may be shorter
    than the text. Text holds no source line numbers: those are added when it is served, from `lines`, at the lines of
    that moment.
    """

    stage: Stage
    text: str
    lines: tuple[tuple[Chain, ...], ...] = ()
    data: bytes = b""
    """The binary form, for stages that have one (`cubin`)."""
    remarks: tuple[Remark, ...] = ()


class Inference(msgspec.Struct, frozen=True, omit_defaults=True):
    """An inference entry: what the front end made of (function version, arguments), shared by all configs."""

    types: tuple[TypeRecord, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Types recorded before a fault are good: they stay."""
    hir: Artifact | None = None
    typed: Artifact | None = None
    reached: tuple[str, ...] = ()
    """Ids of the function members that inference entered: what this specialisation depends on among functions."""
    inputs: tuple[tuple[str, str, str], ...] = ()
    """What was read from outside the closure while it was loaded: `file` or `environment`, its path or name, and a
    digest of what was there, empty for nothing."""
    inactive: tuple[Place, ...] = ()
    """What the constants of this specialisation rule out: nothing was generated for it."""
    remarks: tuple[Remark, ...] = ()
    """What is no fault, and surely not meant either: single precision that turns double."""
    output: str = ""
    """What the user's code printed while it was loaded (its tail)."""
