"""Rows in the order of their times, by looking a bounded number of rows ahead."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from torr.errors import FileError
from torr.messages.say import say
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from torr.sources.traces.row import Draft

MOST_ROWS_AHEAD = 1024
"""How many rows later a row may stand than the order of times demands."""
MOST_BYTES_AHEAD = 16 << 20
"""Rows with long texts or many blocks are read less far ahead: they occupy about this memory."""

# What a block's id occupies.
_ID_BYTES = 40


def in_order(drafts: Iterable[Draft], path: Path) -> Iterator[Draft]:
    """Yield rows in the order of their times, which then begin at 0; raise FileError.

    Logs have the order in which requests ended, so that a row may stand behind later ones.
    """
    ahead: list[tuple[int, int, Draft]] = []
    size = 0
    emit = _Emitter(path)
    for number, draft in enumerate(drafts):
        size += _size(draft)
        # Rows of the same time stay in order, also those of one line.
        heappush(ahead, (draft.at_ns, number, draft))
        while len(ahead) > MOST_ROWS_AHEAD or (size > MOST_BYTES_AHEAD and len(ahead) > 1):
            first = heappop(ahead)[2]
            size -= _size(first)
            yield emit.draft(first)
    while ahead:
        yield emit.draft(heappop(ahead)[2])


def spread_in_seconds(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield rows whose times are whole seconds at equal distances within their second.

    Otherwise each second would begin with a burst that the recorded load did not have. Times are
    whole seconds if those of the rows just before and behind are. More than MOST_ROWS_AHEAD rows
    of one second stay together.
    """
    before: int | None = None
    for same, following in _groups(drafts):
        time, count = same[0].at_ns, len(same)
        is_whole = not any(each % SECOND_NS for each in (before, time, following) if each)
        if is_whole and time not in (before, following):
            for number, draft in enumerate(same):
                draft.at_ns = time + number * SECOND_NS // count
        before = time
        yield from same


def _groups(drafts: Iterable[Draft]) -> Iterator[tuple[list[Draft], int | None]]:
    """Yield rows of the same time, at most MOST_ROWS_AHEAD, with the time of the next ones."""
    same: list[Draft] = []
    for draft in drafts:
        if same and (draft.at_ns != same[0].at_ns or len(same) == MOST_ROWS_AHEAD):
            yield same, draft.at_ns
            same = []
        same.append(draft)
    if same:
        yield same, None


class _Emitter:
    """The times of the first and of the last row that were passed on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: int | None = None
        self._last = 0

    def draft(self, draft: Draft) -> Draft:
        """Return the row with its time from the first; raise FileError if it is too late."""
        if self._first is None:
            self._first = self._last = draft.at_ns
        if draft.at_ns < self._last:
            raise FileError(
                self._path,
                draft.line,
                say("this row is earlier than rows far before it"),
                say(
                    "sort the file by its times; rows may be out of order by at most {most:,} rows"
                    " and {mib} MiB of texts and ids of blocks",
                    most=MOST_ROWS_AHEAD,
                    mib=MOST_BYTES_AHEAD >> 20,
                ),
            )
        self._last = draft.at_ns
        draft.at_ns -= self._first
        return draft


def _size(draft: Draft) -> int:
    texts = sum(message.size for message in draft.messages)
    return texts + _ID_BYTES * len(draft.hash_ids)
