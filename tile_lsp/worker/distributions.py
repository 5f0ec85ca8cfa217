"""What is installed in this interpreter, as its metadata says; nothing is imported."""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from typing import Any


def version_of(distribution: str) -> str | None:
    """Version of an installed distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """`{"numpy": "numpy 2.1.0"}` for top-level import names. One that no distribution claims is told by its file's
    time and size;
    one that isn't there, or belongs to Python itself, is left out."""
    by_module = _by_module()
    versions = {}
    for module in modules:
        name = module.partition(".")[0]
        found = sorted(set(by_module.get(name, ())))
        if found:
            versions[module] = ", ".join(f"{distribution} {version_of(distribution)}" for distribution in found)
        elif name not in sys.stdlib_module_names:
            stamp = _stamp(name)
            if stamp is not None:
                versions[module] = stamp
    return versions


@functools.cache
def _by_module() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def _stamp(name: str) -> str | None:
    try:
        spec = importlib.machinery.PathFinder.find_spec(name)
    except Exception:
        return None
    if spec is None:
        return None
    try:
        status = os.stat(spec.origin or "")
    except OSError:
        return "unversioned"
    return f"file {status.st_mtime_ns} {status.st_size}"


def survey(names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Versions of the distributions named (a trailing `*` matches the rest), and the editable ones as {import name:
    path}.

    The path is the folder that holds the package or module.
    """
    wanted = tuple(names)
    versions: dict[str, str] = {}
    editable: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name is None:
            continue
        canonical = name.lower().replace("_", "-")
        if any(canonical == want or (want.endswith("*") and canonical.startswith(want[:-1])) for want in wanted):
            versions.setdefault(canonical, distribution.version)
        if _is_editable(distribution):
            editable.update(_editable_modules(distribution))
    return dict(sorted(versions.items())), dict(sorted(editable.items()))


def _is_editable(distribution: importlib.metadata.Distribution) -> bool:
    try:
        text = distribution.read_text("direct_url.json")
        return bool(text) and bool(json.loads(text).get("dir_info", {}).get("editable"))
    except (OSError, ValueError):
        return False


def _editable_modules(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, str]]:
    """An editable install is a `.pth` file with folders, or a finder module with a table."""
    for file in distribution.files or ():
        path = str(distribution.locate_file(file))
        try:
            if path.endswith(".pth"):
                with open(path, encoding="utf-8") as lines:
                    for line in lines:
                        if os.path.isdir(line.strip()):
                            yield from _modules_in(line.strip())
            elif os.path.basename(path).startswith("__editable__"):
                yield from _finder_table(path).items()
        except (OSError, ValueError, SyntaxError):
            continue


def _modules_in(folder: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            stem, extension = os.path.splitext(entry.name)
            if extension == ".py" and stem.isidentifier() and stem not in ("setup", "conftest"):
                yield stem, folder
            elif entry.name.isidentifier() and os.path.exists(os.path.join(entry.path, "__init__.py")):
                yield entry.name, folder


def _finder_table(path: str) -> dict[str, str]:
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for statement in tree.body:
        targets: list[Any] = getattr(statement, "targets", [getattr(statement, "target", None)])
        if any(isinstance(target, ast.Name) and target.id == "MAPPING" for target in targets):
            table = ast.literal_eval(statement.value)  # type: ignore[attr-defined]
            # The table names the package's own folder, or the module's file without its extension or with it.
            return {str(name): os.path.dirname(str(place)) for name, place in table.items() if "." not in name}
    return {}


def watched() -> list[tuple[str, int, int]]:
    """Path, modification time (ns) and size of what changes when something is installed or removed here."""
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path}
    paths = sorted(entry for entry in folders if entry and os.path.isdir(entry) and "site-packages" in entry)
    paths.append(os.path.join(sys.prefix, "pyvenv.cfg"))
    return [stamp for path in paths if (stamp := stamp_of(path)) is not None]


def stamp_of(path: str) -> tuple[str, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


def pip(*requirements: str) -> str:
    """The command that installs into this very interpreter."""
    words = [f"'{word}'" if any(c in word for c in "[]<>=*~! ") else word for word in requirements]
    python = f"'{sys.executable}'" if " " in sys.executable else sys.executable
    install = " ".join([python, "-m pip install", *words])
    if importlib.util.find_spec("pip") is not None:
        return install
    if shutil.which("uv"):
        return " ".join(["uv pip install --python", python, *words])
    return f"{python} -m ensurepip && {install}"
