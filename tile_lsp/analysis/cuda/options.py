"""How the project compiles its CUDA files: settings, `compile_commands.json`, `CMakePresets.json`, in this order; where
nothing was built yet, the folders of headers that `CMakeLists.txt` names.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tile_lsp.model.job import Scalar
from tile_lsp.model.settings import Cuda

Read = Callable[[str], str | None]

#: Folders, from the workspace's on, in which build systems leave the list of their commands.
_BUILD = ("", "build", "out", "_build", "cmake-build-debug", "cmake-build-release")
_COMMANDS = "compile_commands.json"
_PRESETS = ("CMakePresets.json", "CMakeUserPresets.json")
_INCLUDED = re.compile(r"\b(?:target_)?include_directories\s*\(([^)]*)\)", re.IGNORECASE)
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d+[af]?)")
_FLAGS: Mapping[str, tuple[str, Scalar]] = {
    "use_fast_math": ("fastmath", True),
    "fmad": ("fmad", True),
    "ftz": ("ftz", True),
    "prec-div": ("prec_div", True),
    "prec-sqrt": ("prec_sqrt", True),
    "restrict": ("restrict", True),
    "maxrregcount": ("maxrregcount", 0),
}


class Options(NamedTuple):
    includes: tuple[str, ...] = ()
    """Folders, absolute, in the order in which they are looked through."""
    macros: tuple[tuple[str, str], ...] = ()
    standard: str | None = None
    """`c++17`."""
    targets: tuple[str, ...] = ()
    hints: tuple[tuple[str, Scalar], ...] = ()
    extra: tuple[str, ...] = ()
    """Options of NVRTC, as they stand."""
    files: frozenset[str] = frozenset()
    """What this was read from, or would be if it were there."""


def options_for(path: str, read: Read, roots: Sequence[str], settings: Cuda) -> Options:
    """Never raises: what can't be read counts for nothing."""
    commands, files = _commands(path, read, roots, settings)
    if commands:
        found = _of_command(*commands)
    else:
        found = _of_presets(read, roots, files)
        listed = _listed(path, read, roots, files)
        found = found._replace(includes=tuple(dict.fromkeys((*found.includes, *listed))))
    base = roots[0] if roots else os.path.dirname(path)
    own = tuple(os.path.normpath(os.path.join(base, os.path.expanduser(folder))) for folder in settings.include_paths)
    return Options(
        tuple(dict.fromkeys((*own, *found.includes))),
        tuple({**dict(found.macros), **settings.macros}.items()),
        settings.standard or found.standard,
        found.targets,
        found.hints,
        settings.options,
        frozenset(files),
    )


def _commands(
    path: str, read: Read, roots: Sequence[str], settings: Cuda
) -> tuple[tuple[str, tuple[str, ...]] | None, set[str]]:
    """Folder and words of the command that compiles a file; for a header, of a file beside it or of the first one."""
    if settings.compile_commands:
        base = roots[0] if roots else os.path.dirname(path)
        named = os.path.normpath(os.path.join(base, settings.compile_commands))
        places = [named, os.path.join(named, _COMMANDS)]
    else:
        places = [os.path.join(root, folder, _COMMANDS) for root in roots for folder in _BUILD]
    files = set(places)
    for place in places:
        if not os.path.isfile(place) or (text := read(place)) is None:
            continue
        table = _table(text)
        if not table:
            continue
        found = table.get(os.path.normpath(path)) or _nearest(table, path)
        if found is not None:
            return found, files
    return None, files


