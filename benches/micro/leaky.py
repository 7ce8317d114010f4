"""Functions of which every tenth operation leaves a thing behind, of kinds that programs leave."""

from __future__ import annotations

import ctypes
import mmap
from array import array
from collections.abc import Callable
from typing import Any

_KEPT: list[object] = []
_KNOWN: dict[str, object] = {}


class Node:
    """An object of a program's own."""

    def __init__(self) -> None:
        self.other: Node | None = None


def _circle() -> Node:
    node = Node()
    node.other = node
    return node


def _keeping(make: Callable[[int], object]) -> Callable[[int], None]:
    """Keep what every tenth number makes; all of them make it, so that making is no difference."""

    def leave(number: int) -> None:
        made = make(number)
        if number % 10 == 0:
            _KEPT.append(made)

    return leave


def _key(number: int) -> None:
    if number % 10 == 0:
        _KNOWN[f"{len(_KNOWN)} in all"] = None


_C = ctypes.CDLL(None)
_C.mmap.restype = ctypes.c_void_p
_C.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_SIZE = 16_384


def _allocate(number: int) -> None:
    """What C code keeps, which Python knows nothing of: pages that no allocator has left over."""
    if number % 10 == 0:
        what, how = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        ctypes.memset(_C.mmap(None, _SIZE, what, how, -1, 0), 1, _SIZE)


class _InPlace:
    """What grows in place, without an object or a block more; it begins anew with a watch."""

    def __init__(self, make: Callable[[], Any], one: object) -> None:
        self._make, self._one = make, one
        self._room = make()

    def __call__(self, number: int) -> None:
        if number == 0:
            self._room = self._make()
        if number % 10 == 0:
            self._room.append(self._one)


LEAKY: dict[str, Callable[[int], object]] = {
    "an object": _keeping(lambda _: Node()),
    "a text": _keeping(lambda number: f"{number} is kept"),
    "a key": _key,
    "a circle": _keeping(lambda _: _circle()),
    "a closure": _keeping(lambda number: lambda: number),
    "bytes": _keeping(lambda number: bytes(600 + number % 100)),
    "a list of nothing": _InPlace(list, None),
    "numbers in place": _InPlace(lambda: array("d"), 1.0),
    "memory of C": _allocate,
}
