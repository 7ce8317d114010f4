"""Whether a target keeps up with a rate: on windows whose truth is known."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import msgspec
import pytest

from doubles import Truth, measured_interval, measured_level
from torr.experiments.backlog import Backlog, falls_behind
from torr.model.pace import Fed, Open
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.units import SECOND_NS


def backlog(*counts, seconds=1.0):
    found = Backlog()
    for second, count in enumerate(counts):
        members = {"requests_open": count, "seconds": seconds}
        found.interval_came(measured_interval(Truth(), second, **members))
    return found


def queue(rate, capacity, service_s, seconds=10, seed=None):
    """Return the backlog of a server that answers `capacity` a second, from an empty start."""
    chance = random.Random(seed)
    waiting, counts = 0.0, []
    for _ in range(seconds * 10):
        arrived = rate / 10 if seed is None else _poisson(chance, rate / 10)
        waiting = max(0.0, waiting + arrived - capacity / 10)
        counts.append(round(waiting + min(rate, capacity) * service_s))
    return backlog(*counts, seconds=0.1)


def _poisson(chance, mean):
    number, product = 0, chance.random()
    while product > math.exp(-mean):
        number, product = number + 1, product * chance.random()
    return number


@pytest.mark.parametrize(("rate", "grows"), [(100, False), (290, False), (330, True), (600, True)])
def test_open_requests_grow_above_the_capacity_alone(rate, grows):
    assert queue(rate, 300, 0.2).grows(rate) is grows


def test_a_long_window_shows_a_small_excess():
    assert queue(310, 300, 0.2, seconds=60).grows(310)


@pytest.mark.parametrize("is_even", [True, False])
def test_arrivals_with_even_gaps_show_a_small_excess_earlier(is_even):
    found = queue(308, 300, 0.2, seconds=6)
    assert found.grows(308, is_even=is_even) is is_even


def test_a_steady_load_of_long_responses_does_not_grow():
    assert not backlog(5, 10, 12, 12, 11, 12, 13, 12).grows(1.0)


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_no_growth(seed):
    assert not queue(100, 150, 0.2, seed=seed).grows(100)


@pytest.mark.parametrize("seed", range(20))
def test_chance_does_not_hide_twice_the_capacity(seed):
    assert queue(100, 50, 0.2, seed=seed).grows(100)


def test_a_single_interval_shows_nothing():
    assert not backlog(500).grows(500)


def test_the_warm_up_and_unknown_numbers_count_nothing():
    found = Backlog()
    found.interval_came(measured_interval(Truth(), -1, requests_open=5))
    found.interval_came(measured_interval(Truth(), 0, requests_open=None))
    assert found.intervals == []


@pytest.mark.parametrize(("dropped", "falls"), [(0, False), (100, False), (5000, True)])
def test_due_requests_that_were_dropped_are_a_backlog_too(dropped, falls):
    level = measured_level(100, Truth(1000.0, dropped=dropped), rate=1000.0)
    group = Group(Open(1000.0), Source.of(Request("http://127.0.0.1:1/")))
    plan = Plan((group,), Duration(SECOND_NS))
    assert falls_behind(level, plan, backlog(5, 5, 5, 5)) is falls
    # The rows of a trace have times of their own.
    of_trace = replace(plan, groups=(replace(group, pace=Fed(100, is_timed=True)),))
    level = msgspec.structs.replace(level, rate=None)
    assert falls_behind(level, of_trace, backlog(5, 5, 5, 5)) is falls
    assert falls_behind(level, of_trace, backlog(5, 5, 50, 500)) is falls
