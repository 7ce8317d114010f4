"""Budgets, judged on rounds that are known."""

from __future__ import annotations

import pytest

from timed import SPREAD, trial_of
from torr.results.functions import MachineSpeed
from torr.verdicts.budget import Budget

EVEN = MachineSpeed(1.0, 1.0, 1.0)
TIMING = {"clock_ns": 40, "turn_ns": 5, "gc": "on", "threads": 1}


def trial(factor=1.0, *, p99=0.001, batch=1, count=1_000, failed=0):
    times = {"n": count, "mean": 0.0005 * factor, "p50": 0.0005 * factor, "p99": p99 * factor}
    return trial_of(2e6 / factor, times, failed=failed, micro={**TIMING, "batch": batch})


def judged(speed=EVEN, marks=None, **trials):
    (budget,) = Budget.all_of(marks)
    return budget.judge([trial(factor, **trials) for factor in SPREAD], speed)


@pytest.mark.parametrize(
    ("limit", "batch", "word"),
    [
        ("<2us", 1, "held"),
        ("<0.5us", 1, "broken"),
        # Of batches: no operation took longer than its whole batch.
        ("<60us", 50, "held"),
        ("<40us", 50, "not shown"),
        ("<0.5us", 50, "not shown"),
        (">0.1us", 50, "not shown"),
    ],
)
def test_a_percentile_of_batches_shows_what_holds_for_whole_ones(limit, batch, word):
    found = judged(marks={"p99": limit}, batch=batch)
    assert found.word == word
    assert found.value == pytest.approx(0.001, rel=0.01)
    if word == "not shown":
        assert found.reason == "timed in batches of 50, which hide the times of single operations"


@pytest.mark.parametrize("limit", ["<0.5us", "<=0.5us", ">0.5us", ">=0.5us"])
def test_a_limit_within_the_interval_of_the_rounds_is_neither_held_nor_broken(limit):
    found = judged(marks={"mean": limit})
    low, high = found.interval
    assert low < found.limit < high
    assert found.word == "not shown"
    assert found.reason == "the limit lies within the interval of the rounds"


def test_rates_and_means_of_batches_are_those_of_operations():
    assert judged(marks={"ops": ">1.5M/s"}, batch=50).word == "held"
    assert judged(marks={"mean": "<0.6us"}, batch=50).word == "held"
    assert judged(marks={"mean": "<0.4us"}, batch=50).word == "broken"


@pytest.mark.parametrize(
    ("marks", "trials", "word"),
    [
        ({"errors": "<1%"}, {"count": 100}, "held"),
        ({"errors": "<1%"}, {"count": 10}, "not shown"),
        ({"errors": "<0.1%"}, {"count": 100}, "not shown"),
        ({"success": ">99%"}, {"count": 100}, "held"),
        ({"success": ">99.9%"}, {"count": 299}, "not shown"),
        ({"success": ">99.9%"}, {"count": 300}, "held"),
        ({"errors": "<0.1%"}, {"count": 299}, "not shown"),
        ({"errors": "<0.1%"}, {"count": 300}, "held"),
        ({"errors": "<=0%"}, {"count": 1_000_000}, "not shown"),
        ({"errors": "<1%"}, {"count": 100, "failed": 20}, "broken"),
        ({"success": ">99.9%"}, {"count": 100, "failed": 20}, "broken"),
        ({"success": "<99%"}, {"count": 10, "failed": 5}, "held"),
    ],
)
def test_few_errors_are_shown_by_many_operations(marks, trials, word):
    found = judged(marks=marks, **trials)
    assert found.word == word
    assert (word == "not shown") == ("operations are too few" in (found.reason or ""))


@pytest.mark.parametrize(
    ("limit", "word"),
    [(">1M/s", "held"), (">3M/s", "broken"), (">1.9M/s", "not shown"), (">2.2M/s", "not shown")],
)
def test_a_scaled_budget_holds_at_every_speed_that_was_seen(limit, word):
    speed = MachineSpeed(1.0, 0.85, 1.2)
    found = judged(speed, {"ops": limit, "scale": "machine"})
    assert found.word == word
    assert found.scaled_by == 1.0
    if word == "not shown":
        assert found.reason == "the limit lies within the uncertainty of this machine's speed"
    assert judged(speed, {"ops": limit}).word == ("held" if limit < ">2" else "broken")


def test_times_fall_as_the_machine_is_faster():
    half = MachineSpeed(0.5, 0.5, 0.5)
    assert judged(half, {"p50": "<0.3us", "scale": "machine"}).word == "held"
    assert judged(half, {"p50": "<0.2us", "scale": "machine"}).word == "broken"


def test_whole_batches_hold_a_scaled_budget_at_every_speed_that_was_seen():
    marks = {"p99": "<60us", "scale": "machine"}
    assert judged(MachineSpeed(1.0, 0.9, 1.1), marks, batch=50).word == "held"
    # At 1.25 the limit is 48 µs, and a batch took 50.
    found = judged(MachineSpeed(1.0, 0.9, 1.25), marks, batch=50)
    assert found.word == "not shown"
    assert found.reason == "the limit lies within the uncertainty of this machine's speed"
