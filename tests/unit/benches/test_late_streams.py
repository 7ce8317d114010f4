"""How many streams were open, and when their target was on time, on streams that are known."""

from __future__ import annotations

from streams.joined import Stream
from streams.late import is_on_time, least_open

SECOND = 1_000_000_000


def test_the_fewest_open_streams_of_a_window_count():
    streams = [
        Stream(1, begin * SECOND, 0, end * SECOND) for begin, end in ((0, 10), (0, 4), (5, 9))
    ]
    assert least_open(streams, 1 * SECOND, 3 * SECOND) == 2
    assert least_open(streams, 1 * SECOND, 8 * SECOND) == 1
    assert least_open(streams, 9 * SECOND, 11 * SECOND) == 0


def test_a_stream_is_open_until_its_last_text():
    assert least_open([Stream(1, 0, 0, 2 * SECOND)], 0, 2 * SECOND + 1) == 1
    assert least_open([Stream(1, 0, 0, 2 * SECOND - 1)], 0, 2 * SECOND + 1) == 0


def test_the_target_is_on_time_again_a_tenth_of_a_second_after_a_late_text():
    delays = [2 * SECOND, 5 * SECOND]
    times = [2 * SECOND - 1, 2 * SECOND, 2 * SECOND + SECOND // 10, 2 * SECOND + SECOND // 10 + 1]
    assert [is_on_time(delays, now) for now in times] == [True, False, False, True]
    assert is_on_time([], 0)
