"""Times of requests that were never sent: all that is left of them is that they were long."""

from __future__ import annotations

import pytest

import typed
from torr.model.change import Change
from torr.stats.metric import Metric
from torr.stats.series import Series
from torr.verdicts import limits
from torr.verdicts.comparison import Procedure, unpaired, verdicts

P99 = Metric("response_ms.p99")
PROCEDURE = Procedure(primary=P99, metrics=())


@pytest.fixture
def rounds(trial):
    """Trials of a candidate: their p99, and whether requests that were due were never sent."""

    def made(name, p99, is_bound):
        bounds = ["p95", "p99"] if is_bound else []
        return [trial(name, at, 100.0, p99=p99 + at / 50, at_least=bounds) for at in range(1, 9)]

    return made


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        ((20.0, False), (10.0, False), "better"),
        ((20.0, False), (10.0, True), "inconclusive"),
        ((20.0, True), (10.0, True), "inconclusive"),
        ((20.0, True), (10.0, False), "better"),
        ((10.0, False), (20.0, True), "worse"),
        ((10.0, True), (20.0, False), "inconclusive"),
        ((10.0, False), (10.0, True), "inconclusive"),
    ],
)
def test_a_lower_bound_can_only_lose(rounds, a, b, word):
    before, after = rounds("a", *a), rounds("b", *b)
    (paired,) = verdicts([*before, *after], "a", PROCEDURE)
    (one_of_each,) = unpaired(before, after, ("a", "b"), PROCEDURE)
    for found in (paired, one_of_each):
        assert (found.word, found.bounds) == (word, [a[1], b[1]])


def test_who_left_requests_unsent_is_said(rounds):
    levels = [*rounds("a", 20.0, False), *rounds("b", 10.0, True)]
    (found,) = verdicts(levels, "a", PROCEDURE)
    assert found.reason == "b left due requests unsent: those times are lower bounds"


def test_another_time_of_the_same_trials_is_none(rounds):
    (level, *_) = rounds("a", 20.0, True)
    assert P99.is_lower_bound(level)
    assert not Metric("response_ms.p50").is_lower_bound(level)
    assert not Metric("ok_per_s").is_lower_bound(level)


def test_a_rate_is_one_where_client_and_target_shared_the_machine(trial):
    level = trial("a", 1, 100.0, health={"verdict": "contended"})
    assert Metric("ok_per_s").is_lower_bound(level)
    assert not P99.is_lower_bound(level)


def test_a_rate_of_tokens_is_one_where_responses_did_not_report_theirs(trial):
    stream = {"tokens_per_s": 9.0, "tokens_unreported": 1}
    level = typed.changed(
        trial("a", 1, 100.0), stream=stream, requests=[{"name": "x", "stream": {**stream}}]
    )
    assert Metric("tokens_per_s").is_lower_bound(level)
    assert Metric("tokens_per_s", "x").is_lower_bound(level)
    assert not Metric("ok_per_s").is_lower_bound(level)
    assert not Metric("tokens_per_s", "y").is_lower_bound(level)


def test_a_point_of_a_series_says_so_of_its_p95(rounds):
    found = Series.of("x", rounds("a", 20.0, True))
    assert found.points[0].p95_at_least
    assert not Series.of("x", rounds("a", 20.0, False)).points[0].p95_at_least


def test_no_limit_is_passed_by_times_that_are_lower_bounds(rounds):
    before = rounds("a", 20.0, False)
    change = Change.parse("p99 > +10%")
    for p99, word in ((10.0, "not shown"), (20.0, "not shown"), (40.0, "broken")):
        (found,) = unpaired(before, rounds("b", p99, True), ("a", "b"), PROCEDURE)
        assert limits.judge(change, found).word == word
