"""Measured functions set beside those of an earlier run, on rounds that are known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import typed
from torr.errors import UsageError
from torr.micro import machine
from torr.plugin.baseline import BASELINE, Baseline, _change, compare_with_baseline
from torr.results.functions import MachineSpeed
from torr.store.environment import environment

# Rounds of a function, of which 2.2 % more are a word with p = 0.043.
SPREAD = (0.97, 1.03, 0.98, 1.02, 0.99, 1.01, 0.975, 1.025, 0.985, 1.015)


def rounds_of(name, factor=1.0, **factors):
    counts = {"attempted": 1000, "ok": 1000, "dropped": 0, "in_flight": 0, "errors": {}}
    return [
        typed.level(
            candidate=name,
            factors=factors,
            round=number,
            counts=counts,
            ok_per_s=1000.0 * factor * spread,
            latency={"response_ms": {"n": 1000, "p50": 1 / (factor * spread)}},
        )
        for number, spread in enumerate(SPREAD, 1)
    ]


def beside(before, now, *changes, here=None, speed=None):
    """A session after it was set beside an earlier run."""
    result = typed.result(
        kind="micro", levels=before, environment=here or environment(), machine_speed=speed
    )
    stash = pytest.Stash()
    stash[BASELINE] = Baseline(1, result, tuple(map(_change, changes)))
    config = SimpleNamespace(stash=stash)
    session = SimpleNamespace(
        config=config, levels=now, last_levels=now, baseline_verdicts=[], limits=[], notes=[]
    )
    compare_with_baseline(session)
    return session


def words(session, family="primary"):
    found = [each for each in session.baseline_verdicts if each.family == family]
    return {(each.candidate, *each.factors.values()): each.word for each in found}


def test_one_function_that_differs_by_chance_has_a_word_alone_and_none_among_many():
    alone = beside(rounds_of("f"), rounds_of("f", 1.022))
    assert words(alone) == {("f",): "better"}
    others = [level for at in range(9) for level in rounds_of("g", size=f"{at}")]
    many = beside([*rounds_of("f"), *others], [*rounds_of("f", 1.022), *others])
    assert len(words(many)) == 10
    for family in ("primary", "secondary"):
        assert "better" not in words(many, family).values()
    first = many.baseline_verdicts[0]
    assert (first.candidate, first.factors, first.baseline) == ("f", {}, "run 1")
    assert first.p == alone.baseline_verdicts[0].p == pytest.approx(0.043, abs=0.001)
    assert first.p_adjusted == pytest.approx(10 * first.p)


def test_one_that_surely_differs_has_its_word_among_many():
    others = [level for at in range(9) for level in rounds_of("g", size=f"{at}")]
    found = beside([*rounds_of("f"), *others], [*others, *rounds_of("f", 1.5)], "p50 > +30%")
    assert words(found).pop(("f",)) == "better"
    limits = [(each.candidate, each.factors.get("size")) for each in found.limits]
    assert limits == [*(("g", f"{at}") for at in range(9)), ("f", None)]


def test_of_a_test_that_ran_again_only_the_last_attempt_is_compared():
    again = [*rounds_of("f", 0.5), *rounds_of("f (attempt 2)")]
    spoilt = rounds_of("f", 4.0)
    found = beside(
        [*spoilt, *rounds_of("f (attempt 2)", 0.9)], [*again, *rounds_of("g")], "ops < -5%"
    )
    assert words(found) == {("f (attempt 2)",): "better"}
    assert [(limit.candidate, limit.word) for limit in found.limits] == [("f (attempt 2)", "held")]
    assert found.notes == ["not compared, since run 1 does not have them: g"]
    first = beside(rounds_of("f"), again)
    assert words(first) == {("f (attempt 2)",): "same"}


def test_functions_of_another_machine_are_judged_together_too(monkeypatch):
    monkeypatch.setattr(machine, "speed", lambda: MachineSpeed(2.0, 2.0, 2.0))
    other = {"machine": {"cpu": "another"}}
    now = [*rounds_of("f", 4.0), *rounds_of("g", 2.0, size="9")]
    before = [*rounds_of("f"), *rounds_of("g", size="9"), *rounds_of("gone")]
    slower = MachineSpeed(1.0, 1.0, 1.0)
    found = beside(before, now, here=other, speed=slower)
    assert words(found) == {("f",): "better", ("g", "9"): "same"}
    factor = found.baseline_verdicts[0].ratio
    assert factor == pytest.approx(2.0, rel=0.01)
    (said,) = (said for said in found.notes if "another machine" in said)
    assert "scaled by 2.00 (2.00–2.00)" in said
    unknown = beside(before, now, here=other)
    assert set(words(unknown).values()) == {"inconclusive"}


def test_a_percentile_that_neither_side_has_is_in_no_verdict():
    times = {"response_ms": {"n": 1000, "p50": 1.0, "p99": 2.0}}
    with_p99 = [typed.changed(level, latency=times) for level in rounds_of("f")]
    found = beside([*with_p99, *rounds_of("g")], [*with_p99, *rounds_of("g")])
    metrics = [(each.candidate, each.metric) for each in found.baseline_verdicts]
    assert metrics == [
        *(("f", "ok_per_s"), ("f", "response_ms.p50"), ("f", "response_ms.p99")),
        *(("g", "ok_per_s"), ("g", "response_ms.p50")),
    ]


def test_what_no_earlier_run_has_is_told_by_its_name():
    now = [*rounds_of("f"), *rounds_of("g", size="9"), *rounds_of("g", size="10")]
    found = beside(rounds_of("f"), now)
    assert found.notes == ["not compared, since run 1 does not have them: g [size 9], g [size 10]"]


def test_limits_of_what_was_compared_with_nothing_are_an_error():
    others = [level for name in "abcd" for level in rounds_of(name)]
    with pytest.raises(UsageError, match="run 1 has none of these functions") as caught:
        beside(others, rounds_of("f"), "p50 > +10%")
    assert caught.value.hint.startswith(
        "it has a, b, c, …: run pytest with the --rootdir of that run"
    )
    assert beside(others, rounds_of("f")).baseline_verdicts == []


@pytest.mark.parametrize(
    ("change", "factor", "word"),
    [
        ("p50 > +10%", 1.5, "held"),
        ("p50 > +10%", 0.5, "broken"),
        ("ops < -50%", 0.3, "broken"),
        ("ops < -50%", 0.9, "held"),
        ("p99 > +10%", 1.0, "not shown"),
    ],
)
def test_a_limit_of_change_is_judged_for_each_function(change, factor, word):
    (found,) = beside(rounds_of("f"), rounds_of("f", factor), change).limits
    assert (found.condition, found.word) == (change, word)
    if word == "not shown":
        assert found.reason == "too few operations in a trial for p99"


@pytest.mark.parametrize("change", ["p50 > 1", "p95 > +10%", "speed > +1%"])
def test_a_change_that_is_not_compared_is_refused(change):
    with pytest.raises(UsageError):
        _change(change)
