"""`tile-lsp doctor`: the interpreters that kernels here may run in, what each has, and what mends what it lacks."""

from __future__ import annotations

import asyncio
import os
import platform
import re
from collections.abc import Iterable, Iterator

import msgspec

from tile_lsp import __version__
from tile_lsp.engine.interpreters import Candidate, candidates
from tile_lsp.engine.own_tools import NAMES, own_tool
from tile_lsp.engine.session import Session, cache_directory
from tile_lsp.engine.workers import Environment
from tile_lsp.model.outcome import Fault

from .cache import size
from .exits import Exit
from .output import write
from .source import short_path
from .workspace import OneFile


def run(python: str | None) -> Exit:
    return asyncio.run(_run(python))


async def _run(python: str | None) -> Exit:
    here = OneFile.at(os.path.join(os.getcwd(), "kernel.py"), python, checked=False)
    found = _distinct(candidates(here.path, (here.root,), here.settings.python))
    if python is not None:
        found = found[:1]
    write(f"tile-lsp {__version__} on Python {platform.python_version()}\n")
    directory = cache_directory(here.settings)
    limit = f"{directory}, at most {size(here.settings.cache.size)}" if directory else "turned off by the settings"
    write(f"cache: {limit}\n")
    for line in own_tools():
        write(f"{line}\n")
    environments = []
    for candidate in found:
        async with here.with_python(candidate.path).session() as session:
            environments.append(await _both(session, here.path))
    fit = [has_frontend(environment) for environment in environments]
    # As the engine chooses: a setting counts alone, else the first that has a compiler, else the first.
    used = 0 if here.settings.python or not any(fit) else fit.index(True)
    for index, (candidate, environment) in enumerate(zip(found, environments, strict=True)):
        note = " (used for kernels here)" if index == used else ""
        write(f"\n{short_path(candidate.path)}, {candidate.source}{note}\n")
        write("".join(f"  {line}\n" for line in report(environment)))
    return Exit.OK if is_usable(environments[used]) else Exit.ENVIRONMENT


async def _both(session: Session, path: str) -> Environment | Fault:
    """What an interpreter has for Python's kernels, and for those of CUDA C++, which have a worker of their own."""
    python = await session.environment(path)
    cuda = await session.environment(f"{os.path.splitext(path)[0]}.cu")
    if isinstance(python, Fault) or isinstance(cuda, Fault):
        return python
    return msgspec.structs.replace(python, frontends={**python.frontends, **cuda.frontends})


def own_tools() -> Iterator[str]:
    """What the server brings along, and the command that mends a lack."""
    for name in sorted(NAMES):
        tool = own_tool(name)
        if isinstance(tool, Fault):
            yield f"missing: {tool.message}"
            yield f"  {tool.help}"
        else:
            yield f"{name}: {tool.version.partition(',')[0]}"


def _distinct(found: Iterable[Candidate]) -> list[Candidate]:
    """An environment's `python` and `python3` are one: links of one folder to one file."""
    known: dict[tuple[str, str], Candidate] = {}
    for candidate in found:
        known.setdefault((os.path.dirname(candidate.path), os.path.realpath(candidate.path)), candidate)
    return list(known.values())


def has_frontend(environment: Environment | Fault) -> bool:
    return not isinstance(environment, Fault) and any(info.error is None for info in environment.frontends.values())


def is_usable(environment: Environment | Fault) -> bool:
    """True if some front end works, and nothing that is known of is missing."""
    return (
        not isinstance(environment, Fault)
        and has_frontend(environment)
        and all(report.path is not None for report in environment.reports.values())
    )


def report(environment: Environment | Fault) -> Iterator[str]:
    """What an interpreter has and lacks, with the command that mends it."""
    if isinstance(environment, Fault):
        yield from environment.message.splitlines()
        if environment.help:
            yield f"  {environment.help}"
        return
    yield f"Python {environment.python}"
    lacking = []
    for name, info in environment.frontends.items():
        if info.error is None:
            yield f"{name:<13} {info.version}"
        else:
            lacking.append((info.error, info.help))
    for name, tool in environment.reports.items():
        if tool.path is not None:
            yield f"{name:<13} {tool_version(tool.version):<10} {tool.path}"
        else:
            lacking.append((tool.error, tool.help))
    for name, value in environment.environment.items():
        yield f"{name}={value}"
    for error, command in dict.fromkeys(lacking):
        yield f"missing: {error}"
        if command:
            yield f"  {command}"


def tool_version(text: str) -> str:
    """`13.4.92` from what a tool prints of its own version."""
    found = re.search(r"\bV(\d+(?:\.\d+)+)", text) or re.search(r"(\d+(?:\.\d+)+)", text)
    return found[1] if found else "?"
