"""A bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Lru(Generic[V]):
    """Holds the `size` most recently used values; `evicted` sees each one that is dropped for room."""

    def __init__(self, size: int, evicted: Callable[[V], None] | None = None) -> None:
        self._size = size
        self._evicted = evicted
        self._values: OrderedDict[str, V] = OrderedDict()

    def get(self, key: str) -> V | None:
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: str, value: V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._size:
            _, old = self._values.popitem(last=False)
            if self._evicted is not None:
                self._evicted(old)

    def drop_all(self) -> None:
        values, self._values = self._values, OrderedDict()
        for value in values.values():
            if self._evicted is not None:
                self._evicted(value)

    def discard(self, key: str) -> None:
        self._values.pop(key, None)

    def drop(self, unwanted: Callable[[V], bool]) -> None:
        for key in [key for key, value in self._values.items() if unwanted(value)]:
            del self._values[key]
