"""Where the zero of a load is, told by the intervals that come."""

import pytest

from torr.monitor.time_axis import TimeAxis


def test_before_an_interval_has_come_the_zero_is_what_was_planned():
    assert TimeAxis(12.0).at(10.5) == -1.5


def test_an_interval_comes_after_its_end_so_the_soonest_one_counts():
    axis = TimeAxis(12.0)
    axis.interval_came(-1.0, 11.004, is_measured=False)
    assert axis.zero_s == 12.0
    axis.interval_came(1.0, 13.050, is_measured=True)
    axis.interval_came(2.0, 14.003, is_measured=True)
    axis.interval_came(3.0, 15.070, is_measured=True)
    assert axis.zero_s == pytest.approx(12.003)


def test_a_window_that_opened_late_settles_the_zero():
    axis = TimeAxis(12.0)
    axis.interval_came(1.0, 15.5, is_measured=True)
    axis.interval_came(-0.2, 12.0, is_measured=False)
    assert axis.zero_s == 14.5


@pytest.mark.parametrize(
    ("now", "tick"),
    [(10.0, 10.5), (10.49, 11.5), (10.5, 11.5), (10.51, 11.5), (13.2, 13.5), (9.499, 10.5)],
)
def test_ticks_are_whole_seconds_of_the_axis_and_none_rings_twice(now, tick):
    assert TimeAxis(12.5).next_tick(now, 1.0) == pytest.approx(tick)
