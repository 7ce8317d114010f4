"""Which rows of a session follow which, in rows that come in the order of their times.

The state of a session is remembered for a bounded number of sessions, the most recent ones.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

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
    return max(0, at_ns - max(known)) if known and len(known) == len(ends_ns) else 0


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
    sessions: RecentlyUsed[_Session] = RecentlyUsed(MOST_SESSIONS // 2)
    for number, draft in enumerate(drafts):
        if draft.session is None:
            yield draft.row(number, number, 1, (), 0)
            continue
        session = sessions.get(draft.session) or _Session()
        sessions.store(draft.session, session)
        awaited = session.requests.before(draft.at_ns)
        session.requests.add(_Request(number, draft.at_ns, draft.end_ns))
        session.turns += 1
        pause_ns = pause_after(draft.at_ns, [request.end_ns for request in awaited])
        after = tuple(request.number for request in awaited)
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


def paused_from_openings(rows: Iterable[TraceRow]) -> Iterator[TraceRow]:
    """Yield the rows with the pauses of those that follow no other: from their session's first row.

    Users who play sessions send these so long after they began the session.
    """
    starts: RecentlyUsed[int] = RecentlyUsed(MOST_SESSIONS)
    for row in rows:
        if row.at_ns is None:
            yield row if row.after or not row.pause_ns else replace(row, pause_ns=0)
            continue
        start_ns = starts.get(row.session)
        if start_ns is None:
            start_ns = row.at_ns
            starts.store(row.session, start_ns)
        yield row if row.after else replace(row, pause_ns=row.at_ns - start_ns)


class Timed(Protocol):
    """A request with its start, and its end where that is recorded."""

    @property
    def at_ns(self) -> int: ...  # noqa: D102 - said above

    @property
    def end_ns(self) -> int | None: ...  # noqa: D102 - said above


R = TypeVar("R", bound=Timed)


class Overlapping(Generic[R]):
    """The requests that later ones of a session or an agent may wait for, by their starts.

    A request that ended up to `rounding_ns` after the start of another counts as ended by then.
    """

    def __init__(self, rounding_ns: int = 0) -> None:
        self._requests: list[R] = []
        self._rounding_ns = rounding_ns

    def before(self, at_ns: int) -> tuple[R, ...]:
        """Return the requests that one which starts at a time waited for."""
        ended = [it for it in self._requests if self.has_ended(it, at_ns)]
        if not ended:
            return ()
        # A request that had ended when the last of these started is implied by it.
        last = ended[-1]
        implied = {id(it) for it in ended if it is not last and self.has_ended(it, last.at_ns)}
        self._requests = [it for it in self._requests if id(it) not in implied]
        return tuple(it for it in ended if id(it) not in implied)

    def has_ended(self, request: Timed, at_ns: int) -> bool:
        """Return whether a request had ended at a time; yes where its end is not recorded."""
        return request.end_ns is None or request.end_ns - self._rounding_ns <= at_ns

    def has_running(self, at_ns: int) -> bool:
        """Return whether one of the requests runs at a time."""
        return not all(self.has_ended(it, at_ns) for it in self._requests)

    def add(self, request: R) -> None:
        """Remember a request."""
        self._requests = [*self._requests[-MOST_OVERLAPPING:], request]


class _Request(NamedTuple):
    number: int
    at_ns: int
    end_ns: int | None


class _Session:
    __slots__ = ("requests", "turns")

    def __init__(self) -> None:
        self.requests: Overlapping[_Request] = Overlapping()
        self.turns = 0
