"""How a closure becomes a kernel: only its statements run, in modules that behave like the real ones."""

from __future__ import annotations

import shlex

import pytest

from tests.support.closures import HEADER, closure
from tests.support.workers import Bench, spots, types_of
from tile_lsp.model.closure import Loading
from tile_lsp.model.outcome import FaultKind

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL = """
@ct.kernel
def kernel(a):
    x = ct.full((8,), VALUE, ct.float32)
"""


async def test_packages_with_relative_and_circular_imports(bench: Bench):
    modules = {
        "pkg.sub.main": HEADER + "from ..limits import SIZE\nfrom . import peer\n"
        "def two():\n    return 2\n@ct.kernel\ndef kernel(a):\n    x = ct.full((SIZE,), peer.get(), ct.float32)\n",
        "pkg.limits": "SIZE = 16\n",
        "pkg.sub.peer": "from pkg.sub import main\ndef get():\n    return main.two()\n",
    }
    inference = await bench.infer(closure(modules), "a=f16[64]")
    assert not inference.faults
    assert types_of(inference, "x") == ["Tile[float32,(16)]"]
    assert inference.reached == ("pkg.sub.main/kernel", "pkg.sub.main/two", "pkg.sub.peer/get")


async def test_a_package_outside_the_closure_does_not_run_but_its_modules_can_be_imported(bench: Bench, tmp_path):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('must not run')\n")
    (package / "outside.py").write_text("VALUE = 4\n")
    modules = {"pkg.main": HEADER + "from pkg.outside import VALUE\n" + KERNEL}
    inference = await bench.infer(closure(modules, folder=str(tmp_path), roots=(str(tmp_path),)), "a=f16[64]")
    assert not inference.faults
    assert types_of(inference, "x") == ["Tile[float32,(8)]"]


async def test_a_module_named_like_one_of_the_standard_library(bench: Bench):
    modules = {"main": HEADER + "from queue import VALUE\n" + KERNEL, "queue": "VALUE = 3\n"}
    assert not (await bench.infer(closure(modules), "a=f16[64]")).faults


async def test_names_of_a_module_are_those_of_a_real_import(bench: Bench, tmp_path):
    source = (
        HEADER
        + """
SEEN = (__name__, __package__, __file__, __spec__.name)
print(SEEN)
VALUE = 1
"""
        + KERNEL
    )
    inference = await bench.infer(closure({"pkg.main": source}, folder=str(tmp_path)), "a=f16[64]")
    assert inference.output == f"{('pkg.main', 'pkg', f'{tmp_path}/pkg/main.py', 'pkg.main')}\n"


async def test_future_annotations(bench: Bench):
    source = (
        "from __future__ import annotations\n"
        + HEADER
        + ("@ct.kernel\ndef kernel(a, n: ct.Constant[int]):\n    x = ct.full((n,), 0, ct.float32)\n")
    )
    assert types_of(await bench.infer(closure(source), "a=f16[64] n=32"), "x") == ["Tile[float32,(32)]"]


FACTORY = """
def make(size):
    @ct.kernel
    def kernel(a):
        x = ct.full((size,), 0, ct.float32)
    return kernel
"""
IN_A_CLASS = """
class Ops:
    @ct.kernel
    def scale(a):
        x = ct.full((16,), 0, ct.float32)
"""
BEHIND_A_CLOSURE = """
def logged(inner):
    def launch(*arguments):
        return inner
    return launch

@logged
@ct.kernel
def kernel(a):
    x = ct.full((16,), 0, ct.float32)
"""
BEHIND_A_SLOT = """
class Timed:
    __slots__ = ("inner",)
    def __init__(self, inner):
        self.inner = inner

@Timed
@ct.kernel(occupancy=2)
def kernel(a):
    x = ct.full((16,), 0, ct.float32)
"""


