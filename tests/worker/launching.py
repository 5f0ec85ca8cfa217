"""Run by path, with the interpreter that has cuTile: what a launch would assume of arrays, beside what the worker makes
of the notation for them.

To derive a signature cuTile asks libcuda for nothing but its version, so a table of functions that all succeed is
driver enough. Writes a JSON list of `[case, from a launch, from the notation]`.
"""

import contextlib
import ctypes
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Annotated, Any

_Call = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 8)
_Lookup = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p
)


@_Call
def _succeed(*arguments: Any) -> int:
    return 0


@_Call
def _version(written: int, *arguments: Any) -> int:
    ctypes.cast(written, ctypes.POINTER(ctypes.c_int))[0] = 13010
    return 0


@_Lookup
def _lookup(name: bytes, found: Any, version: int, flags: int, status: Any) -> int:
    function = _version if name == b"cuDriverGetVersion" else _succeed
    found[0] = ctypes.cast(function, ctypes.c_void_p).value
    return 0


def install_driver() -> Any:
    entry = ctypes.c_void_p(ctypes.cast(_lookup, ctypes.c_void_p).value)
    module = types.ModuleType("cuda.tile._load_libcuda")
    module.cuGetProcAddress_v2_ptrptr = ctypes.addressof(entry)
    sys.modules[module.__name__] = module
    return entry


def load_worker(folder: str) -> None:
    spec = importlib.util.spec_from_file_location(
        "_tile_lsp_worker", f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


class Array:
    """Enough of an array on a device to be launched with."""

    def __init__(self, typestr: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, address: int) -> None:
        size = int(typestr[2:])
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": typestr,
            "data": (address, False),
            "strides": None if strides is None else tuple(stride * size for stride in strides),
        }


def _kernel(ct: Any, annotation: Any) -> Any:
    def kernel(a):
        pass

    if annotation is not None:
        kernel.__annotations__["a"] = annotation
    return ct.kernel(kernel)


def main() -> None:
    driver = install_driver()
    load_worker(sys.argv[1])
    import cuda.tile as ct
    from _tile_lsp_worker.drivers.cutile import signature
    from _tile_lsp_worker.drivers.cutile.compiler import Compiler
    from cuda.tile.compilation import KernelSignature

    annotations = {
        "plain": lambda: None,
        "long": lambda: ct.IndexedWithInt64,
        "fixed_shape": lambda: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1))],
        "fixed_strides": lambda: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0,))],
    }
    kernels = {}
    for name, make in annotations.items():
        # Not every version has them all.
        with contextlib.suppress(AttributeError, TypeError):
            kernels[name] = _kernel(ct, make())

    compiler = Compiler()
    compared = []
    for name, typestr, shape, strides, address, spec in json.loads(sys.stdin.read()):
        if name not in kernels:
            continue
        kernel = kernels[name]
        array = Array(typestr, tuple(shape), strides and tuple(strides), address)
        launched = KernelSignature.from_kernel_args(kernel, (array,), compiler.convention).parameters[0]
        [made] = signature.constraints(compiler, kernel, [["a", spec]], eval)
        compared.append([f"{name} {spec}", repr(launched), repr(made.constraint)])
    sys.stdout.write(json.dumps(compared))
    del driver


if __name__ == "__main__":
    assert Path(sys.argv[1]).is_dir()
    main()
