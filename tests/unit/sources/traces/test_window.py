"""Parts of traces, faster and slower."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from torr.sources.traces.row import NOT_KNOWN
from torr.sources.traces.sessions import paused_from_openings
from torr.sources.traces.window import TraceWindow, windowed
from traces import row

S = 1_000_000_000


def rows_of_a_trace():
    """Rows at each second, of which every third one follows the one before it."""
    for number in range(10):
        after = (number - 1,) if number % 3 == 2 else ()
        yield row(number, number * S, after=after, followers=NOT_KNOWN, pause_ns=S // 2)


def rows_of_sessions():
    """Two sessions of four rows, at each second of their own."""
    for number in range(8):
        turn = number % 4
        links = {"after": (number - 1,) if turn else (), "followers": int(turn < 3)}
        yield row(number, turn * S, session=number // 4, turn=turn + 1, **links)


def told(rows):
    return [(each.number, each.at_ns / S, each.after, each.followers) for each in rows]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (TraceWindow(from_ns=8 * S), [(8, 0, (), -1), (9, 1, (), -1)]),
        (TraceWindow(to_ns=2 * S), [(0, 0, (), -1), (1, 1, (), -1)]),
        (TraceWindow(2 * S, 4 * S), [(2, 0, (), -1), (3, 1, (), -1)]),
        (TraceWindow(1 * S, 6 * S, most_rows=2), [(1, 0, (), -1), (2, 1, (1,), -1)]),
        (
            TraceWindow(to_ns=3 * S, time_scale=2),
            [(0, 0, (), -1), (1, 0.5, (), -1), (2, 1, (1,), -1)],
        ),
        (TraceWindow(from_ns=8 * S, time_scale=0.5), [(8, 0, (), -1), (9, 2, (), -1)]),
        (TraceWindow(from_ns=99 * S), []),
        (TraceWindow(most_rows=0), []),
    ],
)
def test_a_window_of_a_trace_has_the_rows_of_its_times(window, expected):
    assert told(windowed(rows_of_a_trace(), window, "trace")) == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (
            TraceWindow(S, 3 * S),
            [(1, 0, (), 1), (2, 1, (1,), 0), (5, 0, (), 1), (6, 1, (5,), 0)],
        ),
        (
            TraceWindow(most_rows=5),
            [(0, 0, (), 1), (1, 1, (0,), 1), (2, 2, (1,), 1), (3, 3, (2,), 0), (4, 0, (), 0)],
        ),
        (TraceWindow(3 * S), [(3, 0, (), 0), (7, 0, (), 0)]),
    ],
)
def test_a_window_of_sessions_has_the_rows_of_the_times_of_each(window, expected):
    assert told(windowed(rows_of_sessions(), window, "session")) == expected


def test_pauses_are_scaled_as_times_are():
    window = TraceWindow(time_scale=2)
    assert {each.pause_ns for each in windowed(rows_of_a_trace(), window, "trace")} == {S // 4}


def test_rows_without_times_are_all_inside():
    rows = [row(number, None) for number in range(3)]
    assert list(windowed(rows, TraceWindow(from_ns=5, most_rows=2), "none")) == rows[:2]


def test_everything_is_passed_on_as_it_is():
    rows = list(rows_of_a_trace())
    assert all(a is b for a, b in zip(windowed(rows, TraceWindow(), "trace"), rows, strict=True))


@pytest.mark.parametrize(
    ("window", "read"), [(TraceWindow(to_ns=3 * S), 4), (TraceWindow(most_rows=3), 3)]
)
def test_no_more_rows_are_read_than_a_window_needs(window, read):
    rows = rows_of_a_trace()
    assert len(list(windowed(rows, window, "trace"))) == 3
    assert next(rows).number == read


def test_rows_of_a_session_that_follow_no_other_pause_from_its_first_row():
    late = [replace(each, after=(), pause_ns=9) for each in rows_of_sessions()]
    window = TraceWindow(from_ns=S, time_scale=2)
    rows = list(paused_from_openings(windowed(late, window, "session")))
    assert [(each.number, each.pause_ns / S) for each in rows] == [
        (1, 0),
        (2, 0.5),
        (3, 1),
        (5, 0),
        (6, 0.5),
        (7, 1),
    ]
    linked = [each for each in paused_from_openings(rows_of_a_trace()) if each.after]
    assert [each.pause_ns for each in linked] == [S // 2] * 3
    untimed = [row(number, None) for number in range(3)]
    assert [each.pause_ns for each in paused_from_openings(untimed)] == [0] * 3
