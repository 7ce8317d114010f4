"""A dict of bounded size, since a locustfile may generate any number of names and fields."""

from __future__ import annotations

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedDict(dict[Key, Value]):
    """A dict that is emptied when an entry is added to `limit` entries."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        if len(self) >= self._limit:
            self.clear()
        super().__setitem__(key, value)
