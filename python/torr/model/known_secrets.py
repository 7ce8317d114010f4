"""Values that are known to be secret, found in texts wherever they stand.

There may be tens of thousands, such as a token in each row of a data file: they are found by how
they begin, so that a text is read once, however many there are.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from torr.model.secret_names import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable


class KnownSecrets:
    """Covers values; where they overlap in a text, all that they take up there is covered."""

    def __init__(self, values: Iterable[str]) -> None:
        """Make it ready for many texts; empty values are left out."""
        known = {value for value in values if value}
        # How many characters of a value it is looked up by.
        self._length = min(4, min(map(len, known), default=1))
        self._lengths: dict[str, list[int]] = defaultdict(list)
        for start, length in sorted({(v[: self._length], len(v)) for v in known}, reverse=True):
            self._lengths[start].append(length)
        self._known = known

    def covered(self, text: str) -> str:
        """Return the text with `***` for each value."""
        if not self._known:
            return text
        parts, end, start = [], 0, 0
        while (start := self._next(text, start)) < len(text):
            stop = self._end(text, start)
            parts += [text[end:start], REDACTED]
            end = start = stop
        return "".join((*parts, text[end:])) if parts else text

    def _next(self, text: str, start: int) -> int:
        """Where the next value begins, or the end of the text."""
        for at in range(start, len(text) - self._length + 1):
            if text[at : at + self._length] in self._lengths and self._longest(text, at):
                return at
        return len(text)

    def _end(self, text: str, start: int) -> int:
        """Where values end that begin here, or within those that do."""
        end, at = start + 1, start
        while at < end:
            end = max(end, at + self._longest(text, at))
            at += 1
        return end

    def _longest(self, text: str, at: int) -> int:
        """How long the longest value is that begins here, 0 where none does."""
        lengths = self._lengths.get(text[at : at + self._length], ())
        return next((length for length in lengths if text[at : at + length] in self._known), 0)
