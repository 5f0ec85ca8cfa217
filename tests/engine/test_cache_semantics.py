"""The job-keyed cache, scenario by scenario: asserted on what ran, never on time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from tests.support.workbench import workbench
from tile_lsp.model.job import Argument, Config, Job
from tile_lsp.model.outcome import Fault
from tile_lsp.model.stage import Stage

SCALE = """\
import cuda.tile as ct

ConstInt = ct.Constant[int]
FACTOR = 2.0


def twice(x):
    return x * FACTOR


def thrice(x):
    return x * 3.0


# tile-lsp: x=f32[4096] y=f32[4096] N=16 target=sm_90
@ct.kernel
def scale(x, y, N: ConstInt):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(N,))
    if N == 16:
        b = twice(a)
    else:
        b = thrice(a)
    ct.store(y, index=(i,), tile=b)
"""


@pytest.fixture
async def bench(tmp_path):
    async with workbench(tmp_path, {"scale.py": SCALE}) as bench:
        await bench.open("scale.py")
        assert bench.ran() == {"inferences": 1}
        yield bench


def with_target(text: str, target: str) -> str:
    return text.replace("target=sm_90", f"target={target}")


# -- jobs ------------------------------------------------------------------------------------------------------------


def job(**changes: object) -> Job:
    fields = {
        "frontend": "cutile",
        "kernel": "make.<locals>.scale",
        "version": "0" * 64,
        "arguments": (Argument("x", "f16[4096,?:16]"), Argument("eps", "1e-05"), Argument("name", '"ü\\n"')),
        "config": Config("sm_90", (("num_ctas", 2), ("fastmath", True))),
        "toolchain": "abc",
        **changes,
    }
    return Job(**fields)


def test_equal_fields_make_equal_jobs():
    assert job() == job()
    assert hash(job()) == hash(job())
    assert job().key == job().key


@pytest.mark.parametrize(
    "changes",
    [
        {"frontend": "triton"},
        {"kernel": "scale"},
        {"version": "1" * 64},
        {"arguments": (Argument("x", "f16[4096,?:16]"),)},
        {"config": Config("sm_100", (("num_ctas", 2), ("fastmath", True)))},
        {"config": Config("sm_90", (("num_ctas", 2),))},
        {"config": Config("sm_90", (("num_ctas", 2), ("fastmath", 1)))},
        {"config": Config("sm_90", (("num_ctas", 2), ("fastmath", True)), "name")},
        {"toolchain": "abd"},
    ],
)
def test_every_field_is_part_of_the_key(changes):
    assert job(**changes).key != job().key


def test_an_unset_hint_is_another_config_than_one_set_to_the_default():
    assert job(config=Config("sm_90")).key != job(config=Config("sm_90", (("opt_level", 3),))).key


@pytest.mark.parametrize("one", [job(), job(arguments=(), config=Config()), job(config=Config(symbol="größe"))])
def test_a_job_round_trips_through_json_and_a_word(one):
    assert Job.from_json(one.to_json()) == one
    assert Job.from_token(one.to_token()) == one
    assert one.to_token().replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("token", ["", "!", "AAAA", job().to_token()[:-4], "eJyrrgUAAXUA-Q"])
def test_what_is_no_job_is_refused(token):
    with pytest.raises(ValueError, match="not a job"):
        Job.from_token(token)


# -- one inference, many configs -------------------------------------------------------------------------------------


async def test_four_targets_are_one_inference_one_bytecode_four_assembler_runs(bench):
    await bench.edit("scale.py", with_target(SCALE, "sm_80,sm_90,sm_100,sm_120"))
    listings = [await bench.show("scale.py", Stage.SASS, job=view.job) for view in bench.kernel("scale.py").jobs]
    assert len({listing.text for listing in listings}) == 4
    ran = bench.ran()
    assert (ran.get("inferences"), ran["codegens"], ran["tileiras"]) == (None, 1, 4)


async def test_another_hint_is_no_inference_but_another_bytecode(bench):
    await bench.show("scale.py", Stage.CUBIN)
    assert bench.ran() == {"codegens": 1, "tileiras": 1}
    await bench.edit("scale.py", with_target(SCALE, "sm_90 occupancy=4"))
    await bench.show("scale.py", Stage.CUBIN)
    assert bench.ran() == {"codegens": 1, "tileiras": 1}


async def test_a_hint_that_only_the_assembler_reads_reuses_the_bytecode(bench):
    await bench.show("scale.py", Stage.CUBIN)
    bench.ran()
    await bench.edit("scale.py", with_target(SCALE, "sm_90 opt_level=0"))
    await bench.show("scale.py", Stage.CUBIN)
    assert bench.ran() == {"tileiras": 1}


async def test_the_default_hint_said_aloud_runs_no_assembler(bench):
    """Another config, but the same bytecode and command line: cut off by content."""
    await bench.show("scale.py", Stage.CUBIN)
    bench.ran()
    await bench.edit("scale.py", with_target(SCALE, "sm_90 opt_level=3"))
    await bench.show("scale.py", Stage.CUBIN)
    assert bench.ran() == {}


async def test_stages_never_answer_for_one_another(bench):
    stages = [Stage.HIR, Stage.TYPED, Stage.TILEIR, Stage.PTX, Stage.SASS, Stage.RESOURCES]
    artifacts = [await bench.show("scale.py", stage) for stage in stages]
    assert [artifact.stage for artifact in artifacts] == stages
    assert len({artifact.text for artifact in artifacts}) == len(stages)


async def test_all_stages_of_a_job_come_from_one_assembler_run(bench):
    for stage in (Stage.PTX, Stage.CUBIN, Stage.SASS, Stage.RESOURCES, Stage.REMARKS):
        await bench.show("scale.py", stage)
    assert bench.ran()["tileiras"] == 1


# -- constants -------------------------------------------------------------------------------------------------------


async def test_constants_seed_their_own_entries_and_types_follow_them(bench):
    assert bench.types_of("scale.py", "a") == {"Tile[float32,(16)]"}
    await bench.edit("scale.py", SCALE.replace("N=16 t", "N=32 t"))
    assert bench.ran() == {"inferences": 1}
    assert bench.types_of("scale.py", "a") == {"Tile[float32,(32)]"}
    await bench.edit("scale.py", SCALE)
    assert bench.ran() == {}
    assert bench.types_of("scale.py", "a") == {"Tile[float32,(16)]"}


# -- what leaves a version equal -------------------------------------------------------------------------------------

KEEPS = {
    "a comment above": SCALE.replace("# tile-lsp", "# about scale\n# tile-lsp"),
    "a comment inside": SCALE.replace("    if N", "    # which\n    if N"),
    "a comment after": SCALE + "# the end\n",
    "a comment on the line": SCALE.replace("i = ct.bid(0)", "i = ct.bid(0)  # block"),
    "blank lines": "\n\n" + SCALE.replace("    a =", "\n\n    a ="),
    "other formatting": SCALE.replace(
        "ct.load(x, index=(i,), shape=(N,))", "ct.load(\n        x, index=( i, ),\n shape=(N,),\n    )"
    ),
    "Windows line ends": SCALE.replace("\n", "\r\n"),
    "a docstring": SCALE.replace("    i = ct", '    """Scale."""\n    i = ct'),
    "a docstring of a helper": SCALE.replace("    return x * FACTOR", "    'Twice.'\n    return x * FACTOR"),
    "an unrelated function": SCALE + "\n\ndef other():\n    return 1\n",
    "an unrelated import": "import os\n" + SCALE,
    "a print at the top": SCALE + "\nprint('hello')\n",
    "another order of words in the comment": SCALE.replace("x=f32[4096] y=f32[4096]", "y=f32[4096] x=f32[4096]"),
    "a byte-order mark": "\ufeff" + SCALE,
}


@pytest.mark.parametrize("name", KEEPS)
async def test_nothing_runs_and_positions_follow(bench, name):
    await bench.show("scale.py", Stage.SASS)
    before = bench.kernel("scale.py")
    world = bench.session.snapshot().world
    bench.ran()
    await bench.edit("scale.py", KEEPS[name])
    after = bench.kernel("scale.py")
    assert bench.ran() == {}
    assert after.job.job == before.job.job
    assert bench.session.snapshot().world > world
    assert after.inference is before.inference
    listing = await bench.show("scale.py", Stage.SASS)
    assert bench.ran() == {}
    lines = KEEPS[name].splitlines()
    shown = {
        lines[found.span.line - 1]
        for chains in listing.lines
        for chain in chains
        for found in after.positions.chain(chain)
    }
    assert any("ct.load" in line for line in shown)
    assert any("return x * FACTOR" in line for line in shown)


# -- what makes a new version ----------------------------------------------------------------------------------------

CHANGES = {
    "the kernel": SCALE.replace("tile=b)", "tile=b + 1.0)"),
    "a helper": SCALE.replace("return x * FACTOR", "return x * FACTOR * FACTOR"),
    "a captured constant": SCALE.replace("FACTOR = 2.0", "FACTOR = 2.5"),
    "an annotation it reads": SCALE.replace("ConstInt = ct.Constant[int]", "ConstInt = ct.Constant"),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_an_edit_that_means_something_infers_once_and_undo_is_free(bench, name):
    before = bench.kernel("scale.py").job.job
    await bench.edit("scale.py", CHANGES[name])
    assert bench.ran() == {"inferences": 1}
    assert bench.kernel("scale.py").job.job.version != before.version
    await bench.edit("scale.py", SCALE)
    assert bench.ran() == {}
    assert bench.kernel("scale.py").job.job == before


async def test_a_helper_in_another_file_counts_unsaved_and_saved(tmp_path):
    helpers = "FACTOR = 2.0\n\ndef twice(x):\n    return x * FACTOR\n"
    kernel = """\
    import cuda.tile as ct
    from helpers import twice

    # tile-lsp: x=f32[64] y=f32[64]
    @ct.kernel
    def scale(x, y):
        ct.store(y, index=(0,), tile=twice(ct.load(x, index=(0,), shape=(64,))))
    """
    async with workbench(tmp_path, {"helpers.py": helpers, "scale.py": kernel}) as bench:
        await bench.open("scale.py")
        assert bench.ran() == {"inferences": 1}
        bench.session.change(bench.path("helpers.py"), helpers.replace("2.0", "4.0"), 1)
        await bench.session.inferred(bench.path("scale.py"))
        assert bench.ran() == {"inferences": 1}
        bench.session.change(bench.path("helpers.py"), helpers + "\nUNRELATED = 1\n", 2)
        await bench.session.inferred(bench.path("scale.py"))
        assert bench.ran() == {}  # back to the first version of what the kernel needs
        bench.session.close_file(bench.path("helpers.py"))
        bench.write("helpers.py", helpers.replace("x * FACTOR", "x + FACTOR"))
        await bench.session.inferred(bench.path("scale.py"))
        assert bench.ran() == {"inferences": 1}


async def test_what_an_argument_s_expression_names_is_part_of_the_meaning(tmp_path):
    text = """\
    import cuda.tile as ct
    TILE = 8
    def width(): return TILE * 2
    # tile-lsp: x=f32[4096] n==width()
    # tile-lsp: x=f32[4096] n==TILE
    @ct.kernel
    def fill(x, n: ct.Constant[int]):
        ct.store(x, (0,), ct.full((n,), 0.0, ct.float32))
    """
    async with workbench(tmp_path, {"fill.py": text}) as bench:
        await bench.open("fill.py")
        await bench.session.settled()
        assert bench.kernel("fill.py").faults == ()
        assert "Tile[float32,(16)]" in {record.type for record in bench.kernel("fill.py").inference.types}
        bench.ran()
        await bench.edit("fill.py", text.replace("TILE = 8", "TILE = 16"))
        await bench.session.settled()
        assert bench.ran() == {"inferences": 2}
        assert "Tile[float32,(32)]" in {record.type for record in bench.kernel("fill.py").inference.types}


OUTSIDE = """\
import json, os
from pathlib import Path
import cuda.tile as ct