@functools.lru_cache(maxsize=8)
def _table(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            continue
        folder = str(entry.get("directory") or "")
        words = entry.get("arguments")
        if not isinstance(words, list):
            try:
                words = shlex.split(str(entry.get("command") or ""))
            except ValueError:
                continue
        found[os.path.normpath(os.path.join(folder, entry["file"]))] = (folder, tuple(map(str, words)))
    return found


def _nearest(table: Mapping[str, tuple[str, tuple[str, ...]]], path: str) -> tuple[str, tuple[str, ...]] | None:
    cuda = [name for name in table if name.endswith(".cu")]
    beside = [name for name in cuda if os.path.dirname(name) == os.path.dirname(path)]
    return table[(beside or cuda)[0]] if cuda else None


def _of_command(folder: str, command: Sequence[str]) -> Options:
    includes: list[str] = []
    macros: dict[str, str] = {}
    targets: list[str] = []
    hints: dict[str, Scalar] = {}
    standard = None
    words = iter(_spelt_out(command))
    for word in words:
        name, _, value = word.partition("=")
        if name in ("-I", "--include-path", "-isystem", "-isystem-include"):
            value = value or next(words, "")
            includes += [os.path.normpath(os.path.join(folder, one)) for one in value.split(",") if one]
        elif name in ("-D", "--define-macro"):
            _define(value if name == "--define-macro" and value else next(words, ""), macros)
        elif name in ("-U", "--undefine-macro"):
            macros.pop(value or next(words, ""), None)
        elif name in ("-std", "--std"):
            standard = value or next(words, None)
        elif name in ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"):
            text = word.partition("=")[2] if "=" in word else next(words, "")
            numbers = re.findall(r"sm_(\d+[af]?)", text) or _ARCHITECTURE.findall(text)
            targets += [f"sm_{number}" for number in numbers]
        elif (flag := name.lstrip("-")) in _FLAGS and name.startswith("-"):
            _hint(flag, value or (next(words, "") if flag == "maxrregcount" else ""), hints)
    return Options(
        tuple(dict.fromkeys(includes)),
        tuple(macros.items()),
        standard,
        tuple(dict.fromkeys(targets)),
        tuple(sorted(hints.items())),
    )


def _spelt_out(command: Sequence[str]) -> list[str]:
    """`-Iinclude` as `-I include`."""
    found: list[str] = []
    for word in command:
        glued = next((flag for flag in ("-I", "-D", "-U", "-isystem") if word.startswith(flag) and word != flag), None)
        if glued is not None and not word.startswith("-isystem-"):
            found += [glued, word[len(glued) :].removeprefix("=")]
        else:
            found.append(word)
    return found


def _define(text: str, macros: dict[str, str]) -> None:
    name, equals, value = text.partition("=")
    if name:
        macros[name] = value if equals else "1"


def _hint(flag: str, value: str, hints: dict[str, Scalar]) -> None:
    name, default = _FLAGS[flag]
    if name == "maxrregcount":
        if value.isdigit():
            hints[name] = int(value)
    else:
        hints[name] = default if value in ("", "true") else False


def _listed(path: str, read: Read, roots: Sequence[str], files: set[str]) -> list[str]:
    """Folders of headers in the `CMakeLists.txt` beside a file and above it, as far as they are spelt out."""
    found: list[str] = []
    folder = os.path.dirname(path)
    top = next((root for root in roots if path.startswith(root.rstrip("/") + "/")), folder)
    while folder.startswith(top):
        place = os.path.join(folder, "CMakeLists.txt")
        files.add(place)
        if os.path.isfile(place) and (text := read(place)) is not None:
            for match in _INCLUDED.finditer(text):
                for word in re.findall(r'[^\s"]+', match[1]):
                    for name, meant in (("CMAKE_CURRENT_SOURCE_DIR", folder), ("CMAKE_SOURCE_DIR", top)):
                        word = word.replace("${" + name + "}", meant)
                    word = word.replace("${PROJECT_SOURCE_DIR}", folder)
                    if "$" not in word and (path := os.path.normpath(os.path.join(folder, word))) not in found:
                        found += [path] if os.path.isdir(path) else []
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return found


def _of_presets(read: Read, roots: Sequence[str], files: set[str]) -> Options:
    """What the first preset that says something of CUDA says."""
    for root in roots:
        for name in _PRESETS:
            place = os.path.join(root, name)
            files.add(place)
            if not os.path.isfile(place) or (text := read(place)) is None:
                continue
            variables = _variables(text)
            if variables:
                options = _of_command(root, shlex.split(variables.get("CMAKE_CUDA_FLAGS", "")))
                standard = variables.get("CMAKE_CUDA_STANDARD")
                numbers = re.findall(r"\d+[af]?", variables.get("CMAKE_CUDA_ARCHITECTURES", ""))
                return options._replace(
                    standard=options.standard or (f"c++{standard}" if standard else None),
                    targets=options.targets or tuple(dict.fromkeys(f"sm_{number}" for number in numbers)),
                )
    return Options()


def _variables(text: str) -> dict[str, str]:
    try:
        presets: Any = json.loads(text)
        for preset in presets.get("configurePresets", ()):
            found = {
                str(name): str(value["value"] if isinstance(value, dict) else value)
                for name, value in (preset.get("cacheVariables") or {}).items()
                if str(name).startswith("CMAKE_CUDA_")
            }
            if found:
                return found
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        pass
    return {}
