"""Where a profile is taken, and what it is said to cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doubles import Truth, level_of
from torr.experiments import profiling
from torr.experiments.interrupt import Interrupt
from torr.experiments.lab import Lab, Measured, Outcome
from torr.experiments.profiling import Wanted, profiled
from torr.experiments.taking import cost_rate, for_a_while
from torr.model.pace import Closed
from torr.model.plan import Count, Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.profile.stacks import Stacks
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS


class Looks:
    """A profiler that sees one stack."""

    tool, kind = "looks", "cpu"

    def check(self):
        pass

    def take(self, seconds):
        return Stacks({("main", "work"): seconds}, "samples")


@pytest.fixture
def plan():
    group = Group(pace=Closed(10), source=Source.of(Request("http://127.0.0.1/")))
    return Plan(groups=(group,), stop=Duration(SECOND_NS), warmup_ns=0)


@pytest.fixture
def taken(monkeypatch, tmp_path, plan):
    """The profile behind some levels, taken beside a load that comes to `level`."""

    def made(levels, level, at=None):
        monkeypatch.setattr(profiling, "measure", lambda _step, _lab: Measured(level))
        with RunDirectory.create(tmp_path, "api", {"kind": "ladder"}) as directory:
            lab = Lab(directory, interrupt=Interrupt())
            profiled(lambda _lab: Outcome(tuple(levels)), plan, Wanted(Looks(), at))(lab)
            return directory.profiles

    return made


def limited(level):
    return {**level, "health": {"verdict": "generator-limited", "reasons": []}}


def test_it_is_taken_at_the_best_level_that_the_generator_did_not_limit(taken):
    levels = [
        level_of(10, Truth(ok_per_s=100.0)),
        level_of(20, Truth(ok_per_s=150.0)),
        limited(level_of(40, Truth(ok_per_s=180.0))),
    ]
    (found,) = taken(levels, level_of(20, Truth(ok_per_s=120.0)))
    assert (found["concurrency"], found["tool"], found["folded"]) == (20, "looks", "main;work 2\n")
    assert found["cost_rate"] == pytest.approx(20)


def test_where_nothing_was_measured_at_that_level_the_cost_is_not_known(taken):
    (found,) = taken([level_of(10, Truth())], level_of(30, Truth(ok_per_s=120.0)), at=30)
    assert (found["ok_per_s"], found["cost_rate"]) == (120.0, None)


def test_a_trial_that_was_cut_short_costs_nobody_knows_what(taken):
    cut = {**level_of(10, Truth(ok_per_s=20.0)), "cut_short": True}
    (found,) = taken([level_of(10, Truth(ok_per_s=100.0))], cut)
    assert (found["ok_per_s"], found["cost_rate"]) == (None, None)


def test_behind_nothing_there_is_no_profile(taken):
    assert taken([], level_of(10, Truth())) == []


def test_a_profiler_needs_a_while(plan):
    assert for_a_while(plan).stop == Duration(2 * SECOND_NS)
    assert for_a_while(replace(plan, stop=Count(5))).stop == Duration(10 * SECOND_NS)
    assert for_a_while(replace(plan, stop=Duration(60 * SECOND_NS))).stop.duration_ns == (
        60 * SECOND_NS
    )


@pytest.mark.parametrize(
    ("now", "before", "cost"),
    [
        (80.0, [90.0, 100.0, 110.0], 20),
        (None, [100.0], None),
        (80.0, [], None),
        (80.0, [0.0], None),
    ],
)
def test_the_cost_is_that_of_the_median(now, before, cost):
    found = cost_rate(now, before)
    assert found == (None if cost is None else pytest.approx(cost))
