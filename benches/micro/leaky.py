"""Functions of which every tenth operation leaves a thing behind, of kinds that programs leave."""

from __future__ import annotations

from collections.abc import Callable

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


LEAKY: dict[str, Callable[[int], object]] = {
    "an object": _keeping(lambda _: Node()),
    "a text": _keeping(lambda number: f"{number} is kept"),
    "a key": _key,
    "a circle": _keeping(lambda _: _circle()),
    "a closure": _keeping(lambda number: lambda: number),
    "bytes": _keeping(lambda number: bytes(600 + number % 100)),
}
