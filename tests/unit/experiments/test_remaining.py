"""How far an experiment is."""

from __future__ import annotations

import pytest

from doubles import Truth, measured_interval
from torr.experiments.context import Step
from torr.experiments.remaining import Remaining
from torr.model.pace import Closed
from torr.model.plan import Count, Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.units import SECOND_NS


def step(stop, index=0, total=1):
    group = Group(pace=Closed(5), source=Source.of(Request("http://127.0.0.1/")))
    return Step(index, Plan(groups=(group,), stop=stop, warmup_ns=2 * SECOND_NS), 1, total)


@pytest.fixture
def at():
    """The seconds that a clock shows, and who reads it."""
    now = [50.0]
    return now, Remaining(lambda: now[0])


def test_nobody_knows_before_the_first_level(at):
    _, remaining = at
    assert (remaining.elapsed_s, remaining.remaining_s, remaining.share) == (0.0, None, None)


def test_a_load_by_the_clock_is_known_from_its_start(at):
    now, remaining = at
    remaining.level_started(step(Duration(10 * SECOND_NS), 1, 4))
    now[0] += 4
    assert (remaining.elapsed_s, remaining.remaining_s) == (4.0, 8.0 + 2 * 12.0)
    assert remaining.phase == "warmup"


def test_a_load_that_takes_longer_than_it_should_has_nothing_left(at):
    now, remaining = at
    remaining.level_started(step(Duration(10 * SECOND_NS)))
    now[0] += 40
    assert (remaining.remaining_s, remaining.share) == (0.0, 1.0)


def test_the_rate_of_a_load_by_count_says_how_long_its_rest_takes(at):
    now, remaining = at
    load = step(Count(10_000), 0, 2)
    remaining.level_started(load)
    now[0] += 2
    remaining.interval_came(load, measured_interval(Truth(500), -1))
    assert remaining.remaining_s is None
    now[0] += 2
    remaining.interval_came(load, measured_interval(Truth(900), 0))
    remaining.interval_came(load, measured_interval(Truth(1100), 1))
    # 8,000 are left at 1,000 a second; then the other level, as long as this one.
    assert remaining.remaining_s == pytest.approx(8 + 12)


def test_a_new_level_begins_its_count_anew(at):
    now, remaining = at
    remaining.level_started(step(Count(100), 0, 2))
    remaining.interval_came(step(Count(100), 0, 2), measured_interval(Truth(100), 0))
    now[0] += 9
    remaining.level_started(step(Count(100), 1, 2))
    assert remaining.remaining_s is None
    assert remaining.elapsed_s == 9.0
