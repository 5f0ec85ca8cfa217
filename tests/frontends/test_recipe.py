"""Which fields each step reads, which tools run with which arguments, and what versions of tools can't do."""

from __future__ import annotations

import pytest

from tile_lsp.frontends.cutile import CuTile
from tile_lsp.frontends.cutile.versions import TARGETS, check_target, parse
from tile_lsp.model.job import Config
from tile_lsp.model.outcome import Fault, FaultKind
from tile_lsp.model.stage import Stage

FRONTEND = CuTile()
FULL = Config(
    "sm_90",
    (("bytecode_version", "13.4"), ("num_ctas", 2), ("num_worker_warps", 4), ("occupancy", 1), ("opt_level", 2)),
    "name",
)


def test_inference_reads_the_bytecode_version_alone() -> None:
    assert FRONTEND.inference_fields(FULL) == {"bytecode_version": "13.4"}
    assert FRONTEND.inference_fields(Config("sm_100")) == {}


def test_codegen_reads_neither_target_nor_optimisation_level() -> None:
    assert FRONTEND.codegen_fields(FULL) == {"num_ctas": 2, "num_worker_warps": 4, "occupancy": 1, "symbol": "name"}
    assert FRONTEND.codegen_fields(Config("sm_90")) == {}
    assert FRONTEND.codegen_fields(Config("sm_90", (("bytecode_version", "13.2"),))) == {"target": "sm_90"}


@pytest.mark.parametrize("blob", ["cubin", "remarks"])
def test_one_run_makes_cubin_and_remarks(blob: str) -> None:
    run = FRONTEND.tool_for(blob, Config("sm_90"), {})
    assert run is not None
    assert not isinstance(run, Fault)
    assert run.tool == "tileiras"
    assert run.inputs == ("bytecode",)
    assert run.outputs == ("cubin", "remarks")
    assert run == FRONTEND.tool_for("cubin", Config("sm_90"), {})
    words = " ".join(run.arguments)
    assert words.startswith("{bytecode} -o {cubin} --gpu-name sm_90 -O3 --lineinfo")
    assert "--remarks-output-file={remarks}" in words


@pytest.mark.parametrize(
    ("config", "generated", "level"),
    [
        (Config("sm_90"), {}, "-O3"),
        (Config("sm_90"), {"opt_level": 1}, "-O1"),
        (Config("sm_90"), {"opt_level": 1, "opt_level.sm_90": 2}, "-O2"),
        (Config("sm_100"), {"opt_level": 1, "opt_level.sm_90": 2}, "-O1"),
        (Config("sm_90", (("opt_level", 0),)), {"opt_level": 1, "opt_level.sm_90": 2}, "-O0"),
    ],
)
def test_optimisation_level(config: Config, generated: dict, level: str) -> None:
    run = FRONTEND.tool_for("cubin", config, generated)
    assert not isinstance(run, Fault)
    assert run is not None
    assert [word for word in run.arguments if word.startswith("-O")] == [level]


def test_preview_features_are_passed_on() -> None:
    run = FRONTEND.tool_for("cubin", Config("sm_90"), {"preview": "one,two"})
    assert not isinstance(run, Fault)
    assert run is not None
    assert {"--preview=one", "--preview=two"} <= set(run.arguments)


def test_disassembly_reads_the_bytecode_whatever_the_target() -> None:
    run = FRONTEND.tool_for("tileir", Config(), {})
    assert run == FRONTEND.tool_for("tileir", FULL, {})
    assert not isinstance(run, Fault)
    assert run is not None
    assert (run.tool, run.inputs, run.outputs) == ("tileirdisasm", ("bytecode",), ("stdout",))


def test_an_older_format_has_bytecode_for_each_target() -> None:
    for blob in ("cubin", "tileir"):
        run = FRONTEND.tool_for(blob, Config("sm_100"), {"bytecode_version": "13.2"})
        assert not isinstance(run, Fault)
        assert run is not None
        assert run.inputs == ("bytecode@sm_100",)
        assert "{bytecode@sm_100}" in run.arguments
        assert FRONTEND.tool_for("bytecode@sm_100", Config("sm_100"), {}) is None


def test_the_worker_makes_the_bytecode() -> None:
    assert FRONTEND.tool_for("bytecode", FULL, {}) is None


@pytest.mark.parametrize(
    ("blob", "target", "tileiras", "words"),
    [
        ("cubin", None, "13.4", "a target is needed"),
        ("cubin", "sm_90", "13.2", "sm_90 needs tileiras 13.3"),
        ("cubin", "sm_107", "13.3", "sm_107 needs tileiras 13.4"),
        ("tileir", "sm_90", "13.3", "13.4 or newer; this is 13.3"),
        ("remarks", "sm_80", "13.2", "remarks from 13.3 on"),
    ],
)
def test_what_a_version_lacks_is_a_fault_of_the_environment(
    blob: str, target: str | None, tileiras: str, words: str
) -> None:
    fault = FRONTEND.tool_for(blob, Config(target), {"tileiras": tileiras})
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.ENVIRONMENT
    assert words in fault.message


def test_an_old_assembler_is_asked_for_no_remarks() -> None:
    run = FRONTEND.tool_for("cubin", Config("sm_80"), {"tileiras": "13.2"})
    assert not isinstance(run, Fault)
    assert run is not None
    assert run.outputs == ("cubin",)
    assert not any("remark" in word for word in run.arguments)


def test_every_stage_names_its_blobs() -> None:
    for stage in FRONTEND.stages:
        for blob in FRONTEND.blobs_for(stage):
            assert blob.removesuffix("?") in {"bytecode", "cubin", "remarks", "tileir", "disassembly"}
    assert FRONTEND.blobs_for(Stage.TYPED) == ()


@pytest.mark.parametrize("stage", [Stage.PTX, Stage.SASS, Stage.RESOURCES, Stage.CUBIN])
def test_what_is_no_cubin_is_said_to_be_none(stage: Stage) -> None:
    with pytest.raises(ValueError, match="cubin"):
        FRONTEND.read(stage, {"cubin": b"nothing", "disassembly": b""})


@pytest.mark.parametrize("target", TARGETS)
def test_targets_that_compile(target: str) -> None:
    assert check_target(target) is None
    assert FRONTEND.check_config(Config(target)) is None


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (Config("sm_90a"), "write sm_90"),
        (Config("sm_100f"), "write sm_100"),
        (Config("sm_75"), "does not compile for sm_75"),
        (Config("sm_101"), "does not compile for sm_101"),
        (Config("compute_90"), "write sm_90"),
        (Config("90"), "write sm_90"),
        (Config("12.0"), "write sm_120"),
        (Config("gfx90a"), "is no target"),
        (Config("sm_90", (("num_ctas", 32),)), "1 to 16"),
        (Config("sm_90", (("num_ctas", True),)), "1 to 16"),
        (Config("sm_90", (("warps", 4),)), "`warps` is no hint"),
        (Config("sm_90", (), "a-b"), "no symbol name"),
    ],
)
def test_configs_that_can_not_be(config: Config, words: str) -> None:
    assert words in (FRONTEND.check_config(config) or "")


@pytest.mark.parametrize(
    ("text", "version"),
    [("13.4", (13, 4)), ("Cuda compilation tools, release 13.4, V13.4.92", (13, 4)), ("", None), (None, None)],
)
def test_versions(text: object, version: tuple[int, int] | None) -> None:
    assert parse(text) == version
