"""Sessions side by side, in the order in which users need their rows."""

from __future__ import annotations

import tracemalloc
from itertools import chain, islice

from msgspec import structs

from torr.sources.traces.interleaved import MOST_SESSIONS, interleaved
from torr.sources.traces.row import TraceRow
from traces import with_blocks


def session(number, rows, first=0):
    """Return rows of a session, numbered from `first`."""
    return [TraceRow(first + turn, None, number, turn + 1, (), 0, 0, 1, 1) for turn in range(rows)]


def order(rows, users):
    return [(row.session, row.turn) for row in interleaved(iter(rows), users)]


def test_sessions_begin_one_by_one_and_take_turns():
    rows = chain(session(0, 3), session(1, 3), session(2, 1))
    assert order(rows, 1) == [(0, 1), (0, 2), (1, 1), (0, 3), (2, 1), (1, 2), (1, 3)]


def test_each_user_has_a_session_before_any_goes_on():
    rows = list(chain.from_iterable(session(number, 4) for number in range(10)))
    assert order(rows, 4)[:4] == [(0, 1), (1, 1), (2, 1), (3, 1)]


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
    # One for each user that fits, and then one for each row of another.
    assert read <= 5 * MOST_SESSIONS // 2 + 2


def test_blocks_that_the_rows_of_a_session_share_are_in_memory_once():
    def sessions():
        for number in range(20):
            ids = list(range(number << 40, (number << 40) + 1000))
            for turn in range(60):
                yield structs.replace(with_blocks(turn, ids[: 940 + turn]), session=number)

    tracemalloc.start()
    rows = interleaved(sessions(), 10)
    begun = list(islice(rows, 400))
    lengths = {len(row.hash_ids) for row in begun}
    del begun
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert max(lengths) > 950
    # 20 sessions of 60 rows with 8 bytes for each block would be 9 MB.
    assert held < 3_000_000
    found = sorted(interleaved(sessions(), 3), key=lambda row: row.session)
    assert found == list(sessions())
