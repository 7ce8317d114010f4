"""One sentence, and the line below it, of what a comparison found: never more than its verdicts."""

import pytest

import typed
from compared import FACTORS, cells, compared, failure, matrix, on_trace, pair, rounds
from torr.model.condition import Condition
from torr.report.text import sentence, trust
from torr.verdicts import comparison
from torr.verdicts.comparison import Procedure

AT = {"connections": 500}


def said(result):
    return sentence.verdict(result)


def limited(result, *, only=lambda _: True):
    """The same with the generator as the limit of some trials, judged anew."""
    health = {"verdict": "generator-limited", "reasons": ["thread CPU 97 %."]}
    levels = [typed.changed(x, health=health) if only(x) else x for x in result.levels]
    return typed.changed(result, levels=levels, verdicts=comparison.verdicts(levels, "go-net"))


@pytest.mark.parametrize(
    ("ratio", "settings", "expected"),
    [
        (0.88, {}, "go-gin is 11 % slower than go-net (11–12 %, 10 rounds) at 500 connections."),
        (1.07, {}, "go-gin is 8 % faster than go-net (7–9 %, 10 rounds) at 500 connections."),
        (2.4, {}, "go-gin has 2.4 × the ok/s of go-net (2.40–2.43, 10 rounds) at 500 connections."),
        (
            1.0,
            {"spread": 0.005},
            "go-gin and go-net are the same at 500 connections (−0.1 to +0.7 %, 10 rounds).",
        ),
        (
            0.98,
            {"spread": 0.05},
            (
                "Inconclusive at 500 connections: go-gin has 1.01 × the ok/s of go-net (0.97–1.05)"
                "; "
                "about 72 rounds would settle it."
            ),
        ),
        (
            0.88,
            {"count": 4},
            (
                "Inconclusive at 500 connections: go-gin has 0.89 × the ok/s of go-net; "
                "4 rounds, 6 are needed."
            ),
        ),
    ],
)
def test_one_candidate_in_one_cell(ratio, settings, expected):
    assert said(pair(ratio, **settings)) == expected


def test_a_load_at_the_times_of_a_trace_is_called_so():
    assert said(on_trace(0.5)) == (
        "go-gin is 100 % slower by p99 than go-net (99–101 %, 10 rounds) at the times of the trace."
    )
    assert said(on_trace(1.0)).startswith(
        "go-gin and go-net are the same by p99 at the times of the trace ("
    )


def test_in_many_cells_words_are_counted_and_the_largest_difference_has_its_place():
    found = said(pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS))
    assert found == (
        "go-gin is slower than go-net in 3 of 4 cells, most at 4 processes and 500 connections: "
        "30 % (29–31 %); the same in 1."
    )
    found = said(pair(0.88, 1.1, 0.98, 0.7, factors=FACTORS, spread=0.02))
    assert found.startswith("go-gin is slower than go-net in 3 of 4 cells, most at 4 processes")
    assert "; faster in 1, at 1 process and 500 connections: 10 % (7–12 %)." in found


def test_where_all_is_inconclusive_no_direction_is_named():
    found = said(pair(1.02, 0.99, 1.03, 1.0, factors=FACTORS, spread=0.06))
    assert found == (
        "go-gin against go-net: inconclusive in 4 of 4 cells "
        "(about 21 to 254 more rounds would settle them)."
    )


def test_the_leader_is_ahead_of_the_baseline_and_no_one_is_the_fastest_of_all():
    found = said(matrix({"connections": [100]}))
    assert found == (
        "litefs-gunicorn has 2.4 × the ok/s of fastapi-uvicorn (2.38–2.44, 12 rounds) at 100 "
        "connections, the most of 6 candidates; also faster: litefs-native; "
        "slower: litefs-uvicorn; the same: fastapi-gunicorn and express."
    )
    assert "fastest" not in said(matrix())
    assert "also faster: litefs-native in 6; slower: litefs-uvicorn in 6;" in said(matrix())


def test_too_few_rounds_for_so_many_comparisons_settle_nothing_however_large_the_lead():
    found = said(matrix({"processes": list(range(1, 7)), "connections": list(range(1, 7))}))
    assert found == (
        "No candidate of 6 is shown to be faster than fastapi-uvicorn; inconclusive: "
        "fastapi-gunicorn in 36, litefs-native in 36, litefs-uvicorn in 36 and 2 more "
        "(12 rounds cannot decide any of 180 comparisons: 13 are needed)."
    )


def test_a_limited_generator_claims_nothing():
    result = limited(pair(0.5))
    assert said(result) == "Claims nothing: the generator was the limit: thread CPU 97 %."
    assert trust.health(result) == "generator-limited"
    found = limited(
        pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS),
        only=lambda level: level.factors["processes"] == 4,
    )
    assert said(found).endswith("; without a verdict, since the generator was the limit, in 2.")
    line = trust.trust(found)
    assert line.startswith("Generator-limited in 40 of 80 trials, which have no verdict in their")


