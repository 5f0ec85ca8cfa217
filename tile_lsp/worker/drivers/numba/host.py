"""What host code around a kernel does with a device, for as long as there is none.

A closure may hold some of it: a global array that a kernel takes its length from, a stream. Arrays stay where they
are; a kernel that captures one would hold its address, which only a GPU can tell.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ... import faults, inputs
from .api import cuda, declarations, typeof_impl

_SHAPED = ("device_array", "pinned_array", "mapped_array", "managed_array")
_LIKE = ("device_array_like", "pinned_array_like", "mapped_array_like")
_NOTHING = ("synchronize", "select_device", "close", "profile_start", "profile_stop", "defer_cleanup")


class OnDevice(np.ndarray):
    """An array that would be in a device's memory."""

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        return np.array(self)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = ary


def _type_of(value: OnDevice, context: Any) -> Any:
    message = "The kernel captures an array in device memory, whose address only a GPU can tell"
    raise faults.Refused(faults.fault(faults.ENVIRONMENT, message, code="device"))


def install() -> None:
    """In place of what asks for a device, once a process."""
    typeof_impl.register(OnDevice)(_type_of)
    cuda.to_device = lambda obj, *rest, **keywords: np.asarray(obj).view(OnDevice)
    for name in _SHAPED:
        setattr(cuda, name, _shaped)
    for name in _LIKE:
        setattr(cuda, name, lambda ary, *rest, **keywords: np.empty_like(np.asarray(ary)).view(OnDevice))
    for name in _NOTHING:
        if hasattr(cuda, name):
            setattr(cuda, name, lambda *arguments, **keywords: None)
    _note_linked_files()
    cuda.stream = cuda.default_stream = lambda *arguments, **keywords: 0


def _note_linked_files() -> None:
    """What is linked with a kernel is part of its meaning: a file of CUDA C++, as a helper's text is."""
    stock = declarations.declare_device_function

    def declare_device_function(name: Any, restype: Any, argtypes: Any, link: Any, *rest: Any, **keywords: Any) -> Any:
        note_linked(link)
        return stock(name, restype, argtypes, link, *rest, **keywords)

    declarations.declare_device_function = declare_device_function


def note_linked(link: Any) -> None:
    for one in link if isinstance(link, (list, tuple, set)) else (link,):
        if isinstance(one, (str, os.PathLike)):
            inputs.note_file(os.fspath(one))


def _shaped(shape: Any, dtype: Any = np.float64, *rest: Any, **keywords: Any) -> Any:
    return np.empty(shape, dtype).view(OnDevice)
