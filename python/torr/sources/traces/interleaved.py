"""Sessions side by side: users play several at once, and torr reads only so far ahead."""

from __future__ import annotations

from collections import deque
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.sources.traces.row import TraceRow

SESSIONS_PER_USER = 2
"""Workers do not get equally many sessions, so that there have to be more than users."""
MOST_SESSIONS = 1024
"""Sessions that are held in memory at most."""

# Equal ones of a session are stored once: its requests repeat the beginnings of those before them.
_PART_BLOCKS = 64


def interleaved(rows: Iterable[TraceRow], users: int) -> Iterator[TraceRow]:
    """Yield the rows of sessions for so many users: one of each in turn.

    The rows of a session stand together in `rows`, and stay in order. After the first row of a
    session for each user, sessions begin one by one, so that the first ones go on while later ones
    are read.
    """
    sessions = (_BegunSession(session) for _, session in groupby(rows, lambda row: row.session))
    most = min(SESSIONS_PER_USER * users, MOST_SESSIONS)
    turns: deque[_BegunSession] = deque()
    for first in islice(sessions, min(users, most) - 1):
        yield first.next_row()
        if first.rows:
            turns.append(first)
    while True:
        begun = next(sessions, None) if len(turns) < most else None
        if begun is not None:
            yield begun.next_row()
            if begun.rows:
                turns.append(begun)
        if turns:
            session = turns.popleft()
            yield session.next_row()
            if session.rows:
                turns.append(session)
        elif begun is None:
            return


class _BegunSession:
    """The rows of a session that are left, and the ids of their blocks in parts."""

    def __init__(self, rows: Iterable[TraceRow]) -> None:
        known: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.rows = deque((replace(row, hash_ids=()), _parts(row, known)) for row in rows)

    def next_row(self) -> TraceRow:
        row, parts = self.rows.popleft()
        return replace(row, hash_ids=tuple(chain.from_iterable(parts)))


def _parts(
    row: TraceRow, known: dict[tuple[int, ...], tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    ids = row.hash_ids
    starts = range(0, len(ids), _PART_BLOCKS)
    parts = (ids[start : start + _PART_BLOCKS] for start in starts)
    return tuple(known.setdefault(part, part) for part in parts)
