"""Trials of a tuning, from levels and failures."""

import math

import pytest
from msgspec import structs

from doubles import Truth, measured_level
from torr.model.condition import Condition
from torr.results.result import TrialFailure
from torr.results.tuning import TrialPlace
from torr.stats.metric import Metric
from torr.tuning.measured import TrialReader
from torr.tuning.trials import LIMITED, NO_NUMBER

PLACE = TrialPlace("search", 1, 2, 3)
RATE = Metric("ok_per_s")
TIME = Metric("response_ms.p99")


def trial(truth=None, slos=(), metric=RATE, **members):
    level = measured_level(50, truth or Truth(ok_per_s=1000.0), **members)
    reader = TrialReader(metric, tuple(map(Condition.parse, slos)))
    return reader.of_level(level, PLACE)


def test_a_trial_has_the_number_of_the_primary_metric_and_its_counts():
    measured = trial()
    assert (measured.place, measured.value, measured.problem) == (PLACE, 1000.0, None)
    assert measured.failed == 0
    assert measured.ended > 0
    assert trial(metric=TIME).value == 2 * Truth().service_ms


@pytest.mark.parametrize(
    ("truth", "members", "metric", "problem"),
    [
        (Truth(), {"health": {"verdict": "generator-limited", "reasons": []}}, RATE, LIMITED),
        (Truth(), {"starved": 49}, RATE, "starved"),
        (Truth(ok_per_s=0.0, errors={"timeout": 9}), {}, RATE, "no_success"),
        (Truth(), {}, Metric("target_rss_max_bytes"), "no_number"),
    ],
)
def test_a_trial_without_a_number_says_why(truth, members, metric, problem):
    measured = trial(truth, metric=metric, **members)
    assert (measured.value, measured.problem) == (None, problem)
    assert measured.why
    assert measured.is_failure == (problem not in (LIMITED, NO_NUMBER))


def test_a_time_with_requests_that_were_never_sent_is_no_number():
    level = measured_level(50, Truth(dropped=100))
    level.latency.response.at_least = ["p99"]
    measured = TrialReader(TIME).of_level(level, PLACE)
    assert (measured.value, measured.problem) == (None, "unsent")
    assert "100 due requests were never sent" in measured.why
    assert TrialReader(RATE).of_level(level, PLACE).value == 1000.0


def test_an_slo_is_as_far_as_its_number_from_its_limit():
    p95 = 1.5 * Truth().service_ms
    measured = trial(slos=[f"p95 < {2 * p95}ms", f"p95 < {p95 / 2}ms"])
    excesses = [slo.excess for slo in measured.slos]
    assert excesses == pytest.approx([-math.log(2), math.log(2)], abs=1e-5)


def read(levels, failures=()):
    return TrialReader(RATE).trials(levels, failures)


def level_at(place, **members):
    return structs.replace(measured_level(50, Truth(), **members), place=place)


def failure_at(place, **members):
    settings = {"kind": "died", "text": "it ended", **members}
    return TrialFailure(candidate="a", round=1, place=place, **settings)


def test_trials_are_known_by_their_place():
    other = TrialPlace("fresh", 0, 1, 3)
    trials = read([level_at(PLACE)], [failure_at(other)])
    assert trials[PLACE].value is not None
    assert (trials[other].problem, trials[other].why) == ("died", "it ended")


def test_a_trial_that_was_cut_short_is_none():
    assert read([level_at(PLACE, cut_short=True)]) == {}


@pytest.mark.parametrize(
    ("kind", "problem"),
    [("died", "died"), ("left_behind", None), ("did_not_stop", None), ("bad_end", None)],
)
def test_of_failures_after_the_load_only_a_crash_counts(kind, problem):
    trials = read([level_at(PLACE)], [failure_at(PLACE, kind=kind, measured=True)])
    assert trials[PLACE].problem == problem


def test_levels_of_other_runs_have_no_place():
    assert read([measured_level(50, Truth())]) == {}
