"""What LLVM's own optimiser and its NVPTX make of a module."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from modules import load, numbered

_REMARK = re.compile(r"^remark: .*?:(\d+):\d+: (.*)$", re.MULTILINE)
_UNKNOWN = "is not a recognized processor"
#: What a reader of kernels can't act upon: a thread has no vectors, and addresses are moved about all the time.
_IDLE = re.compile(r"marked as tail call candidate|loop not vectorized|hoisting (?!load)")


def remarks(text: str, cpu: str) -> str:
    """Of LLVM's pipeline, each once, in its order: `!N: MESSAGE`, where N is a node of the text's debug information."""

    def work() -> str:
        llvm.set_option("tile-lsp", "-pass-remarks=.*")
        llvm.set_option("tile-lsp", "-pass-remarks-missed=.*")
        module = load(numbered(text))
        _optimize(module, _machine(module, cpu))
        return ""

    _, said = _apart(work)
    found = (f"!{int(line) - 1}: {message}" for line, message in _REMARK.findall(said) if int(line))
    return "".join(f"{line}\n" for line in dict.fromkeys(found) if not _IDLE.search(line))


def assembly(text: str, cpu: str, *, optimize: bool) -> str:
    """PTX. Raises `ValueError` for an architecture that this LLVM does not know."""

    def work() -> str:
        module = load(text)
        machine = _machine(module, cpu)
        if optimize:
            _optimize(module, machine)
        return machine.emit_assembly(module)

    made, said = _apart(work)
    if _UNKNOWN in said:
        raise ValueError(f"LLVM {'.'.join(map(str, llvm.llvm_version_info))} knows no {cpu}")
    return made


def _optimize(module: Any, machine: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)


def _machine(module: Any, cpu: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(module.triple).create_target_machine(cpu=cpu, opt=3)


def _apart(work: Callable[[], str]) -> tuple[str, str]:
    """What it answers, and what LLVM says meanwhile, which it writes on standard error itself, past Python's.

    In a child: should LLVM end the process, its last words are there to be said, and this one ends as the child did.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as words:
        child = os.fork()
        if child == 0:
            os.dup2(words.fileno(), 2)
            code = 1
            try:
                answer.write(work().encode())
                answer.flush()
                code = 0
            except (RuntimeError, ValueError) as error:
                os.write(2, str(error).encode())
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        words.seek(0)
        said = words.read().decode("utf-8", "replace")
        if status != 0:
            sys.stderr.write(said)
            sys.stderr.flush()
            if status < 0:
                os.kill(os.getpid(), -status)
            raise SystemExit(status)
        answer.seek(0)
        return answer.read().decode(), said
