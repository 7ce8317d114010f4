"""Covering of known secret values in texts.

There may be tens of thousands of values, such as a token in each row of a data file. They are
looked up by their first characters, so that a text is read once, however many values there are.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from torr.model.secret_names import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable


class KnownSecrets:
    """Secret values; where they overlap in a text, everything from first to last is covered."""

    def __init__(self, values: Iterable[str]) -> None:
        """Index the values by their first characters; empty values are left out."""
        distinct = {value for value in values if value}
        # The number of first characters by which a value is looked up.
        self._length = min(4, min(map(len, distinct), default=1))
        self._lengths: dict[str, list[int]] = defaultdict(list)
        for start, length in sorted({(v[: self._length], len(v)) for v in distinct}, reverse=True):
            self._lengths[start].append(length)
        self._values = distinct

    def covered(self, text: str) -> str:
        """Return the text with `***` for each value."""
        if not self._values:
            return text
        parts, end, start = [], 0, 0
        while (start := self._next(text, start)) < len(text):
            stop = self._end(text, start)
            parts += [text[end:start], REDACTED]
            end = start = stop
        return "".join((*parts, text[end:])) if parts else text

    def _next(self, text: str, start: int) -> int:
        """Return the position at which the next value begins, or the length of the text."""
        for position in range(start, len(text) - self._length + 1):
            if text[position : position + self._length] in self._lengths and self._longest(
                text, position
            ):
                return position
        return len(text)

    def _end(self, text: str, start: int) -> int:
        """Return the end of the overlapping values of which the first begins at `start`."""
        end, position = start + 1, start
        while position < end:
            end = max(end, position + self._longest(text, position))
            position += 1
        return end

    def _longest(self, text: str, position: int) -> int:
        """Return the length of the longest value that begins at a position, 0 without one."""
        lengths = self._lengths.get(text[position : position + self._length], ())
        return next(
            (length for length in lengths if text[position : position + length] in self._values), 0
        )
