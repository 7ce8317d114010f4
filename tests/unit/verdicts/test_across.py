"""Functions of another machine beside these: what is known of both speeds decides."""

from __future__ import annotations

import pytest

import typed
from timed import SPREAD, trial_of
from torr.results.functions import MachineSpeed
from torr.verdicts.across import is_another, judged, scaled, scales
from torr.verdicts.comparison import unpaired

HERE = {"machine": {"cpu": "a", "architecture": "x86_64", "cores": 2, "host": "one"}}


def trial(rate):
    return trial_of(rate, {"n": 1_000, "mean": 1e3 / rate, "p50": 1e3 / rate, "p99": None})


def trials(rate):
    return [trial(rate * factor) for factor in SPREAD]


def words(before, factors, after):
    found = judged(before, factors, lambda old: unpaired(old, after, ("then", "now")))
    return found[0].word, found[0].ratio, found[0].interval


@pytest.mark.parametrize(
    ("change", "another"),
    [({}, False), ({"host": "two"}, False), ({"cpu": "b"}, True), ({"cores": 8}, True)],
)
def test_a_machine_is_its_processor_and_its_cores(change, another):
    there = {"machine": {**HERE["machine"], **change}}
    assert is_another(there, HERE) is another


@pytest.mark.parametrize(
    ("there", "another"),
    [
        ({"cpu": "a", "architecture": "x86_64"}, False),
        ({"cpu": None, "architecture": "x86_64", "cores": None}, False),
        ({"cpu": None, "architecture": "x86_64", "cores": 8}, True),
        ({"host": "one"}, True),
        (None, True),
    ],
)
def test_what_is_not_known_of_a_machine_tells_nothing(there, another):
    assert is_another({"machine": there}, HERE) is another
    assert is_another(HERE, {"machine": there}) is another


def test_how_much_faster_a_machine_is_has_an_interval():
    then, now = MachineSpeed(1.0, 0.9, 1.1), MachineSpeed(2.0, 1.8, 2.2)
    assert scales(then, now) == pytest.approx((2.0, 1.8 / 1.1, 2.2 / 0.9))
    assert scales(None, now) is None


def test_a_trial_is_scaled_in_its_rate_and_its_times_alone():
    found = scaled(trial(1_000.0), 2.0)
    assert found.ok_per_s == 2_000.0
    times = found.latency.response
    assert (times.p50, times.stdev, times.p99) == (0.5, 0.05, None)
    assert (times.n, times.within_stdev_rate) == (1_000, 90.0)


def test_a_trial_in_which_everything_failed_has_no_times_to_scale():
    failed = {"attempted": 1_000, "ok": 0, "dropped": 0, "in_flight": 0, "errors": {"check": 1_000}}
    before = [
        typed.changed(trial(1_000.0), counts=failed, ok_per_s=0.0, latency={"response_ms": None})
        for _ in SPREAD
    ]
    assert scaled(before[0], 2.0).latency == before[0].latency
    word, ratio, _ = words(before, (2.0, 1.9, 2.1), trials(1_000.0))
    assert (word, ratio) == ("inconclusive", None)


def test_the_same_function_on_a_machine_twice_as_fast_is_the_same():
    word, ratio, _ = words(trials(1_000.0), (2.0, 1.999, 2.001), trials(2_000.0))
    assert (word, ratio) == ("same", pytest.approx(1.0, abs=0.01))


def test_a_word_stands_where_it_holds_whatever_the_speeds_were():
    word, ratio, interval = words(trials(1_000.0), (2.0, 1.8, 2.2), trials(4_000.0))
    assert (word, ratio) == ("better", pytest.approx(2.0, abs=0.03))
    assert interval[0] < 4 / 2.2 < 4 / 1.8 < interval[1]


def test_a_difference_that_the_speeds_may_explain_is_none():
    word, ratio, _ = words(trials(1_000.0), (2.0, 1.8, 2.2), trials(2_200.0))
    assert (word, ratio) == ("inconclusive", pytest.approx(1.1, abs=0.02))


def test_without_the_other_speed_nothing_is_claimed():
    after = trials(4_000.0)
    (first, *_) = judged(trials(1_000.0), None, lambda old: unpaired(old, after, ("then", "now")))
    assert first.word == "inconclusive"
    assert first.obstacle == "measured on another machine, whose speed is not known"