@pytest.mark.parametrize(
    ("source", "entry", "qualname"),
    [
        (FACTORY, "make(16)", "make.<locals>.kernel"),
        (FACTORY + "k16 = make(16)\n", "k16", "make.<locals>.kernel"),
        (FACTORY + "KERNELS = {16: make(16)}\n", "KERNELS", "make.<locals>.kernel"),
        (IN_A_CLASS, "Ops.scale", "Ops.scale"),
        (BEHIND_A_CLOSURE, "kernel", "kernel"),
        (BEHIND_A_SLOT, "kernel", "kernel"),
    ],
)
async def test_the_kernel_is_found_in_what_factories_and_decorators_made_of_it(bench: Bench, source, entry, qualname):
    inference = await bench.infer(closure(HEADER + source, entry, qualname=qualname), "a=f16[64]")
    assert not inference.faults
    assert types_of(inference, "x") == ["Tile[float32,(16)]"]


async def test_functions_that_ran_count_as_reached(bench: Bench):
    source = """
def pick(n):
    return n * 2
def never():
    return 0
def width():
    return 8
SIZE = pick(8)
@ct.kernel
def kernel(a):
    x = ct.full((SIZE,), 0, ct.float32)
    y = ct.full((ct.static_eval(width()),), 0, ct.float32)
"""
    inference = await bench.infer(source, "a=f16[64]")
    assert {"main/kernel", "main/pick", "main/width"} <= set(inference.reached)
    environment = await bench.pool.environment(bench.python)
    if tuple(map(int, environment.python.split(".")[:2])) >= (3, 12):
        assert "main/never" not in inference.reached


async def test_reached_leaves_out_what_nothing_called(bench: Bench):
    source = """
def used(x):
    return x + 1
def unused(x):
    return x
@ct.kernel
def kernel(a, n: ct.Constant[int]):
    x = used(n) if n > 3 else unused(n)
"""
    assert (await bench.infer(source, "a=f16[64] n=4")).reached == ("main/kernel", "main/used")
    assert (await bench.infer(source, "a=f16[64] n=1")).reached == ("main/kernel", "main/unused")


@pytest.mark.parametrize(
    ("source", "message", "where"),
    [
        ("VALUE = undefined + 1\n" + KERNEL, "NameError: name 'undefined' is not defined", ["main/VALUE:1:8-17"]),
        (
            "def pick(n):\n    return 1 // n\nVALUE = pick(0)\n" + KERNEL,
            "ZeroDivisionError: integer division or modulo by zero",
            ["main/pick:2:11-17", "main/VALUE:1:8-15"],
        ),
        ("import sys\nVALUE = sys.exit(3)\n" + KERNEL, "The code ended the process with 3", ["main/VALUE:1:8-19"]),
        (
            "from math import nothing\nVALUE = 1\n" + KERNEL,
            "ImportError: cannot import name 'nothing'",
            ["main/1:1:0-24"],
        ),
    ],
)
async def test_an_error_while_loading_is_where_it_was_raised(bench: Bench, source, message, where):
    fault = await bench.fault(source, "a=f16[64]")
    assert fault.kind is FaultKind.USER
    assert message in fault.message
    assert spots(fault.chain) == where


async def test_endless_recursion_shows_each_of_its_places_once(bench: Bench):
    fault = await bench.fault("def grow(n):\n    return grow(n + 1)\nVALUE = grow(0)\n" + KERNEL, "a=f16[64]")
    assert fault.message.startswith("RecursionError")
    assert spots(fault.chain)[-2:] == ["main/grow:2:11-22", "main/VALUE:1:8-15"]
    assert len(fault.chain) <= 3


async def test_a_missing_module_comes_with_the_command_that_installs_it(bench: Bench):
    fault = await bench.fault("from einops import rearrange\nVALUE = 1\n" + KERNEL, "a=f16[64]")
    assert fault.kind is FaultKind.ENVIRONMENT
    assert "'einops' is not installed" in fault.message
    assert fault.help.endswith(f"{shlex.quote(bench.python)} -m pip install einops")
    assert spots(fault.chain)[0].startswith("main/1:1")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ValueError('y' * (1 << 24))", "ValueError: yyy"),
        ("type('Odd', (Exception,), {'__str__': lambda self: exit(9)})()", "Odd"),
    ],
)
async def test_words_of_an_error_are_taken_as_far_as_one_can_read_them(bench: Bench, raised: str, said: str):
    fault = await bench.fault(f"raise {raised}\n{KERNEL}", "a=f16[64]")
    assert fault.message.startswith(said)
    assert len(fault.message) < 1 << 15


