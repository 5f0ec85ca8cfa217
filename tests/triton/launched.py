"""Where there is a GPU: what a launch compiles is what tile-lsp shows, text by text.

    python tests/triton/launched.py        (by an interpreter that has torch and triton; no test runner is needed)

Launches the examples, takes the PTX and TTIR that triton made of each launch, and has the worker's driver make its own
from the closure and the arguments' notation. Prints a line for each; exits with 1 where texts differ.
"""

from __future__ import annotations

import ast
import base64
import re
import sys
from pathlib import Path
from typing import Any

import torch
import triton

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "triton"
sys.path[:0] = [str(EXAMPLES), str(ROOT / "tile_lsp")]


def launches() -> list[tuple[str, str, dict[str, str], dict[str, int], Any]]:
    """File, kernel, arguments in tile-lsp's notation, options, and the compiled kernel of a launch."""
    import add
    import layer_norm
    import softmax

    x = torch.rand(98432, device="cuda")
    made = [
        (
            "add.py",
            "add",
            {"x_ptr": "*fp32:16", "y_ptr": "*fp32:16", "output_ptr": "*fp32:16", "n": str(size), "BLOCK": "1024"},
            {},
            add.add[(97,)](x, x, x.clone(), size, BLOCK=1024),
        )
        for size in (98432, 98431, 1)
    ]
    rows = torch.rand(64, 1000, device="cuda", dtype=torch.float16)
    made.append(
        (
            "softmax.py",
            "softmax",
            {
                **dict.fromkeys(("out_ptr", "in_ptr"), "*fp16:16"),
                **dict.fromkeys(("out_stride", "in_stride", "columns"), "1000"),
                "BLOCK": "1024",
            },
            {"num_warps": 8},
            softmax.softmax[(64,)](torch.empty_like(rows), rows, 1000, 1000, 1000, BLOCK=1024, num_warps=8),
        )
    )
    weight = torch.rand(1000, device="cuda", dtype=torch.float16)
    mean = torch.empty(64, device="cuda")
    made.append(
        (
            "layer_norm.py",
            "forward",
            {
                **dict.fromkeys(("x_ptr", "y_ptr", "weight_ptr", "bias_ptr"), "*fp16:16"),
                **dict.fromkeys(("mean_ptr", "rstd_ptr"), "*fp32:16"),
                "stride": "1000",
                "n": "1000",
                "eps": "1e-05",
                "BLOCK": "1024",
            },
            {},
            layer_norm.forward[(64,)](
                rows, torch.empty_like(rows), weight, weight, mean, mean.clone(), 1000, 1000, 1e-5, BLOCK=1024
            ),
        )
    )
    return made


def shown(file: str, kernel: str, arguments: dict[str, str], options: dict[str, int], target: str) -> dict[str, str]:
    """TTIR and PTX as the driver makes them."""
    members = []
    for statement in ast.parse((EXAMPLES / file).read_text()).body[1:]:
        name = getattr(statement, "name", f"import{statement.lineno}")
        if name != "launch":
            members.append({"id": f"main/{name}", "module": "main", "text": ast.unparse(statement) + "\n"})
    module = {"name": "main", "path": f"/{file}", "package": False, "members": members}
    closure = {"entry": {"module": "main", "expression": kernel, "qualname": kernel}, "modules": [module]}
    request = {"closure": closure, "arguments": list(map(list, arguments.items())), "fields": {}}
    held, result = DRIVER.infer(request, STANDINS)
    assert held is not None, result["inference"]["faults"]
    text = held.listings()["typed"]["text"]
    blobs = held.codegen({"targets": [target], "hints": options})["blobs"]
    return {"ttir": text, "ptx": base64.b64decode(blobs["ptx"]).decode()}


def bare(text: str) -> str:
    """Without what is there for debuggers, which names files and lines."""
    text = re.sub(r"\.section\s+\.debug.*", "", text, flags=re.DOTALL)
    inner = r' loc\((?:#loc\d*|"\w+"\(#loc\d*\)|callsite\(#loc\d* at #loc\d*\))\)'
    lines = [re.sub(r"//.*$", "", re.sub(inner, "", line)) for line in text.split("\n")]
    return "\n".join(
        line.rstrip() for line in lines if line.strip() and not re.match(r"\s*(\.loc|\.file|#loc|\$L__tmp)", line)
    )


def main(launched: list[Any]) -> int:
    major, minor = torch.cuda.get_device_capability()
    differing = 0
    for file, kernel, arguments, options, compiled in launched:
        mine = shown(file, kernel, arguments, options, f"sm_{major}{minor}")
        for stage, text in mine.items():
            same = bare(text) == bare(compiled.asm[stage])
            differing += not same
            print(f"{kernel:10} {arguments.get('n', ''):8} {stage:5} {'same' if same else 'DIFFERS'} {len(bare(text))}")
    print(f"triton {triton.__version__} on {torch.cuda.get_device_name()}: {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    from worker.drivers.triton import Triton
    from worker.standins import StandIns

    LAUNCHED = launches()  # before the driver puts its own device in place of the real one
    DRIVER, STANDINS = Triton(), StandIns()
    DRIVER.start(STANDINS)
    sys.exit(main(LAUNCHED))
