"""The settings: one schema for `[tool.tile-lsp]` in pyproject.toml, `tile-lsp.toml` and the editor's configuration.

Names are a contract. Files spell them with dashes (`extra-roots`), editors in camel case (`extraRoots`); either is
understood everywhere. Names of kernels, arguments and hints are taken as they stand.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from .job import Scalar

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30

Loading = Literal["auto", "slice", "import"]
Trust = Literal["editor", "always", "never"]


class KernelSettings(msgspec.Struct, frozen=True):
    """What `kernels."<glob>"` says of the kernels whose names match."""

    arguments: Mapping[str, str] = {}
    """Argument name → spec, in the front end's notation."""
    targets: tuple[str, ...] = ()
    hints: Mapping[str, Scalar] = {}


class Timeouts(msgspec.Struct, frozen=True):
    """In seconds."""

    inference: float = 60.0
    """For one load and inference in a worker."""
    tool: float = 120.0
    """For one run of an assembler or disassembler."""


class Cache(msgspec.Struct, frozen=True):
    """Where artifacts are kept between sessions."""

    enabled: bool = True
    directory: str | None = None
    """None: the user's cache folder."""
    size: int = 2 * _GIB
    """In bytes; beyond it the least used entries go. Text such as `"500 MiB"` is understood."""


class Cuda(msgspec.Struct, frozen=True):
    """How CUDA C++ is compiled, beside what `compile_commands.json` or `CMakePresets.json` says."""

    include_paths: tuple[str, ...] = ()
    """Folders that headers are looked for in, relative to the workspace."""
    macros: Mapping[str, str] = {}
    """Name → value, as `-D` defines them."""
    standard: str | None = None
    """`"c++17"`, `"c++20"`. None: the build system's, else the compiler's own."""
    options: tuple[str, ...] = ()
    """Further options of NVRTC, such as `"--extra-device-vectorization"`."""
    compile_commands: str | None = None
    """A `compile_commands.json`, or the folder that holds it. None: looked for in the workspace and in `build`."""


class Settings(msgspec.Struct, frozen=True):
    """All settings, each with its default."""

    targets: tuple[str, ...] = ()
    """For kernels that name none. Empty: the local GPU's."""
    hints: Mapping[str, Scalar] = {}
    """For kernels that give none."""
    python: str | None = None
    """The interpreter that has the kernels' compiler. None: the workspace's virtual environment, else PATH's."""
    extra_roots: tuple[str, ...] = ()
    """Further folders that imports are looked for in, relative to the workspace."""
    kernels: Mapping[str, KernelSettings] = {}
    """By glob over a kernel's qualified name, or over `path::name`."""
    code_lens: bool = True
    inlay_hints: bool = True
    remarks: bool = True
    """Show the compiler's remarks as diagnostics."""
    llvm_remarks: bool = False
    """Ask LLVM's own optimiser about a kernel's LLVM IR, once nobody types, and show what it says as hints."""
    trust: Trust = "editor"
    """Whether code of the workspace may be executed: as the editor says, or always, or never. For the editor's own
    settings only: a workspace must not vouch for itself.
    """
    loading: Loading = "auto"
    """`slice`: never execute a whole module, even where a kernel can't be had otherwise. `import`: always the whole
    module, for kernels that depend on what it does to its objects in ways that can't be followed.
    """
    timeouts: Timeouts = Timeouts()
    memory: int = 4 * _GIB
    """Most memory of one worker, in bytes. Text such as `"2 GiB"` is understood."""
    cache: Cache = Cache()
    cuda: Cuda = Cuda()

    def for_kernel(self, name: str, path: str = "") -> KernelSettings:
        """What applies to one kernel: the general settings, then each matching glob in the order of the file."""
        arguments: dict[str, str] = {}
        targets, hints = self.targets, dict(self.hints)
        for _, kernel in self._matching(name, path):
            arguments.update(kernel.arguments)
            targets = kernel.targets or targets
            hints.update(kernel.hints)
        return KernelSettings(arguments, targets, hints)

    def keys_of(self, setting: tuple[str, ...], name: str, path: str = "") -> tuple[str, ...]:
        """The keys, outermost first, under which stands what `for_kernel` gives for one of its own."""
        last = setting
        for pattern, kernel in self._matching(name, path):
            if value_at(kernel, setting) not in (None, ()):
                last = ("kernels", pattern, *setting)
        return last

    def _matching(self, name: str, path: str) -> Iterator[tuple[str, KernelSettings]]:
        for pattern, kernel in self.kernels.items():
            if fnmatch.fnmatchcase(name, pattern) or (path and fnmatch.fnmatchcase(f"{path}::{name}", pattern)):
                yield pattern, kernel


