import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import typed
from torr.model.condition import Condition
from torr.results.verdict import Verdict
from torr.stats.metric import Metric, named
from torr.verdicts.comparison import Procedure, unpaired, verdicts

BEFORE = [1000.0, 1010, 990, 1005, 995, 1002, 998, 1008, 992, 1001]
RATE = Procedure(metrics=())
OTHERS = {"better": "worse", "worse": "better"}


def times(factor, wobble=0.002):
    """Candidates that answer `factor` times as much, each round a little more or less."""
    return [x * factor * (1 + wobble * (at % 3 - 1)) for at, x in enumerate(BEFORE)]


def by_metric(found):
    return {verdict.metric: verdict for verdict in found}


def test_a_candidate_that_answers_more_is_better(trials):
    (found,) = verdicts(trials(BEFORE, times(1.1)), "a", RATE)
    assert (found.word, found.reason, found.more_rounds) == ("better", None, None)
    assert found.ratio == pytest.approx(1.1, rel=0.002)
    assert found.interval[0] < found.inner_interval[0] < 1.1 < found.interval[1]
    assert (found.n, found.p, found.family) == (10, 2 / 1024, "primary")
    assert (found.factors, found.concurrency) == ({"processes": 1}, 100)
    assert found.trials[0] == BEFORE
    assert msgspec.json.decode(msgspec.json.encode(found), type=Verdict) == found


def test_lower_times_are_better_and_equal_ones_the_same(trial):
    levels = [trial("a", at, 100.0, p99=20.0 + at / 50) for at in range(1, 11)]
    levels += [trial("b", at, 100.0, p99=10.0 + at / 60) for at in range(1, 11)]
    found = by_metric(verdicts(levels, "a"))
    assert found["response_ms.p99"].word == "better"
    assert found["response_ms.p99"].family == "secondary"
    assert found["ok_per_s"].word == "same"
    assert found["error_rate"].reason == "none seen, ≤ 0.003 % (3/n)"
    assert (found["error_rate"].ratio, found["error_rate"].difference) == (None, 0)
    assert "target_rss_max_bytes" not in found


def test_streams_are_judged_by_their_first_text_too(trial):
    def level(name, at, mean):
        stream = {"ttft_ms": {"n": 500, "mean": mean + at / 50, "p95": 2 * mean + at / 50}}
        return replace(trial(name, at, 100.0), stream=typed.level(stream=stream).stream)

    levels = [level("a", at, 20.0) for at in range(1, 11)]
    levels += [level("b", at, 10.0) for at in range(1, 11)]
    found = verdicts(levels, "a", Procedure(primary=named("ttft mean")))
    assert (found[0].metric, found[0].word, found[0].family) == (
        "ttft_ms.mean",
        "better",
        "primary",
    )
    assert by_metric(found)["ttft_ms.p95"].word == "better"
    assert "tpot_ms.mean" not in by_metric(found)


def test_p_is_adjusted_over_every_cell_and_candidate_of_the_primary_metric(trials, trial):
    levels = trials(BEFORE, times(1.1))
    levels += [trial("c", at, x) for at, x in enumerate(times(1.2), 1)]
    levels += [replace(level, factors={"processes": 4}) for level in levels]
    found = verdicts(levels, "a", RATE)
    assert [(v.factors["processes"], v.candidate) for v in found] == [
        *((1, "b"), (1, "c"), (4, "b"), (4, "c")),
    ]
    assert {v.p_adjusted for v in found} == {4 * 2 / 1024}
    assert {v.word for v in found} == {"better"}


def test_rounds_are_too_few_for_a_large_family(trials):
    levels = trials(BEFORE[:6], times(1.1)[:6])
    cells = [replace(x, factors={"processes": p}) for p in (1, 4) for x in levels]
    assert {v.word for v in verdicts(levels, "a", RATE)} == {"better"}
    (found, _) = verdicts(cells, "a", RATE)
    assert found.word == "inconclusive"
    assert found.reason == "6 rounds cannot decide any of 2 comparisons: 7 are needed"


def test_a_trial_that_the_generator_limited_forbids_a_claim(trials):
    levels = trials(BEFORE, times(1.1))
    levels[4] = typed.changed(levels[4], health={"verdict": "generator-limited"})
    (found,) = verdicts(levels, "a", RATE)
    assert found.word == "inconclusive"
    assert found.reason == "the generator was the limit in 1 trial"


@pytest.mark.parametrize(("starved", "word"), [(4, "better"), (8, "inconclusive")])
def test_rounds_in_which_users_starved_leave_the_lucky_ones(trials, starved, word):
    levels = trials(BEFORE, times(1.1))
    for at in range(1, 2 * starved, 2):
        levels[at] = replace(levels[at], starved=50)
    found = verdicts(levels, "a", Procedure(metrics=()))[0]
    assert found.word == word
    if word == "inconclusive":
        assert found.reason == "users of b got no response in 8 of 10 trials"
        assert found.more_rounds is None


def test_times_are_not_compared_where_one_side_fails_more(trial):
    levels = [trial("a", at, 100.0, p99=20.0) for at in range(1, 9)]
    levels += [trial("b", at, 90.0, p99=10.0, failed=149 + at) for at in range(1, 9)]
    found = by_metric(verdicts(levels, "a"))
    assert found["response_ms.p99"].word == "inconclusive"
    assert "1 point apart, 0 % and 1.53 %" in found["response_ms.p99"].reason
    assert found["ok_per_s"].word == "worse"
    assert found["error_rate"].word == "worse"
    assert found["error_rate"].difference == pytest.approx(1.535)


