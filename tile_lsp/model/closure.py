"""A kernel's closure: the slice of the workspace that its meaning depends on, at normalised positions.

Each top-level statement that a kernel needs is a *member*. A member's text is normalised (`ast.unparse`, docstrings
dropped), has a file name of its own (its id), and starts at line 1: so comments, blank lines, formatting and
neighbours change neither what the compiler reads nor the locations it writes. `analysis.positions` turns a `Place` of
a member into today's source range.
"""

from __future__ import annotations

import enum

import msgspec

from .location import Span


class Loading(enum.StrEnum):
    """How the kernel is obtained in the worker."""

    SLICE = "slice"
    """Only its members are executed."""
    IMPORT = "import"
    """The whole module is executed, since a slice would not be sound; trusted workspaces only."""


class Member(msgspec.Struct, frozen=True, omit_defaults=True):
    """One top-level statement of one module."""

    id: str
    """`"<dotted module>/<bound name>"`, unique in the closure; also the file name that compilers see."""
    module: str
    text: str
    """Normalised; executed with `id` as its file name."""
    function: bool = False
    """True for a `def`: may be left out of a specialisation's dependencies where inference never enters it."""
    future: tuple[str, ...] = ()
    """`__future__` features in force."""


class Module(msgspec.Struct, frozen=True, omit_defaults=True):
    """One workspace module of the closure, with its members in the order in which they are executed."""

    name: str
    """As it is imported (`pkg.helpers`); the kernel's own module by the name it would have."""
    path: str
    """Absolute path: `__file__`; no part of the version unless the code reads `__file__`."""
    package: bool
    members: tuple[Member, ...]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """How to reach the kernel object once its module has been executed."""

    module: str
    expression: str
    """Evaluated in the module's namespace: `"matmul"`, `"Ops.scale"`, `"make_kernel(128)"`, `"k32"`."""
    qualname: str
    """The `__qualname__` of the kernel's function, `"make_kernel.<locals>.kernel"`."""
    parameters: tuple[str, ...] = ()


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that the author should know of how the kernel was obtained (shown in its hover)."""

    message: str
    span: Span | None = None


class Closure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is sent to a worker, and what is digested."""

    version: str
    """The function version."""
    entry: Entry
    modules: tuple[Module, ...]
    """The kernel's own module first."""
    externals: tuple[str, ...] = ()
    """Third-party top-level modules that members import, by import name."""
    roots: tuple[str, ...] = ()
    """Folders put on `sys.path` for the load (not part of the version)."""
    loading: Loading = Loading.SLICE
    notes: tuple[Note, ...] = ()
    covers: tuple[str, ...] = ()
    """Digests of what else the meaning may depend on: the text of a module in which a name stays unresolved, a path
    that is read through `__file__`."""

    def digest_of(self, functions: frozenset[str]) -> str:
        """The version seen by a specialisation that entered just these function members."""
        from .job import digest

        kept = [
            (m.id, m.text, m.future)
            for module in self.modules
            for m in module.members
            if not m.function or m.id in functions
        ]
        return digest(msgspec.to_builtins(self.entry), self.externals, self.loading, kept, self.covers)
