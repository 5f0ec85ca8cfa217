"""The settings that a workspace's files hold: `tile-lsp.toml`, or `[tool.tile-lsp]` in pyproject.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.job import Config
from tile_lsp.model.location import SourceRange, Span
from tile_lsp.model.settings import KernelSettings, SettingProblem, Settings, as_written, decode, merge, value_at
from tile_lsp.model.toml import TomlSection, read_toml

#: Files that may hold settings, with the table that does; the first of a folder that has them counts.
SOURCES = (("tile-lsp.toml", ()), ("pyproject.toml", ("tool", "tile-lsp")))

#: For the editor's own settings only: a workspace must not vouch for itself.
_NOT_IN_FILES = frozenset({"trust"})


class FileProblem(NamedTuple):
    """Something wrong in a settings file, where it is written."""

    path: str
    message: str
    span: Span


class SettingsFile(NamedTuple):
    """Where the settings of a source file are written, or would be."""

    path: str
    span: Span
    exists: bool


def is_settings_file(path: str) -> bool:
    """True of a name that settings are written under, in whatever folder."""
    return os.path.basename(path) in {name for name, _ in SOURCES}


def settings_file(path: str, roots: Sequence[str], read: Callable[[str], str | None]) -> SettingsFile:
    """The file with the settings of the workspace's folder that `path` is in: `tile-lsp.toml` where none has any."""
    around = [root for root in roots if path.startswith(os.path.join(root, ""))]
    folder = max(around, key=len, default=os.path.dirname(path))
    for name, table in SOURCES:
        found = os.path.join(folder, name)
        text = read(found)
        section = read_toml(text, table) if text is not None else None
        if section is not None and (section.values or not table):
            return SettingsFile(found, section.locate(()), True)
    return SettingsFile(os.path.join(folder, SOURCES[0][0]), Span(1, 0, 1, 0), False)


def workspace_settings(
    roots: Sequence[str],
    read: Callable[[str], str | None],
    editor: Mapping[str, Any] | None = None,
    refusal: Callable[[str], str | None] = lambda path: None,
) -> tuple[Settings, tuple[FileProblem, ...], tuple[SettingProblem, ...]]:
    """The settings of a workspace: its folders' files, then the editor's over them.

    With what is wrong in files, and what is wrong in the editor's. Never raises: what is wrong is left at its default.
    `refusal`: why `read` has nothing of a file that is there.
    """
    problems: list[FileProblem] = []
    values: dict[str, Any] = {}
    for root in reversed(roots):  # the first folder has the last word
        values = merge(values, _of_folder(root, read, problems))
        problems += [
            FileProblem(path, f"it {why}: no settings come from it", Span(1, 0, 1, 0))
            for path in (os.path.join(root, name) for name, _ in SOURCES)
            if (why := refusal(path))
        ]
    _, editor_problems = decode(editor or {})
    settings, _ = decode(merge(values, editor or {}))
    return settings, tuple(problems), editor_problems


def written_setting(
    settings: Settings, keys: tuple[str, ...], roots: Sequence[str], read: Callable[[str], str | None]
) -> tuple[str, SourceRange | None]:
    """Where a value of `workspace_settings` came from: in words, and its key in its file; none for the editor's."""
    for root in roots:
        for path, table, section in _sections(root, read):
            theirs, _ = decode(section.values)
            if section.values and value_at(theirs, keys) == value_at(settings, keys):
                written = as_written(section.values, keys)
                where = f"{os.path.basename(path)}, {'.'.join(map(_toml_key, (*table, *written)))}"
                return where, SourceRange(path, section.locate(written))
            if section.values:
                break
    return f"the editor's setting {'.'.join(map(_toml_key, ('tile-lsp', *keys)))}", None


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else f'"{key}"'


def _sections(root: str, read: Callable[[str], str | None]) -> Iterator[tuple[str, tuple[str, ...], TomlSection]]:
    for name, table in SOURCES:
        path = os.path.join(root, name)
        text = read(path)
        if text is not None:
            yield path, table, read_toml(text, table)


def _of_folder(root: str, read: Callable[[str], str | None], problems: list[FileProblem]) -> Mapping[str, Any]:
    for path, table, section in _sections(root, read):
        if section.error is not None:
            message, span = section.error
            problems.append(FileProblem(path, message, span))
        if section.values or (section.error is not None and not table):
            return _checked(path, section, problems)
    return {}


def _checked(path: str, section: TomlSection, problems: list[FileProblem]) -> Mapping[str, Any]:
    settings, wrong = decode(section.values)
    problems += [FileProblem(path, p.message, section.locate(p.path)) for p in (*wrong, *_meaningless(settings))]
    for name in section.values:
        if name.lower() in _NOT_IN_FILES:
            message = f"`{name}` is for the editor's own settings: a workspace can't vouch for itself"
            problems.append(FileProblem(path, message, section.locate((name,))))
    return {name: value for name, value in section.values.items() if name.lower() not in _NOT_IN_FILES}


def _meaningless(settings: Settings) -> Iterator[SettingProblem]:
    """Targets and hints that no kernel language has. What only some have is for their kernels to say."""
    tables: list[tuple[tuple[str, ...], Settings | KernelSettings]] = [((), settings)]
    tables += [(("kernels", pattern), kernel) for pattern, kernel in settings.kernels.items()]
    for path, table in tables:
        for target in table.targets:
            if not _is_taken(Config(target)):
                message = f"`{target}` is a target of no kernel language: they have such as sm_90 and gfx942"
                yield SettingProblem((*path, "targets"), message)
        for name, value in table.hints.items():
            if not _is_taken(Config(hints=((name, value),))):
                yield SettingProblem((*path, "hints", name), f"no kernel language takes the hint {name} = {value}")


def _is_taken(config: Config) -> bool:
    return any(frontend.check_config(config) is None for frontend in FRONTENDS)
