"""How many streams were open, on streams whose answer is known."""

from __future__ import annotations

from streams.joined import Stream
from streams.late import least_open

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