def test_a_candidate_that_failed_everywhere_is_named_with_its_reason():
    alone = rounds({"go-net": 12_000}, AT)
    both = ["go-net", "go-gin"]
    result = compared(alone, names=both, failures=[failure("go-gin", AT)] * 2)
    why = "go-gin failed in 2 trials: it exited: code 3."
    assert said(result) == f"Nothing to compare: {why}"
    assert "2 trials failed (go-gin 2)" in trust.trust(result)
    swapped = compared(alone, names=both, baseline="go-gin", failures=[failure("go-gin", AT)])
    assert said(swapped) == (
        "Nothing to compare: go-gin, the baseline, failed in 1 trial: it exited: code 3."
    )


def test_a_candidate_that_failed_in_some_cells_only_is_counted_there():
    result = pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS)
    gone = {"processes": 4, "connections": 100}
    kept = [x for x in result.levels if (x.candidate, x.factors) != ("go-gin", gone)]
    result = compared(kept, factors=FACTORS, failures=[failure("go-gin", gone)])
    assert said(result).endswith("30 % (29–31 %); failed in 1.")


def test_nothing_measured():
    assert said(compared([], names=["go-net", "go-gin"])) == "Nothing was measured."
    result = compared([], names=["go-net", "go-gin"], failures=[failure("go-gin", AT)])
    assert said(result) == (
        "Nothing was measured; 1 trial failed and the first was one of go-gin: it exited: code 3."
    )
    assert trust.trust(result) == "No trial was measured · 1 trial failed (go-gin 1)."


def test_a_result_without_experiment_and_verdicts_has_a_sentence():
    bare = typed.result(kind="compare", levels=rounds({"a": 100, "b": 90}, AT))
    assert said(bare) == "Inconclusive at 500 connections: b against a; no reason was recorded."
    only = typed.changed(bare, levels=rounds({"a": 100}, AT))
    assert said(only) == "Nothing to compare: a is the only candidate."


def test_speed_that_is_paid_for_with_failures_is_told_with_them():
    levels = rounds({"go-net": 12_000, "go-gin": 13_500}, AT)
    for at in range(1, len(levels), 2):
        counts = typed.changed(levels[at].counts, errors={"read": 1500})
        levels[at] = typed.changed(levels[at], counts=counts, success_rate=97.7)
    found = said(compared(levels))
    assert found.endswith("at 500 connections, but fails more (+2.30 points).")
    assert found.startswith("go-gin is 13 % faster")


def test_an_answer_on_one_side_only_has_no_ratio():
    result = compared(rounds({"go-net": 12_000, "go-gin": 0}, AT, errors=100))
    assert said(result).startswith(
        "go-gin is slower than go-net (0 against 11,957 ok/s, 10 rounds)"
    )
    result = compared(rounds({"go-net": 0, "go-gin": 0}, AT, errors=100))
    assert said(result) == "Neither go-gin nor go-net answered at 500 connections."


def test_rates_of_a_shared_machine_are_bounds():
    result = compared(rounds({"go-net": 12_000, "go-gin": 13_500}, AT, health="contended"))
    assert said(result).endswith("; rates are lower bounds (client and target share this machine).")
    assert trust.trust(result).startswith("Contended in 20 of 20 trials: client and target share")


def test_how_the_trials_were_made_is_in_the_trust_line():
    assert trust.trust(pair(0.88)) == (
        "Healthy: the generator had room · 10 rounds, interleaved, spread of trials 0.9 % · "
        "generator on core 0, target on core 1 · busiest worker 61 % of a core."
    )
    result = pair(0.88)
    result.experiment.restart, result.experiment.pin = "cell", None
    assert "; servers kept running through a cell · generator and target share all cores" in (
        trust.trust(result)
    )


def test_discarded_rounds_are_counted_and_named():
    levels = rounds({"go-net": 12_000, "go-gin": 10_000}, AT)
    counts = {"attempted": 900, "ok": 800, "errors": {"read": 100}}
    levels[5] = typed.changed(levels[5], counts=counts, success_rate=88.9)
    rule = Procedure(rule=Condition.parse("success < 99%"))
    result = compared(levels, procedure=rule)
    assert "1 round discarded by success < 99% (go-gin 1)" in trust.trust(result)


def test_a_primary_metric_other_than_the_rate_is_named():
    levels = rounds({"go-net": 12_000, "go-gin": 13_500}, AT)
    levels = [typed.changed(level, rate=1000.0) for level in levels]
    found = said(compared(levels))
    assert found.startswith("go-gin is 12 % faster by p99 than go-net (11–12 %, 10 rounds)")


def test_cells_are_told_apart_by_their_factors():
    settings = cells({"log": [True, False], "delay": ["500ms"]})
    levels = [x for s in settings for x in rounds({"a": 100, "b": 220}, s)]
    found = said(compared(levels, baseline="a"))
    assert "b is faster than a in 2 of 2 cells, most at log o" in found
    assert "and delay 500ms: 2.2 × (2." in found