async def test_what_is_no_kernel_is_said_to_be_what_it_is(bench: Bench):
    fault = await bench.fault("def kernel(a):\n    pass\n", "a=f16[64]")
    assert "kernel is no cuTile kernel: it is the function kernel" in fault.message


# -- libraries that are stood in for ---------------------------------------------------------------------------------

TORCH = """
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPE = torch.float16
LOWEST = torch.finfo(torch.float32).min

def host(x: torch.Tensor, backend: SDPBackend | None, m: torch.nn.Module) -> Tensor:
    return F.relu(x)

@ct.kernel
def kernel(a):
    x = ct.full((8,), LOWEST, torch.float32)
    y = x.astype(DTYPE)
    z = x.astype(torch.bfloat16)
"""


async def test_torch_s_dtypes_and_annotations_need_no_torch(bench: Bench):
    inference = await bench.infer(TORCH, "a=f16[64]")
    assert not inference.faults
    assert types_of(inference, "x") == ["Tile[float32,(8)]"]
    assert types_of(inference, "y") == ["Tile[float16,(8)]"]
    assert types_of(inference, "z") == ["Tile[bfloat16,(8)]"]


async def test_numpy_s_too(bench: Bench):
    source = "import numpy as np\n@ct.kernel\ndef kernel(a):\n    x = ct.full((8,), -np.inf, np.float32)\n"
    assert types_of(await bench.infer(source, "a=f16[64]"), "x") == ["Tile[float32,(8)]"]


async def test_more_of_torch_than_that_asks_for_torch(bench: Bench):
    source = "import torch\nVALUE = torch.cuda.get_device_properties(0).multi_processor_count\n" + KERNEL
    fault = await bench.fault(source, "a=f16[64]")
    assert fault.kind is FaultKind.ENVIRONMENT
    assert (
        "torch.cuda.get_device_properties is used when the kernel is loaded, and torch is not installed"
        in fault.message
    )
    assert fault.help.endswith(f"{shlex.quote(bench.python)} -m pip install torch")
    assert spots(fault.chain)[0].startswith("main/VALUE:1")


async def test_a_real_torch_is_not_imported_for_its_dtypes_but_is_for_a_call(bench: Bench, tmp_path):
    fake = tmp_path / "torch"
    fake.mkdir()
    (fake / "__init__.py").write_text("print('real torch')\nfloat16 = object()\ndef width():\n    return 4\n")
    roots = (str(tmp_path),)
    light = "import torch\nVALUE = 1\nDTYPE = torch.float16\n" + KERNEL
    assert (await bench.infer(closure(HEADER + light, roots=roots), "a=f16[64]")).output == ""
    heavy = "import torch\nVALUE = torch.width()\n" + KERNEL
    inference = await bench.infer(closure(HEADER + heavy, roots=roots), "a=f16[64]")
    assert not inference.faults
    assert inference.output == "real torch\n"


async def test_modules_outside_the_closure_see_no_stand_in(bench: Bench, tmp_path):
    (tmp_path / "outside.py").write_text("try:\n    import torch\n    VALUE = 1\nexcept ImportError:\n    VALUE = 2\n")
    source = "import torch\nfrom outside import VALUE\n" + KERNEL + "    y = VALUE\n"
    inference = await bench.infer(closure(HEADER + source, roots=(str(tmp_path),)), "a=f16[64]")
    assert types_of(inference, "y") == ["Tile[int32,()] = 2"]


async def test_a_whole_module_runs_where_a_slice_would_not_be_sound(bench: Bench):
    source = HEADER + "globals()['VALUE'] = 5\nprint('top level')\n" + KERNEL
    inference = await bench.infer(closure(source, loading=Loading.IMPORT), "a=f16[64]")
    assert not inference.faults
    assert inference.output == "top level\n"
