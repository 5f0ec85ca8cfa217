"""What triton by itself makes of a kernel: PTX, and bytes of shared memory, as JSON on standard output. Run by an
interpreter that has it.

python plain.py FILE KERNEL TARGET '{"arguments": [["x_ptr", "*fp16:16"], …], "options": {"num_warps": 4}}'
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental import gluon

_POINTER_OR_NUMBER = re.compile(r"(\*?(?:[iu]\d+|fp\d+|bf16))(:16)?")


def source(kernel: Any, arguments: list[list[str]]) -> Any:
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    attributes = {}
    for index, (name, spec) in enumerate(arguments):
        found = _POINTER_OR_NUMBER.fullmatch(spec)
        if found is None or kernel.params[index].is_constexpr:
            signature[name], constants[name] = "constexpr", eval(spec)
            continue
        signature[name] = found[1]
        if found[2]:
            attributes[index,] = [["tt.divisibility", 16]]
    if kernel.is_gluon():
        from_gluon = getattr(gluon, "GluonASTSource", None) or gluon._runtime.GluonASTSource
        return from_gluon(kernel, signature, constants, attributes)
    return ASTSource(kernel, signature, constants, attributes)


def main(path: str, name: str, target: str, given: str) -> None:
    spec = importlib.util.spec_from_file_location("plain", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    while not isinstance(kernel, triton.JITFunction):
        kernel = kernel.fn
    request = json.loads(given)
    compiled = triton.compile(
        source(kernel, request["arguments"]),
        target=GPUTarget("cuda", int(target.removeprefix("sm_")), 32),
        options=request["options"],
    )
    json.dump({"ptx": compiled.asm["ptx"], "shared": compiled.metadata.shared}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
