"""Which rows of a session follow which, in rows that come in the order of their times.

The state of a session is remembered for a bounded number of sessions, the most recent ones.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torr.sources.traces.row import Draft, TraceCounts, TraceRow

T = TypeVar("T")

MOST_SESSIONS = 1 << 15
"""At least so many of the last sessions, or of the last rows with children, are remembered."""
MOST_OVERLAPPING = 256
"""Of the requests of a session that run at the same time, the last ones that are remembered."""


class RecentlyUsed(Generic[T]):
    """The last `most` values that were stored, and up to as many older ones."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._new: dict[int, T] = {}
        self._old: dict[int, T] = {}

    def get(self, key: int) -> T | None:
        """Return a value; None if it was never stored, or is forgotten."""
        value = self._new.get(key)
        return self._old.get(key) if value is None else value

    def store(self, key: int, value: T) -> None:
        """Store a value as the most recent one."""
        if len(self._new) >= self._most:
            self._old, self._new = self._new, {}
        self._new[key] = value


def session_of(text: str) -> int:
    """Return the number of a session from the id that the trace gives it, 63 bits."""
    return (
        int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest(), "big") >> 1
    )


def pause_after(at_ns: int, ends_ns: Sequence[int | None]) -> int:
    """Return the time from the last of these ends to a start, 0 where an end is not recorded."""
    known = [end_ns for end_ns in ends_ns if end_ns is not None]
    return max(0, at_ns - max(known)) if len(known) == len(ends_ns) else 0


def alone(drafts: Iterable[Draft]) -> Iterator[TraceRow]:
    """Yield rows that have each a session of their own."""
    for number, draft in enumerate(drafts):
        yield draft.row(number, number, 1, (), 0)


def one_by_one(drafts: Iterable[Draft]) -> Iterator[TraceRow]:
    """Yield rows of sessions whose requests follow one another, as turns of a conversation."""
    # The last row of each session, its turn and its end.
    sessions: RecentlyUsed[tuple[int, int, int | None]] = RecentlyUsed(MOST_SESSIONS)
    for number, draft in enumerate(drafts):
        if draft.session is None:
            yield draft.row(number, number, 1, (), 0)
            continue
        turn, pause_ns = 1, 0
        after: tuple[int, ...] = ()
        last = sessions.get(draft.session)
        if last is not None:
            before, turns, end_ns = last
            turn, after = turns + 1, (before,)
            pause_ns = pause_after(draft.at_ns, (end_ns,))
        sessions.store(draft.session, (number, turn, draft.end_ns))
        yield draft.row(number, draft.session, turn, after, pause_ns)


def as_recorded(drafts: Iterable[Draft]) -> Iterator[TraceRow]:
    """Yield rows of sessions whose requests may overlap: each follows those that it waited for.

    These are the requests of its session that had ended when it started, without those that had
    ended before another one of them started. One whose end is not recorded counts as ended.
    """
    sessions: RecentlyUsed[_Overlapping] = RecentlyUsed(MOST_SESSIONS // 2)
    for number, draft in enumerate(drafts):
        if draft.session is None:
            yield draft.row(number, number, 1, (), 0)
            continue
        session = sessions.get(draft.session) or _Overlapping()
        sessions.store(draft.session, session)
        after, pause_ns = session.before(draft.at_ns)
        session.add(number, draft)
        yield draft.row(number, draft.session, session.turns, after, pause_ns)


def of_parents(drafts: Iterable[Draft], counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield rows that name their parents: `session` is a row's own id, `parent` that before it.

    The session is the id of the first row without a parent.
    """
    # The number, the session and the turn of each row.
    rows: RecentlyUsed[tuple[int, int, int]] = RecentlyUsed(MOST_SESSIONS)
    for number, draft in enumerate(drafts):
        own = number if draft.session is None else draft.session
        session, turn = own, draft.turn or 1
        after: tuple[int, ...] = ()
        if draft.parent is not None:
            parent = rows.get(draft.parent)
            if parent is None:
                counts.without_parent += 1
                session = draft.parent
            else:
                before, session, turns = parent
                turn, after = draft.turn or turns + 1, (before,)
        rows.store(own, (number, session, turn))
        yield draft.row(number, session, turn, after, 0)


class _Overlapping:
    """The requests of a session that later ones may wait for: number, start and end.

    Their numbers and starts ascend.
    """

    __slots__ = ("_requests", "turns")

    def __init__(self) -> None:
        self._requests: list[tuple[int, int, int | None]] = []
        self.turns = 0

    def before(self, at_ns: int) -> tuple[tuple[int, ...], int]:
        """Return the requests that one that starts now waited for, and how long ago they ended."""
        ended = [request for request in self._requests if _end_of(request) <= at_ns]
        if not ended:
            return (), 0
        # A request that had ended when the last of these started is implied by it.
        last = ended[-1]
        awaited = [x for x in ended if x is last or _end_of(x) > last[1]]
        self._requests = [x for x in self._requests if x is last or _end_of(x) > last[1]]
        pause_ns = pause_after(at_ns, [end_ns for _, _, end_ns in awaited])
        return tuple(number for number, _, _ in awaited), pause_ns

    def add(self, number: int, draft: Draft) -> None:
        """Remember a request, as the next turn."""
        request = (number, draft.at_ns, draft.end_ns)
        self._requests = [*self._requests[-MOST_OVERLAPPING:], request]
        self.turns += 1


def _end_of(request: tuple[int, int, int | None]) -> int:
    """Return the end of a request; its start where the end is not recorded."""
    _, start_ns, end_ns = request
    return start_ns if end_ns is None else end_ns
