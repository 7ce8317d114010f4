"""Sessions side by side: users play several at once, and torr reads only so far ahead."""

from __future__ import annotations

from collections import deque
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torr.sources.traces.row import TraceRow

SESSIONS_PER_USER = 2
"""Workers do not get equally many sessions, so that there have to be more than users."""
MOST_SESSIONS = 1024
"""Sessions that are held in memory at most."""


def interleaved(rows: Iterable[TraceRow], users: int) -> Iterator[TraceRow]:
    """Yield the rows of sessions for so many users: one of each in turn.

    The rows of a session stand together in `rows`, and stay in order. Sessions begin one by one, so
    that the first ones go on while later ones are read.
    """
    sessions = (deque(session) for _, session in groupby(rows, lambda row: row.session))
    most = min(SESSIONS_PER_USER * users, MOST_SESSIONS)
    turns: deque[deque[TraceRow]] = deque()
    while True:
        begun = next(sessions, None) if len(turns) < most else None
        if begun is not None:
            yield begun.popleft()
            if begun:
                turns.append(begun)
        if turns:
            session = turns.popleft()
            yield session.popleft()
            if session:
                turns.append(session)
        elif begun is None:
            return
