"""What an interpreter has, seen from the engine: fingerprints for keys, and faults that say what mends a lack."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from tile_lsp.frontends import FRONTENDS
from tile_lsp.model.job import digest
from tile_lsp.model.outcome import Fault, FaultKind

from .interpreters import candidates
from .workers import Environment, WorkerPool

_WORKER = Path(__file__).parent.parent / "worker"


@functools.cache
def worker_fingerprint() -> str:
    """Of our side of every compiler: what an older tile-lsp made, or could not make, is not served by a newer one."""
    found = hashlib.sha256()
    for path in sorted(_WORKER.rglob("*.py")):
        found.update(str(path.relative_to(_WORKER)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def compiler_fingerprint(environment: Environment, frontend: str) -> str:
    """What inference and codegen depend on besides the job: interpreter, compiler, and the variables it reads."""
    info = environment.frontends.get(frontend)
    return digest(
        "compiler",
        worker_fingerprint(),
        environment.python,
        frontend,
        info.version if info else None,
        sorted(environment.environment.items()),
    )


def toolchain_fingerprint(environment: Environment, frontend: str) -> str:
    """The whole toolchain of a job: the compiler's fingerprint and every tool as it reports itself."""
    tools = sorted((tool.name, tool.version) for tool in environment.tools.values())
    return digest("toolchain", compiler_fingerprint(environment, frontend), tools)[:16]


def frontend_fault(environment: Environment, frontend: str) -> Fault | None:
    """Why a front end can't be used in this interpreter, with the command that mends it."""
    info = environment.frontends.get(frontend)
    if info is not None and info.error is None:
        return None
    message = (
        info.error if info is not None and info.error else f"{frontend} is not installed in {environment.executable}."
    )
    return Fault(FaultKind.ENVIRONMENT, message, help=info.help if info is not None else None, code="frontend")


async def environment_for(
    pool: WorkerPool, path: str, roots: Sequence[str], setting: str | None, frontend: str
) -> Environment | Fault:
    """The first interpreter for a file that has the front end; the setting's alone, where there is one, for kernels of
    Python. Those of another language have no interpreter of their own: any that has the compiler will do, ours too.

    If none has it, what the most likely one lacks.
    """
    lack: Fault | None = None
    drivers = drivers_of(frontend)
    for candidate in candidates(path, roots, setting):
        environment = await pool.environment(candidate.path, drivers)
        fault = environment if isinstance(environment, Fault) else frontend_fault(environment, frontend)
        if fault is None:
            return environment
        lack = lack or fault
        if setting and not drivers:
            break
    assert lack is not None
    return lack


def drivers_of(frontend: str) -> str:
    """See `frontends.base.Language.drivers`."""
    found = (other.language.drivers for other in FRONTENDS if other.name == frontend)
    return next((drivers for drivers in found if drivers), "")


def missing_tool(environment: Environment, tool: str) -> Fault:
    report = environment.reports.get(tool)
    message = (
        report.error
        if report is not None and report.error
        else f"{tool} is not installed for {environment.executable}."
    )
    return Fault(FaultKind.ENVIRONMENT, message, help=report.help if report is not None else None, code="tool")
