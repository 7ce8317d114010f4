"""Ladders: in order, in rounds, to the end or to a good reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import UNSET

from doubles import Truth, capacity, limit
from torr.errors import NothingMeasuredError, UsageError
from torr.experiments.auto import Search
from torr.experiments.ladder import LadderPlan, ladder
from torr.experiments.levels import (
    DEFAULT_LEVELS,
    AutoLevels,
    AutoRates,
    FixedLevels,
    FixedRates,
)
from torr.model.condition import Condition
from torr.model.pace import Open
from torr.model.plan import Group


def test_levels_are_measured_in_order(bench, plan):
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context())
    assert bench.engine.concurrencies == [1, 5, 9]
    assert [level.concurrency for level in outcome.levels] == [1, 5, 9]
    assert outcome.status == "complete"


def test_the_default_levels_are_those_of_wrktest():
    assert FixedLevels().concurrencies == DEFAULT_LEVELS
    assert DEFAULT_LEVELS == (200, 500, 1000, 3000, 5000, 10000, 15000, 20000, 25000, 50000)


def test_rounds_repeat_the_whole_ladder(bench, plan):
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5)), rounds=3), bench.context())
    assert bench.engine.concurrencies == [1, 5, 1, 5, 1, 5]
    assert [level.round for level in outcome.levels] == [1, 1, 2, 2, 3, 3]


def test_an_automatic_ladder_chooses_by_what_it_measured(bench, plan):
    bench.engine.curve = capacity(8)
    ladder(plan, LadderPlan(AutoLevels(Search())), bench.context())
    assert bench.engine.concurrencies[:6] == [1, 2, 4, 8, 16, 32]
    assert len(bench.engine.concurrencies) > 6


def test_later_rounds_of_an_automatic_ladder_repeat_the_levels_of_the_first(bench, plan):
    bench.engine.curve = capacity(8)
    ladder(plan, LadderPlan(AutoLevels(Search(refinements=1)), rounds=2), bench.context())
    found = bench.engine.concurrencies
    half = len(found) // 2
    assert found[half:] == sorted(found[:half])


def test_a_limited_level_does_not_end_the_ladder(bench, plan):
    bench.engine.curve = lambda users: Truth(
        health="generator-limited" if users == 5 else "healthy"
    )
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context())
    assert len(outcome.levels) == 3


def test_a_first_level_without_an_answer_ends_the_ladder(bench, plan):
    bench.engine.curve = lambda _users: Truth(0, failure="connect.refused at every address")
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context())
    assert bench.engine.concurrencies == [1]
    assert outcome.failure == "connect.refused at every address"
    assert outcome.status == "failed"


def test_a_later_level_without_an_answer_is_data(bench, plan):
    bench.engine.curve = lambda users: Truth(0, failure="dead") if users == 5 else Truth()
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context())
    assert bench.engine.concurrencies == [1, 5, 9]
    assert outcome.failure is None


def test_an_abort_condition_ends_the_ladder_after_its_level(bench, plan):
    bench.engine.curve = lambda users: Truth(service_ms=float(users))
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context("service mean > 4ms"))
    assert bench.engine.concurrencies == [1, 5]
    assert outcome.ended_by == "--abort-on 'service mean > 4ms'"
    assert outcome.status == "complete"


def test_a_later_level_that_cannot_be_measured_ends_the_ladder_and_the_others_are_kept(bench, plan):
    start = bench.engine.start

    def starts(plan):
        if plan.concurrency == 9:
            raise NothingMeasuredError("node b is lost")
        return start(plan)

    bench.engine.start = starts
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9, 20))), bench.context())
    assert [level.concurrency for level in outcome.levels] == [1, 5]
    why = "the level at 9 connections, which could not be measured: node b is lost"
    assert (outcome.ended_by, outcome.status) == (why, "complete")
    with pytest.raises(NothingMeasuredError, match="node b"):
        ladder(plan, LadderPlan(FixedLevels((9, 20))), bench.context())


def test_a_level_that_was_measured_twice_is_one_of_the_next_round(bench, plan):
    bench.engine.curve = lambda users: Truth(
        users * 100.0 if users < 8 else 800.0,
        health="generator-limited" if users == 11 else "healthy",
    )
    ladder(plan, LadderPlan(AutoLevels(Search()), rounds=2), bench.context())
    found = bench.engine.concurrencies
    assert found.count(11) == 3
    assert all(found.count(users) == 2 for users in set(found) - {11})


def test_an_interrupt_ends_the_ladder(bench, plan):
    bench.engine.on_interval = lambda number: bench.interrupt.press() if number == 1 else None
    outcome = ladder(plan, LadderPlan(FixedLevels((1, 5, 9))), bench.context())
    assert bench.engine.concurrencies == [1]
    assert outcome.status == "interrupted"


def test_an_slo_ends_an_automatic_climb(bench, plan):
    bench.engine.curve = capacity(8)
    slos = (Condition.parse("service mean < 15ms"),)
    ladder(plan, LadderPlan(AutoLevels(Search()), slos=slos), bench.context())
    assert max(bench.engine.concurrencies) == 32


@pytest.mark.parametrize("levels", [(5, 1), (1, 1), (0, 1), (-1,), ()])
def test_levels_that_are_no_ladder_are_refused(levels):
    with pytest.raises(UsageError, match="level"):
        FixedLevels(levels)


@pytest.fixture
def open_plan(plan):
    (group,) = plan.groups
    one, two = (
        Group(Open(rate, connections=10), group.source, share=share)
        for rate, share in ((25.0, 1), (75.0, 3))
    )
    return replace(plan, groups=(one, two))


def test_rates_are_measured_in_order_and_divided_over_the_groups(bench, open_plan):
    bench.engine.rate_curve = limit(1000)
    outcome = ladder(open_plan, LadderPlan(FixedRates((100.0, 250.0)), rounds=2), bench.context())
    assert bench.engine.rates == [100.0, 250.0, 100.0, 250.0]
    last = bench.engine.loads[-1].plan
    assert [group.pace.rate_per_s for group in last.groups] == [62.5, 187.5]
    assert [level.position for level in outcome.levels] == [100, 250, 100, 250]


def test_a_level_says_whether_its_target_kept_up_with_the_rate(bench, open_plan):
    bench.engine.rate_curve = limit(300)
    outcome = ladder(open_plan, LadderPlan(FixedRates((200.0, 400.0))), bench.context())
    assert [level.falls_behind for level in outcome.levels] == [False, True]


def test_numbers_of_users_do_not_fall_behind(bench, plan):
    outcome = ladder(plan, LadderPlan(FixedLevels((1,))), bench.context())
    assert outcome.levels[0].falls_behind is UNSET


def test_a_search_narrows_the_gap_below_the_first_rate_that_is_too_high(bench, open_plan):
    bench.engine.rate_curve = limit(300)
    rates = AutoRates(Search(50.0, 10_000.0, finest=1.1, is_of_rates=True))
    outcome = ladder(open_plan, LadderPlan(rates), bench.context())
    assert bench.engine.rates[:4] == [50, 100, 200, 400]
    kept = max(x.position for x in outcome.levels if not x.falls_behind)
    missed = min(x.position for x in outcome.levels if x.falls_behind)
    assert kept <= 300 < missed <= 1.1 * kept


@pytest.mark.parametrize("rates", [(200.0, 100.0), (100.0, 100.0)])
def test_rates_that_are_not_ascending_are_refused(rates):
    with pytest.raises(UsageError, match="not ascending"):
        FixedRates(rates)


def test_a_plan_with_users_has_no_rate(plan):
    with pytest.raises(UsageError, match="a group with users has none"):
        plan.with_rate(100.0)