def test_errors_that_rise_by_less_than_a_tenth_of_a_point_are_worse(trial):
    levels = [trial("a", at, 100.0) for at in range(1, 11)]
    levels += [trial("b", at, 100.0, failed=8 + at % 3) for at in range(1, 11)]
    found = by_metric(verdicts(levels, "a"))["error_rate"]
    assert (found.word, found.margin) == ("worse", 0.01)
    assert found.difference == pytest.approx(0.09, abs=0.005)


def test_a_round_without_both_numbers_is_no_pair(trials, trial):
    levels = [trial("a", 99, 500.0), *trials(BEFORE, times(1.1))]
    levels[3] = replace(levels[3], cut_short=True)
    (found,) = verdicts(levels, "a", RATE)
    assert found.n == 9
    assert len(found.trials[0]) == len(found.trials[1]) == 9


def test_a_candidate_that_never_came_is_no_verdict_about_it(trials):
    levels = [x for x in trials(BEFORE, BEFORE) if x.candidate == "a" or x.round == 99]
    assert verdicts(levels, "a") == []
    (found,) = verdicts([replace(x, candidate="b") for x in levels[:3]], "a", RATE)
    assert (found.n, found.ratio, found.interval) == (0, None, None)
    assert found.reason == "0 rounds, 6 are needed"
    assert verdicts([], "a") == []


def test_a_candidate_that_answers_nothing_is_worse_without_a_bound(trials):
    (found,) = verdicts(trials(BEFORE, [0.0] * 10), "a", RATE)
    assert (found.word, found.ratio, found.interval) == ("worse", 0, (0, 0))
    (found,) = verdicts(trials([0.0] * 10, BEFORE), "a", RATE)
    assert (found.word, found.ratio, found.interval) == ("better", None, (None, None))
    (found,) = verdicts(trials([0.0] * 10, [0.0] * 10), "a", RATE)
    assert (found.word, found.ratio) == ("same", 1)


def test_discarded_rounds_are_named_and_verdicts_are_given_with_and_without(trials):
    levels = trials([*BEFORE, 100.0, 120.0], [*times(1.1), 1100.0, 1200.0])
    counts = {"attempted": 1000, "ok": 900, "errors": {"timeout": 100}}
    levels = [
        typed.changed(x, counts=counts, success_rate=90.0) if x.ok_per_s < 200 else x
        for x in levels
    ]
    procedure = Procedure(metrics=(Metric("error_rate"),), rule=Condition.parse("errors > 1%"))
    rate, errors = verdicts(levels, "a", procedure)
    assert (rate.n, rate.word) == (10, "better")
    discarded = rate.discarded
    assert (discarded.rule, discarded.rounds) == ("errors > 1%", [11, 12])
    assert discarded.because_of == {"a": 2}
    assert discarded.whole.n == 12
    assert discarded.whole.ratio > rate.ratio
    # Failures are what the rule discards by: they are judged over all rounds.
    assert errors.n == 12
    (plain, _) = verdicts(levels[:-4], "a", procedure)
    assert plain.discarded is None


def test_sides_that_were_not_interleaved_are_marked(trials):
    levels = trials(BEFORE, times(1.1))
    before, after = ([x for x in levels if x.candidate == name] for name in "ab")
    (found,) = unpaired(before, after[:7], ("old", "new"), RATE)
    assert (found.baseline, found.candidate) == ("old", "new")
    assert (found.word, found.n) == ("better", 7)
    assert found.reason == "not interleaved: drift not excluded"
    assert "Welch" in found.method
    (found,) = unpaired(before, after[:5], ("old", "new"), RATE)
    assert found.reason == "5 trials, 6 are needed; not interleaved: drift not excluded"
    (found,) = unpaired(before, [replace(x, ok_per_s=0.0) for x in after], ("old", "new"), RATE)
    assert found.word == "inconclusive"
    assert "has no logarithm" in found.reason
    assert unpaired(before, [replace(x, concurrency=7) for x in after], ("old", "new")) == []
    assert unpaired([], [], ("old", "new")) == []


rates = st.lists(st.tuples(st.floats(50, 5000), st.floats(50, 5000)), min_size=1, max_size=12)


@given(rates, st.booleans())
def test_the_other_way_round_ratio_interval_and_word_are_inverted(pairs, is_paired):
    there, back = (_judged(p, is_paired) for p in (pairs, [(b, a) for a, b in pairs]))
    assert back.word == OTHERS.get(there.word, there.word)
    assert back.p == pytest.approx(there.p)
    assert back.ratio == pytest.approx(1 / there.ratio, rel=1e-9)
    if there.interval is not None:
        low, high = there.interval
        assert back.interval == pytest.approx((1 / high, 1 / low), rel=1e-9)


@given(rates, st.floats(1e-3, 1e3), st.booleans())
def test_another_unit_changes_nothing(pairs, factor, is_paired):
    one = _judged(pairs, is_paired)
    other = _judged([(factor * a, factor * b) for a, b in pairs], is_paired)
    assert other.ratio == pytest.approx(one.ratio, rel=1e-9)
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-12)


def _judged(pairs, is_paired):
    def level(name, at, rate):
        counts = {"attempted": 10, "ok": 10}
        return typed.level(candidate=name, round=at + 1, counts=counts, ok_per_s=rate)

    sides = [[level(n, at, p[side]) for at, p in enumerate(pairs)] for side, n in enumerate("ab")]
    if is_paired:
        return verdicts([*sides[0], *sides[1]], "a", RATE)[0]
    return unpaired(*sides, ("a", "b"), RATE)[0]


def test_a_rate_of_a_shared_machine_is_marked_as_a_bound(trials):
    levels = trials(BEFORE, times(1.1))
    levels[1] = typed.changed(levels[1], health={"verdict": "contended"})
    (found,) = verdicts(levels, "a", RATE)
    assert (found.bounds, found.word) == ([False, True], "better")
    assert math.isfinite(found.spread)
