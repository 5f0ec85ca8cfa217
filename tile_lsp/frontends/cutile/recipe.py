"""Which steps lead to which stage of a cuTile kernel, and what each step reads.

| step                  | makes              | reads                                  |
|-----------------------|--------------------|----------------------------------------|
| worker: infer         | types, hir, typed  | version, arguments, bytecode version   |
| worker: codegen       | `bytecode`         | the inference entry, hints, symbol     |
| tileiras              | `cubin`, `remarks` | bytecode, target, optimisation level   |
| tileirdisasm          | `tileir`           | bytecode                               |
| engine's disassembler | `disassembly`      | cubin                                  |
"""

from __future__ import annotations

from collections.abc import Mapping

from tile_lsp.frontends.base import ToolRun
from tile_lsp.model.job import Config, Scalar
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

from . import versions
from .hints import HINTS

STAGES = (
    Stage.TYPES,
    Stage.HIR,
    Stage.TYPED,
    Stage.TILEIR,
    Stage.PTX,
    Stage.CUBIN,
    Stage.SASS,
    Stage.RESOURCES,
    Stage.REMARKS,
)

_BLOBS: dict[Stage, tuple[str, ...]] = {
    Stage.TYPES: (),
    Stage.HIR: (),
    Stage.TYPED: (),
    Stage.TILEIR: ("tileir",),
    # Tile IR knows the columns that the cubin's own tables lack.
    Stage.PTX: ("cubin", "tileir?"),
    Stage.CUBIN: ("cubin",),
    Stage.SASS: ("cubin", "disassembly", "tileir?"),
    Stage.RESOURCES: ("cubin",),
    Stage.REMARKS: ("remarks",),
}

#: The optimisation level that cuTile asks for where nobody says otherwise.
_DEFAULT_OPT_LEVEL = 3


def blobs_for(stage: Stage) -> tuple[str, ...]:
    """Names of the blobs that a stage's reader needs; none for what inference itself yields."""
    return _BLOBS[stage]


def inference_fields(config: Config) -> Mapping[str, Scalar]:
    """The bytecode format, which decides what operations there are; inference reads nothing else of a config."""
    return {name: value for name, value in config.hints if name == "bytecode_version"}


def codegen_fields(config: Config) -> Mapping[str, Scalar]:
    """The hints that are written into the bytecode, and the symbol; the target only for formats made for one."""
    fields = {name: value for name, value in config.hints if name in HINTS and HINTS[name].in_bytecode}
    if config.symbol is not None:
        fields["symbol"] = config.symbol
    version = versions.parse(dict(config.hints).get("bytecode_version"))
    if version is not None and version < versions.ARCH_FREE_BYTECODE and config.target is not None:
        fields["target"] = config.target
    return fields


def tool_for(blob: str, config: Config, generated: Mapping[str, Scalar]) -> ToolRun | Fault | None:
    """The run that makes a blob; None where the worker makes it; a fault where this version of the tools can't.

    `generated`: `opt_level` (and `opt_level.sm_100` … for by-target options) of the kernel itself, `preview`
    (features to enable, separated by commas), `tileiras` (its version), `bytecode_version` (the format's).
    """
    tileiras = versions.parse(generated.get("tileiras")) or versions.NEWEST
    if blob == "tileir":
        if message := versions.check_disassembler(tileiras):
            return _environment(message, versions.install(versions.DISASSEMBLER))
        source = _bytecode(config, generated)
        return ToolRun("tileirdisasm", ("-g", f"{{{source}}}"), (source,), ("stdout",))
    if blob not in ("cubin", "remarks"):
        return None
    if config.target is None:
        return _environment("a target is needed to assemble", "add target=sm_90 to the job")
    if message := versions.check_target(config.target, tileiras):
        return _environment(message, None)
    if blob == "remarks" and (message := versions.check_remarks(tileiras)):
        return _environment(message, versions.install(versions.REMARKS))
    source = _bytecode(config, generated)
    level = _opt_level(config, generated)
    arguments = [f"{{{source}}}", "-o", "{cubin}", "--gpu-name", config.target, f"-O{level}"]
    preview = generated.get("preview")
    if isinstance(preview, str):
        arguments += [f"--preview={feature}" for feature in preview.split(",") if feature]
    # cuTile always asks for line information: what runs is what is shown.
    arguments.append("--lineinfo")
    outputs = ["cubin"]
    if tileiras >= versions.REMARKS:
        arguments += ["--remark-format=yaml", "--remarks=all", "--remarks-output-file={remarks}"]
        outputs.append("remarks")
    return ToolRun("tileiras", tuple(arguments), (source,), tuple(outputs))


def _environment(message: str, mend: str | None) -> Fault:
    return Fault(FaultKind.ENVIRONMENT, message, help=mend, code="tool-version")


def _bytecode(config: Config, generated: Mapping[str, Scalar]) -> str:
    """The blob to read: one for all targets, or, of an older format, the target's own."""
    version = versions.parse(generated.get("bytecode_version")) or versions.NEWEST
    if version >= versions.ARCH_FREE_BYTECODE or config.target is None:
        return "bytecode"
    return f"bytecode@{config.target}"


def _opt_level(config: Config, generated: Mapping[str, Scalar]) -> int:
    """The config's own, else what the kernel says for the target, else what it says for all."""
    own = generated.get(f"opt_level.{config.target}", generated.get("opt_level"))
    chosen = dict(config.hints).get("opt_level", own)
    return chosen if isinstance(chosen, int) else _DEFAULT_OPT_LEVEL
