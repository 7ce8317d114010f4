"""Looks come once a second, or as rarely as their cost wants, by clocks that the test sets."""

from __future__ import annotations

import threading
import time

import pytest

from torr.monitor.ticker import Ticker
from torr.monitor.time_axis import TimeAxis


def resting(cost_s, now_s):
    ticker = Ticker(lambda: None, TimeAxis(100.0), "test")
    ticker._began_s, ticker.cost_s = 100.0, cost_s
    return now_s + ticker._wait_s(now_s)


@pytest.mark.parametrize(
    ("cost_s", "now_s", "next_s"),
    [(0.0, 100.4, 101.0), (0.005, 101.0, 102.0), (0.025, 101.0, 103.0), (0.2, 101.0, 120.0)],
)
def test_the_next_look_waits_until_looks_have_cost_one_percent(cost_s, now_s, next_s):
    assert resting(cost_s, now_s) == pytest.approx(next_s)


def test_looks_are_made_behind_the_caller_and_end_when_told():
    looked, threads = threading.Event(), []

    def look():
        threads.append(threading.get_ident())
        looked.set()

    ticker = Ticker(look, TimeAxis(time.monotonic()), "test", immediately=True)
    ticker.start()
    assert looked.wait(20)
    ticker.stop()
    assert threading.get_ident() not in threads
    assert ticker.cost_s > 0
    assert not any(thread.name == "torr-test" for thread in threading.enumerate())
