"""Which file an import statement means, in the workspace.

Regular and namespace packages, relative imports (by folder, so that a script in a folder without `__init__.py` may
use them), import roots, the importing file's own folder, editable installs. What isn't found is external:
third-party, standard library, or missing.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence

_NOTEBOOK = ".ipynb"

#: Compilers and array libraries: never workspace code, even where the workspace is their own repository, since a
#: slice of them can't run.
COMPILERS = frozenset(
    {
        "cuda.tile",
        "cuda.bindings",
        "cuda.core",
        "cuda.pathfinder",
        "torch",
        "triton",
        "numba",
        "numpy",
        "cupy",
        "jax",
        "llvmlite",
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module of the workspace."""

    name: str
    """Dotted, as it is imported."""
    path: str
    """Absolute; empty for a namespace package."""
    folder: str
    """Where its submodules are; empty for a module that is no package."""

    @property
    def package(self) -> bool:
        return bool(self.folder)


class Finder:
    """Finds modules by asking whether files exist. Remembers every path that it asked for in vain."""

    def __init__(
        self,
        exists: Callable[[str], bool],
        roots: Sequence[str],
        editable: Mapping[str, str],
        stdlib: frozenset[str] | None,
    ) -> None:
        self._exists = exists
        self._roots = tuple(os.path.normpath(root) for root in roots)
        self._editable = editable
        self._stdlib = sys.stdlib_module_names if stdlib is None else stdlib
        self._found: dict[tuple[str, str, bool], tuple[ModuleRef, ...]] = {}
        self._own: dict[tuple[str, int], ModuleRef] = {}

    def own(self, path: str, relative: int) -> ModuleRef:
        """The module that a file is, when nothing has imported it: named from the outermost package folder around it,
        or from the import root it is under, where its relative imports reach higher than that: by so many dots.
        """
        key = (path, relative)
        if key not in self._own:
            self._own[key] = self._name(path, relative)
        return self._own[key]

    def _name(self, path: str, relative: int) -> ModuleRef:
        folder, base = os.path.split(path)
        stem, suffix = os.path.splitext(base)
        if suffix == _NOTEBOOK:  # in no package, and another module than the file of that stem, which it may import
            return ModuleRef(_identifier(base), path, "")
        parts = [] if stem == "__init__" else [stem if stem.isidentifier() else _identifier(stem)]
        top = folder
        while os.path.basename(top).isidentifier() and self._exists(os.path.join(top, "__init__.py")):
            parts.insert(0, os.path.basename(top))
            top = os.path.dirname(top)
        above = any(top.startswith(root + os.sep) for root in self._roots)
        if relative > len(parts) - (stem != "__init__") and (above or top == folder):
            parts = self._under_root(top) + parts
        if not parts:
            parts = [_identifier(os.path.basename(folder) or "package")]
        if parts[0] in self._stdlib or _is_compiler(".".join(parts)):
            parts[0] += "_"  # so that whoever imports the other module of that name still finds it
        return ModuleRef(".".join(parts), path, folder if stem == "__init__" else "")

    def _under_root(self, folder: str) -> list[str]:
        for root in sorted(self._roots, key=len, reverse=True):
            if folder.startswith(root + os.sep):
                parts = folder[len(root) + 1 :].split(os.sep)
                if all(part.isidentifier() for part in parts):
                    return parts
        name = os.path.basename(folder)
        return [_identifier(name)] if name else []

    def absolute(self, dotted: str, importer: str) -> tuple[ModuleRef, ...]:
        """The module and the packages on the way to it, outermost first; empty if it isn't workspace code.

        `importer` is the path of the importing file.
        """
        top = dotted.partition(".")[0]
        if not dotted or top in self._stdlib or _is_compiler(dotted):
            return ()
        key = (dotted, os.path.dirname(importer), importer.endswith(_NOTEBOOK))
        if key not in self._found:
            self._found[key] = self._search(dotted, importer)
        return self._found[key]

    def _search(self, dotted: str, importer: str) -> tuple[ModuleRef, ...]:
        parts = dotted.split(".")
        if folder := self._editable.get(parts[0]):
            if found := self._in_folder(folder, parts, "")[0]:
                return found
            if self._exists(init := os.path.join(folder, "__init__.py")):  # the package's own folder was given
                top = ModuleRef(parts[0], init, folder)
                rest = self._in_folder(folder, parts[1:], parts[0])[0] if len(parts) > 1 else ()
                return (top, *rest) if rest or len(parts) == 1 else ()
        here = os.path.dirname(importer)
        outer = here
        while (
            not importer.endswith(_NOTEBOOK)
            and self._exists(os.path.join(outer, "__init__.py"))
            and os.path.dirname(outer) != outer
        ):
            outer = os.path.dirname(outer)
        for folder in dict.fromkeys((outer, *self._roots, here)):
            found, certain = self._in_folder(folder, parts, "")
            # A root that is a package by its `__init__.py` may still be what its files are imported from.
            above = any(root.startswith(folder.rstrip(os.sep) + os.sep) for root in self._roots)
            if found or (certain and not above):
                return found
        return ()

    def _in_folder(self, folder: str, parts: Sequence[str], prefix: str) -> tuple[tuple[ModuleRef, ...], bool]:
        """Modules along `parts` from a folder of `sys.path`, or none; True if an import would have stopped here
        either way."""
        refs: list[ModuleRef] = []
        certain = False
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            name = f"{prefix}.{part}" if prefix else part
            below = os.path.join(folder, part)
            if self._exists(path := os.path.join(below, "__init__.py")):
                refs.append(ModuleRef(name, path, below))
                certain = True
            elif self._exists(path := below + ".py"):
                return ((*refs, ModuleRef(name, path, "")), True) if last else ((), True)
            elif last:
                return (), certain
            else:
                refs.append(ModuleRef(name, "", below))
            folder, prefix = below, name
        return tuple(refs), True

    def relative(self, importer: ModuleRef, level: int, module: str) -> tuple[ModuleRef, ...]:
        """Like `absolute`, for `from ..module import`."""
        folder = os.path.dirname(importer.path) if importer.path else importer.folder
        package = importer.name if importer.package else importer.name.rpartition(".")[0]
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
            package = package.rpartition(".")[0]
        if not package:
            # Beyond what is known as a package: Python would refuse, unless the file was imported by another name.
            package = _identifier(os.path.basename(folder) or "package")
        parents = self._packages(package, folder)
        if not module:
            return parents
        found = self._in_folder(folder, module.split("."), package)[0]
        return (*parents, *found) if found else ()

    def _packages(self, dotted: str, folder: str) -> tuple[ModuleRef, ...]:
        """Refs of a package in `folder` and of those around it."""
        refs: list[ModuleRef] = []
        while dotted:
            init = os.path.join(folder, "__init__.py")
            refs.insert(0, ModuleRef(dotted, init if self._exists(init) else "", folder))
            dotted, folder = dotted.rpartition(".")[0], os.path.dirname(folder)
        return tuple(refs)

    def submodule(self, package: ModuleRef, name: str) -> ModuleRef | None:
        if not package.folder:
            return None
        found = self._in_folder(package.folder, [name], package.name)[0]
        return found[-1] if found else None

    def is_stdlib(self, dotted: str) -> bool:
        return dotted.partition(".")[0] in self._stdlib


def _is_compiler(dotted: str) -> bool:
    top, _, rest = dotted.partition(".")
    return top in COMPILERS or f"{top}.{rest.partition('.')[0]}" in COMPILERS


def _identifier(text: str) -> str:
    """`text` made into a name."""
    name = re.sub(r"\W", "_", text) or "_"
    return name if name.isidentifier() else f"_{name}"