SIZE = json.loads((Path(__file__).parent / "size.json").read_text()) * int(os.environ.get("TILE_LSP_TEST_SIZE", "1"))


# tile-lsp: x=f32[4096] target=sm_90
@ct.kernel
def fill(x):
    y = ct.full((SIZE,), 0.0, ct.float32)
    ct.store(x, (0,), y)
"""


async def test_files_and_variables_that_a_slice_reads_are_part_of_its_key(tmp_path, monkeypatch):
    async def shown(size: str) -> tuple[set[str], str, dict[str, int]]:
        async with workbench(tmp_path, {"fill.py": OUTSIDE, "size.json": size}) as bench:
            await bench.open("fill.py")
            ptx = await bench.show("fill.py", Stage.PTX)
            return bench.types_of("fill.py", "y"), ptx.text, bench.ran()

    first = await shown("16")
    assert first[0] == {"Tile[float32,(16)]"}
    assert (await shown("16"))[2] == {}
    other = await shown("32")
    assert other[0] == {"Tile[float32,(32)]"}
    assert other[1] != first[1]
    monkeypatch.setenv("TILE_LSP_TEST_SIZE", "4")
    assert (await shown("32"))[0] == {"Tile[float32,(128)]"}
    monkeypatch.delenv("TILE_LSP_TEST_SIZE")
    again = await shown("16")
    assert again[:2] == first[:2]
    assert again[2] == {"inferences": 1}


@pytest.mark.parametrize("told", [True, False])
async def test_a_file_that_a_slice_reads_may_change_while_its_kernel_is_open(tmp_path, told):
    """Where nobody tells of it, the next edit notices."""
    async with workbench(tmp_path, {"fill.py": OUTSIDE, "size.json": "16"}) as bench:
        await bench.open("fill.py")
        bench.ran()
        assert bench.session.files_read() == {str(tmp_path / "size.json")}
        (tmp_path / "size.json").write_text("16")
        bench.session.files_changed([str(tmp_path / "size.json")])
        await bench.session.settled()
        assert bench.ran() == {}
        (tmp_path / "size.json").write_text("32")
        if told:
            bench.session.files_changed([str(tmp_path / "size.json")])
            await bench.session.settled()
        else:
            await bench.edit("fill.py", "# a comment\n" + OUTSIDE)
        assert bench.ran() == {"inferences": 1}
        assert bench.types_of("fill.py", "y") == {"Tile[float32,(32)]"}


async def test_a_file_that_a_slice_reads_may_change_within_the_grain_of_the_clock(tmp_path):
    async with workbench(tmp_path, {"fill.py": OUTSIDE}) as bench:
        for size in ("16", "32"):
            (tmp_path / "size.json").write_text(size)
            os.utime(tmp_path / "size.json", (2**33, 2**33))  # never to be in the past
            await bench.edit("fill.py", f"# {size}\n{OUTSIDE}")
            assert bench.types_of("fill.py", "y") == {f"Tile[float32,({size})]"}


# -- dependencies per specialisation ---------------------------------------------------------------------------------


async def test_a_helper_that_this_constant_never_reaches_may_change(bench):
    await bench.edit("scale.py", SCALE.replace("x * 3.0", "x * 3.5"))
    assert bench.ran() == {}
    await bench.edit("scale.py", SCALE.replace("x * FACTOR", "x + FACTOR"))
    assert bench.ran() == {"inferences": 1}


async def test_a_helper_that_only_a_constant_made_reachable_is_followed(bench):
    with_32 = SCALE.replace("N=16 t", "N=32 t")
    await bench.edit("scale.py", with_32)
    assert bench.ran() == {"inferences": 1}
    await bench.edit("scale.py", with_32.replace("x * 3.0", "x * 3.5"))
    assert bench.ran() == {"inferences": 1}
    await bench.edit("scale.py", with_32.replace("x * 3.0", "x * 3.5").replace("x * FACTOR", "x + FACTOR"))
    assert bench.ran() == {}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("def twice(x, y):\n    return x", "def twice(x):\n    return x"),
        ("def twice(x):\n    yield x", "def twice(x):\n    return x"),
        ("@ct.function(host=True, tile=False)\ndef twice", "@ct.function(host=True, tile=True)\ndef twice"),
    ],
    ids=["signature", "syntax", "decorator"],
)
async def test_a_helper_that_was_refused_before_it_was_entered_may_be_mended(bench, wrong, right):
    mended = SCALE.replace(right if right in SCALE else "def twice", right, 1)
    await bench.edit("scale.py", mended.replace(right, wrong))
    assert len(bench.kernel("scale.py").faults) == 1
    await bench.edit("scale.py", mended)
    assert bench.kernel("scale.py").faults == ()


# -- targets ---------------------------------------------------------------------------------------------------------


async def test_no_target_and_no_device_is_an_error_that_says_what_to_set(bench, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    await bench.edit("scale.py", SCALE.replace(" target=sm_90", ""))
    shown = await bench.session.artifact(bench.path("scale.py"), "scale", Stage.SASS)
    assert isinstance(shown, Fault)
    assert "no target" in shown.message
    assert "target=sm_90" in str(shown.help)
    assert "tile-lsp.targets" in str(shown.help)


@pytest.mark.parametrize(
    ("comment", "settings", "message"),
    [
        (" target=hopper", {}, "scale has no target: `hopper` is no target; there are sm_80, "),
        (" target=90", {}, "scale has no target: `90` is no target; write sm_90."),
        ("", {"targets": ["gfx942"]}, "scale has no target: `gfx942` is no target; there are sm_80, "),
        (
            "",
            {"kernels": {"sc*": {"targets": ["sm_91"]}}},
            "scale has no target: tileiras does not compile for sm_91; ",
        ),
    ],
)
async def test_a_target_that_is_none_is_said_where_one_is_missing(tmp_path, monkeypatch, comment, settings, message):
    monkeypatch.setenv("PATH", "/nowhere")
    async with workbench(tmp_path, {"scale.py": SCALE.replace(" target=sm_90", comment)}, **settings) as bench:
        await bench.open("scale.py")
        shown = await bench.session.artifact(bench.path("scale.py"), "scale", Stage.SASS)
    assert isinstance(shown, Fault)
    assert shown.message.startswith(message)


async def test_a_target_from_the_settings_and_one_from_the_comment_are_one_job(tmp_path):
    async with workbench(tmp_path, {"scale.py": SCALE}, targets=["sm_90"]) as bench:
        await bench.open("scale.py")
        explicit = bench.kernel("scale.py").job.job
        await bench.edit("scale.py", SCALE.replace(" target=sm_90", ""))
        assert bench.kernel("scale.py").job.job == explicit


# -- single flight ---------------------------------------------------------------------------------------------------


async def test_many_callers_of_one_job_are_one_attempt(bench):
    listings = await asyncio.gather(*(bench.show("scale.py", Stage.SASS) for _ in range(8)))
    assert len({listing.text for listing in listings}) == 1
    ran = bench.ran()
    assert (ran["codegens"], ran["tileiras"]) == (1, 1)


SHOW = """\
import asyncio, json, sys
from pathlib import Path
from tests.support.patience import PATIENCE
from tests.support.workbench import workbench
from tile_lsp.engine import compiler
from tile_lsp.model.stage import Stage

