"""Moments as result.json writes them."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from torr.model.moment import read_stamp, stamp


def test_a_moment_is_read_as_it_was_written():
    moment = datetime(2026, 1, 31, 12, 0, 0, 5000, tzinfo=timezone.utc)
    assert stamp(moment) == "2026-01-31T12:00:00.005Z"
    assert read_stamp(stamp(moment)) == moment
    assert read_stamp("2026-01-31T13:00:00.005+01:00") == moment
    assert read_stamp("2026-01-31T12:00:00.005") == moment


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "0001-01-01T00:00:00+23:00"],
)
def test_what_no_clock_says_is_refused(text):
    with pytest.raises(ValueError, match=r"between the years|Invalid isoformat"):
        read_stamp(text)
