"""LLVM IR text to one verified module that holds the kernels and what they reach, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from notation import older

#: Where a text of several modules is cut.
_MODULE = re.compile(r"^(?=; ModuleID = )", re.MULTILINE)
_ORIGIN = re.compile(r"\A; ModuleID = .*\n(?:source_filename = .*\n)?")
_CONVENTION = re.compile(r"^define [^@\n]*\b(?:ptx_kernel|amdgpu_kernel) [^@\n]*@(\"[^\"]*\"|[\w.$-]+)", re.MULTILINE)
_ANNOTATED = re.compile(r"@(\"[^\"]*\"|[\w.$-]+), (?:metadata )?!\"kernel\", i32 1")
_PLACE = re.compile(r"^(!\d+ = (?:distinct )?)(!DI(?:Location|Subprogram)\([^\n]*?\bline: )\d+", re.MULTILINE)
_TRIPLES = {"ptx_kernel": "nvptx64-nvidia-cuda", "amdgpu_kernel": "amdgcn-amd-amdhsa"}
"""Of a module that names none, by how its kernels are called."""


def load(text: str) -> Any:
    """The modules of a text linked, verified and sliced. Raises `RuntimeError` with LLVM's words."""
    parsed = [llvm.parse_assembly(part) for part in _parts(older(text))]
    if not parsed:
        raise ValueError("there is no LLVM IR")
    module, *others = parsed
    for other in others:
        module.link_in(other)
    module.verify()
    if not module.triple:
        module.triple = next((triple for word, triple in _TRIPLES.items() if word in text), "")
    _slice(module, kernels(text))
    return module


def shown(module: Any) -> str:
    """As LLVM prints it, less the names of the files that it was never read from."""
    return _ORIGIN.sub("", str(module))


def kernels(text: str) -> frozenset[str]:
    """The names of functions that can be launched."""
    found = (*_CONVENTION.findall(text), *_ANNOTATED.findall(text))
    return frozenset(name.strip('"') for name in found)


def numbered(text: str) -> str:
    """Each place of the debug information with the number of its own node, and one, as its line: what names a line
    then names the node, with the calls that it was inlined at.
    """
    return _PLACE.sub(lambda match: f"{match[1]}{match[2]}{int(match[1].split(' ', 1)[0][1:]) + 1}", text)


def _parts(text: str) -> Iterator[str]:
    for part in _MODULE.split(text):
        if re.search(r"^(?:define|declare|target|@)", part, re.MULTILINE):
            yield part


def _slice(module: Any, names: frozenset[str]) -> None:
    """Leave out what no kernel reaches; all is left where no kernel is known."""
    definitions = [one for one in (*module.functions, *module.global_variables) if not one.is_declaration]
    if not any(one.name in names for one in definitions):
        return
    before = {one.name: one.linkage for one in definitions if one.name not in names}
    for one in definitions:
        if one.name in before and not one.name.startswith("llvm."):
            one.linkage = llvm.Linkage.internal
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.add_strip_dead_prototype_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=0)
    manager.run(module, llvm.create_pass_builder(_any_machine(), options))
    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name in before:
            one.linkage = before[one.name]


def _any_machine() -> Any:
    """What a pass builder has to be given, though nothing here asks it anything."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine()