compiler._PATIENCE = compiler._PARTING = PATIENCE

async def main(folder, cache):
    async with workbench(Path(folder), {}, cache=Path(cache)) as bench:
        await bench.open("scale.py")
        cubin = await bench.show("scale.py", Stage.CUBIN)
        print(json.dumps({"ran": bench.ran(), "size": len(cubin.data)}))

asyncio.run(main(*sys.argv[1:]))
"""


async def in_another_process(folder: Path) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SHOW,
        str(folder),
        str(folder / ".cache"),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(out)


async def test_two_processes_at_once_are_one_attempt_and_a_later_one_none(tmp_path):
    (tmp_path / "scale.py").write_text(SCALE)
    first, second = await asyncio.gather(in_another_process(tmp_path), in_another_process(tmp_path))
    total = {
        name: first["ran"].get(name, 0) + second["ran"].get(name, 0) for name in ("inferences", "codegens", "tileiras")
    }
    assert total == {"inferences": 1, "codegens": 1, "tileiras": 1}
    third = await in_another_process(tmp_path)
    assert third["ran"] == {}
    assert third["size"] == first["size"] == second["size"] > 0


# -- reopening, toolchain, faults ------------------------------------------------------------------------------------


async def test_reopening_a_workspace_of_many_kernels_runs_nothing(tmp_path):
    kernels = "\n".join(
        SCALE.split("# tile-lsp")[1]
        .join(["# tile-lsp", ""])
        .replace("def scale", f"def scale_{i}")
        .replace("b)", f"b + {i}.0)")
        for i in range(20)
    )
    files = {"many.py": SCALE.split("# tile-lsp")[0] + kernels}
    for expected in ({"inferences": 20}, {}):
        async with workbench(tmp_path, files) as bench:
            await bench.open("many.py")
            await bench.session.settled()
            assert bench.ran() == expected


async def test_a_swapped_toolchain_is_not_served_stale(bench, monkeypatch):
    await bench.show("scale.py", Stage.CUBIN)
    bench.ran()
    environment = await bench.session.environment(bench.path("scale.py"))
    reports = dict(environment.reports)
    reports["tileiras"] = msgspec.structs.replace(reports["tileiras"], version="another build")
    swapped = msgspec.structs.replace(environment, reports=reports)
    pool = bench.session._pool

    async def environment_of(python: str, drivers: str) -> object:
        return swapped

    monkeypatch.setattr(pool, "environment", environment_of)
    bench.session.retry()
    await bench.session.inferred(bench.path("scale.py"))
    await bench.show("scale.py", Stage.CUBIN)
    assert bench.ran() == {"tileiras": 1}


BROKEN_TYPE = SCALE.replace("tile=b)", "tile=b + missing)")


async def test_a_fault_of_the_user_is_a_result_and_kept(tmp_path):
    for expected in ({"inferences": 1}, {}):
        async with workbench(tmp_path, {"scale.py": BROKEN_TYPE}) as bench:
            await bench.open("scale.py")
            assert bench.ran() == expected
            (fault,) = bench.kernel("scale.py").faults
            assert "missing" in fault.message


async def test_a_fault_of_the_environment_is_not_kept_nor_tried_at_each_keystroke(tmp_path):
    hanging = SCALE.replace("FACTOR = 2.0", "while True: FACTOR = 2.0")
    for _ in range(2):
        async with workbench(tmp_path, {"scale.py": hanging}, timeouts={"inference": 1}) as bench:
            await bench.open("scale.py")
            assert bench.ran() == {"inferences": 1}
            (fault,) = bench.kernel("scale.py").faults
            assert "1 s" in fault.message
            await bench.edit("scale.py", hanging + "# typed\n")
            assert bench.ran() == {}


async def test_a_compile_that_is_cancelled_leaves_nothing_behind_that_is_wrong(bench):
    task = asyncio.ensure_future(bench.show("scale.py", Stage.SASS))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    listing = await bench.show("scale.py", Stage.SASS)
    assert "EXIT" in listing.text


async def test_what_another_tile_lsp_made_is_not_served(tmp_path, monkeypatch):
    async with workbench(tmp_path, {"scale.py": SCALE}) as bench:
        await bench.open("scale.py")
    monkeypatch.setattr("tile_lsp.engine.environment.worker_fingerprint", lambda: "a newer one")
    async with workbench(tmp_path, {"scale.py": SCALE}) as bench:
        await bench.open("scale.py")
        assert bench.ran() == {"inferences": 1}