class SettingProblem(msgspec.Struct, frozen=True):
    """What is wrong with a setting."""

    path: tuple[str, ...]
    """Keys as they are written, outermost first; empty for the settings as a whole."""
    message: str


def value_at(settings: Settings | KernelSettings, keys: Sequence[str]) -> Any:
    """What stands under keys, those of the schema spelt as its fields are; None for nothing."""
    value: Any = settings
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
    return value


def as_written(values: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
    """The keys as plain values spell them: `extra_roots` is `extraRoots` in some files."""
    found: list[str] = []
    value: Any = values
    for key in keys:
        known = value if isinstance(value, Mapping) else {}
        found.append(key if key in known else next((one for one in known if _plain(one) == _plain(key)), key))
        value = known.get(found[-1])
    return tuple(found)


def decode(values: object) -> tuple[Settings, tuple[SettingProblem, ...]]:
    """The settings that plain values give. Never raises: what is wrong is reported and left at its default."""
    problems: list[SettingProblem] = []
    settings = _Reader(problems).struct(values, (), Settings)
    return settings, tuple(problems)


def merge(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of several sources in one mapping, later ones winning key by key, however a key is spelt."""
    merged: dict[str, Any] = {}
    for source in sources:
        for key, value in source.items():
            if not isinstance(key, str):
                continue
            known = next((k for k in merged if _plain(k) == _plain(key)), key)
            old = merged.get(known)
            merged[known] = _merged(old, value, free=_plain(key) in _FREE)
    return merged


#: Tables whose keys are names of the user's, not of the schema.
_FREE = frozenset({"hints", "kernels", "arguments", "macros"})


def _merged(old: Any, new: Any, free: bool) -> Any:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    if not free:
        return merge(old, new)
    return {**old, **{key: _merged(old.get(key), value, False) for key, value in new.items()}}


def _plain(key: str) -> str:
    return re.sub(r"[-_]", "", key).lower()


class _Reader:
    def __init__(self, problems: list[SettingProblem]) -> None:
        self.problems = problems
        self.by_field: dict[str, Callable[[object, tuple[str, ...]], Any]] = {
            "targets": self.targets,
            "hints": self.hints,
            "python": self.text,
            "extra_roots": self.texts,
            "kernels": self.kernels,
            "arguments": self.arguments,
            "code_lens": self.flag,
            "inlay_hints": self.flag,
            "remarks": self.flag,
            "llvm_remarks": self.flag,
            "trust": lambda value, path: self.choice(value, path, Trust),
            "loading": lambda value, path: self.choice(value, path, Loading),
            "timeouts": lambda value, path: self.struct(value, path, Timeouts),
            "inference": self.seconds,
            "tool": self.seconds,
            "memory": self.size,
            "cache": lambda value, path: self.struct(value, path, Cache),
            "enabled": self.flag,
            "directory": self.text,
            "size": self.size,
            "cuda": lambda value, path: self.struct(value, path, Cuda),
            "include_paths": self.texts,
            "macros": self.macros,
            "standard": self.text,
            "options": self.texts,
            "compile_commands": self.text,
        }

    def problem(self, path: tuple[str, ...], message: str) -> None:
        self.problems.append(SettingProblem(path, message))

    def wrong(self, value: object, path: tuple[str, ...], wanted: str) -> None:
        self.problem(path, f"{path[-1] if path else 'settings'}: expected {wanted}, not {_shown(value)}")

    def struct(self, value: object, path: tuple[str, ...], kind: type[Any]) -> Any:
        if value is None:
            return kind()
        if not isinstance(value, Mapping):
            self.wrong(value, path, "a table")
            return kind()
        fields = {_plain(name): name for name in kind.__struct_fields__}
        found: dict[str, Any] = {}
        for key, inner in value.items():
            field = fields.get(_plain(str(key)))
            here = (*path, str(key))
            if field is None:
                self.problem(here, _unknown_key(str(key), [name.replace("_", "-") for name in fields.values()]))
            elif inner is not None:
                # Editors send null for what is not set.
                read = self.by_field[field](inner, here)
                if read is not None:
                    found[field] = read
        return kind(**found)

    def flag(self, value: object, path: tuple[str, ...]) -> bool | None:
        if isinstance(value, bool):
            return value
        return self.wrong(value, path, "true or false")

    def text(self, value: object, path: tuple[str, ...]) -> str | None:
        if isinstance(value, str):
            return value or None
        return self.wrong(value, path, "text")

    def texts(self, value: object, path: tuple[str, ...]) -> tuple[str, ...] | None:
        if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return self.wrong(value, path, "a list of texts")

    def targets(self, value: object, path: tuple[str, ...]) -> tuple[str, ...] | None:
        if isinstance(value, str):
            return tuple(part for part in re.split(r"[,\s]+", value) if part)
        return self.texts(value, path)

    def choice(self, value: object, path: tuple[str, ...], kind: Any) -> Any:
        allowed = kind.__args__
        if value in allowed:
            return value
        return self.wrong(value, path, f"one of {', '.join(allowed)}")

    def seconds(self, value: object, path: tuple[str, ...]) -> float | None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf"):
            return float(value)
        return self.wrong(value, path, "a number of seconds above 0")

    def size(self, value: object, path: tuple[str, ...]) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        found = (
            re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?\s*", value.lower()) if isinstance(value, str) else None
        )
        if found and float(found[1]) > 0:
            return int(float(found[1]) * {"": 1, "k": _KIB, "m": _MIB, "g": _GIB}[found[2]])
        return self.wrong(value, path, 'a number of bytes, or text such as "2 GiB"')

    def hints(self, value: object, path: tuple[str, ...]) -> Mapping[str, Scalar] | None:
        if not isinstance(value, Mapping):
            return self.wrong(value, path, "a table of hints")
        found: dict[str, Scalar] = {}
        for name, hint in value.items():
            if isinstance(hint, (bool, int, float, str)):
                found[str(name)] = hint
            elif hint is not None:
                self.wrong(hint, (*path, str(name)), "a number or text")
        return found

    def arguments(self, value: object, path: tuple[str, ...]) -> Mapping[str, str] | None:
        if not isinstance(value, Mapping):
            return self.wrong(value, path, "a table of arguments")
        found: dict[str, str] = {}
        for name, spec in value.items():
            if isinstance(spec, str):
                found[str(name)] = spec
            elif isinstance(spec, (bool, int, float)):
                found[str(name)] = repr(spec)
            elif spec is not None:
                self.wrong(spec, (*path, str(name)), 'a number, or text such as "f16[4096,4096]"')
        return found

    def macros(self, value: object, path: tuple[str, ...]) -> Mapping[str, str] | None:
        if not isinstance(value, Mapping):
            return self.wrong(value, path, "a table of macros")
        found: dict[str, str] = {}
        for name, macro in value.items():
            if isinstance(macro, bool):
                found[str(name)] = str(int(macro))
            elif isinstance(macro, (str, int, float)):
                found[str(name)] = str(macro)
            elif macro is not None:
                self.wrong(macro, (*path, str(name)), "a number or text")
        return found

    def kernels(self, value: object, path: tuple[str, ...]) -> Mapping[str, KernelSettings] | None:
        if not isinstance(value, Mapping):
            return self.wrong(value, path, "a table by kernel name")
        return {str(name): self.struct(inner, (*path, str(name)), KernelSettings) for name, inner in value.items()}


def _unknown_key(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key.lower().replace("_", "-"), known, n=1)
    return f"there is no setting `{key}`; " + (
        f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
    )


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}.get(value, repr(value)) if isinstance(value, bool) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
