"""Sessions side by side, in the order in which users need their rows."""

from __future__ import annotations

from itertools import chain, islice

from torr.sources.traces.interleaved import MOST_SESSIONS, interleaved
from torr.sources.traces.row import TraceRow


def session(number, rows, first=0):
    """Return rows of a session, numbered from `first`."""
    return [TraceRow(first + turn, None, number, turn + 1, (), 0, 0, 1, 1) for turn in range(rows)]


def order(rows, users):
    return [(row.session, row.turn) for row in interleaved(iter(rows), users)]


def test_sessions_begin_one_by_one_and_take_turns():
    rows = chain(session(0, 3), session(1, 3), session(2, 1))
    assert order(rows, 1) == [(0, 1), (0, 2), (1, 1), (0, 3), (2, 1), (1, 2), (1, 3)]


def test_all_rows_come_once_and_those_of_a_session_in_order():
    sizes = [5, 1, 1, 30, 2, 9, 1, 4] * 5
    rows = list(chain.from_iterable(session(number, size) for number, size in enumerate(sizes)))
    for users in (1, 3, 100):
        found = order(rows, users)
        assert sorted(found) == [(row.session, row.turn) for row in rows]
        assert all(
            [turn for number, turn in found if number == one] == list(range(1, size + 1))
            for one, size in enumerate(sizes)
        )
    assert order([], 3) == []


def test_of_long_sessions_twice_as_many_are_read_as_there_are_users():
    read = []

    def sessions():
        for number in range(100):
            read.append(number)
            yield from session(number, 1000)

    rows = list(islice(interleaved(sessions(), 4), 200))
    # The first row of the next session shows where one ends.
    assert len({row.session for row in rows}) == 8 == len(read) - 1


def test_sessions_in_memory_are_limited():
    read = 0

    def rows():
        nonlocal read
        for number in range(3 * MOST_SESSIONS):
            read += 1
            yield from session(number, 2)

    found = islice(interleaved(rows(), 1 << 20), 4 * MOST_SESSIONS)
    assert sum(1 for _ in found) == 4 * MOST_SESSIONS
    assert read <= 2 * MOST_SESSIONS + 2
