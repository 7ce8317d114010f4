"""The tuning ledger: medians, changes, and whether they are more than noise."""

import random

import pytest

import stored_runs
import typed
from stored_runs import level
from torr.results.base import builtins
from torr.verdicts import history
from torr.verdicts.history import MeasuredRun
from tuned import tuned

# A session as people make it: one resource after another, one run each.
SESSION = [21.5, 30.8, 49.5, 54.1, 48.4]


def result(name, *levels):
    return typed.result(**stored_runs.result(name, *levels))


def ledger(results, request=None, concurrency=None, baseline=None):
    runs = [MeasuredRun.of(run, found, request, concurrency) for run, found in results]
    return plain(builtins(history.ledger(runs, baseline)))


def plain(value):
    """Return JSON with the English of each message."""
    if isinstance(value, dict):
        members = {name: plain(member) for name, member in value.items()}
        return members["text"] if members.keys() == {"code", "values", "text"} else members
    return [plain(member) for member in value] if isinstance(value, list) else value


def one_each(*rates, **more):
    return [(n, result("api", level(50, rate, **more))) for n, rate in enumerate(rates, 1)]


def trials(rate, *, count=6, spread=0.005, seed=1, **more):
    drawn = random.Random(f"{seed} {rate}")
    rounds = range(1, count + 1)
    return [level(50, rate * drawn.gauss(1, spread), number=n, **more) for n in rounds]


def changes(entries, which):
    return [entry[which] and round(entry[which]["ratio"], 3) for entry in entries]


def test_each_run_is_set_beside_the_one_before_and_the_best_so_far():
    entries = ledger(one_each(*SESSION))
    assert [entry["ok_per_s"] for entry in entries] == SESSION
    assert changes(entries, "before") == [None, 1.433, 1.607, 1.093, 0.895]
    assert changes(entries, "best") == [None, 1.433, 1.607, 1.093, 0.895]
    assert [entry["run"] for entry in entries if entry["is_best"]] == [4]


def test_the_best_stays_the_best_after_a_fall():
    entries = ledger(one_each(54.1, 48.4, 50.0))
    assert changes(entries, "before") == [None, 0.895, 1.033]
    assert changes(entries, "best") == [None, 0.895, 0.924]
    assert [entry["best"]["run"] for entry in entries[1:]] == [1, 1]


def test_one_run_each_has_a_ratio_and_no_verdict():
    _, entry = ledger(one_each(48.4, 54.1))
    assert (entry["before"]["word"], entry["before"]["reason"]) == (None, "one run each")


def test_runs_with_trials_get_a_verdict():
    results = [(n, result("api", *trials(rate))) for n, rate in enumerate((100, 112, 112.1), 1)]
    _, faster, same = ledger(results)
    assert faster["before"]["word"] == "faster"
    assert faster["before"]["interval"][0] > 1.05
    assert same["before"]["word"] == "same"
    assert "not interleaved" in same["before"]["reason"]
    assert (faster["trials"], faster["before"]["n"]) == (6, 6)


def test_too_few_trials_find_nothing():
    results = [(n, result("api", *trials(rate, count=3))) for n, rate in enumerate((100, 112), 1)]
    change = ledger(results)[1]["before"]
    assert change["word"] == "inconclusive"
    assert "6 are needed" in change["reason"]


def test_trials_on_one_side_only_have_no_verdict():
    results = [(1, result("api", *trials(100))), (2, result("api", level(50, 112)))]
    assert ledger(results)[1]["before"]["reason"] == "6 and 1 trials"


def test_another_load_is_no_change_of_the_server():
    results = [(1, result("api", *trials(100))), (2, result("api", level(100, 112)))]
    change = ledger(results)[1]["before"]
    assert change["word"] is None
    assert change["reason"] == "another load: 50 connections, then 100 connections"


def test_the_best_level_of_a_ladder_is_meant_unless_one_is_named():
    climbs = [level(10, 90), level(50, 200), level(100, 180)]
    (best,) = ledger([(1, result("api", *climbs))])
    (named,) = ledger([(1, result("api", *climbs))], concurrency=100)
    assert (best["concurrency"], best["ok_per_s"]) == (50, 200)
    assert (named["concurrency"], named["ok_per_s"]) == (100, 180)


def test_arrivals_at_a_rate_are_compared_by_their_p99():
    results = [
        (n, result("api", level(50, 100, rate=100.0, p95=p95))) for n, p95 in enumerate((8, 4, 6))
    ]
    entries = ledger(results)
    assert entries[1]["before"]["metric"] == "response_ms.p99"
    assert changes(entries, "best") == [None, 0.5, 1.5]
    assert [entry["is_best"] for entry in entries] == [False, True, False]


def test_times_of_requests_that_were_never_sent_are_bounds():
    times = {"response_ms": {"n": 1000, "p95": 2.0, "p99": 4.0, "at_least": ["p95", "p99"]}}
    late = level(50, 100, rate=100.0, latency=times)
    whole = level(50, 100, rate=100.0, p95=8.0)
    first, second = ledger([(1, result("api", whole)), (2, result("api", late))])
    assert (first["p95_at_least"], second["p95_at_least"]) == (False, True)
    assert second["before"]["bounds"] == [False, True]


def test_a_request_has_a_ledger_of_its_own():
    def step(name, rate):
        return {**level(50, rate), "name": name}

    runs = [(98.4, 10), (61.2, 20)]
    results = [
        (n, result("chat", level(50, a + b, requests=[step("simple", a), step("complex", b)])))
        for n, (a, b) in enumerate(runs, 1)
    ]
    assert [entry["ok_per_s"] for entry in ledger(results, "simple")] == [98.4, 61.2]
    assert changes(ledger(results, "complex"), "before") == [None, 2.0]
    none = ledger(results, "none")
    assert {(entry["reason"], entry["is_best"]) for entry in none} == {
        ("it has no request 'none'", False)
    }


CLAIMLESS = {
    "the generator was the limit": {"health": "generator-limited"},
    "its window was cut short": {"cut_short": True},
    "users got no response in the window": {"starved": 50},
}


@pytest.mark.parametrize("reason", CLAIMLESS)
def test_a_run_that_claims_nothing_is_shown_and_compared_with_nothing(reason):
    results = one_each(50, 60)
    results.insert(1, (9, result("api", level(50, 500, **CLAIMLESS[reason]))))
    first, claimless, last = ledger(results)
    assert (claimless["reason"], claimless["ok_per_s"]) == (reason, None)
    assert (claimless["before"], claimless["is_best"]) == (None, False)
    assert last["before"]["run"] == first["run"]


def test_a_run_without_a_successful_request_is_compared_with_nothing():
    results = one_each(50, 60)
    counts = {"attempted": 100, "ok": 0, "errors": {"status": 100}}
    results.insert(1, (9, result("api", level(50, 0, success=0.0, counts=counts))))
    first, failed, last = ledger(results)
    assert (failed["reason"], failed["ok_per_s"]) == ("no request succeeded", None)
    assert (failed["before"], failed["best"]) == (None, None)
    assert last["before"]["run"] == first["run"]


def test_where_no_run_claims_anything_none_is_the_best():
    found = ledger(one_each(50, 60, health="generator-limited"))
    assert [(entry["reason"], entry["is_best"]) for entry in found] == [
        ("the generator was the limit", False)
    ] * 2


def test_a_level_that_a_run_has_not_is_said():
    results = [*one_each(50), (2, result("api", level(100, 60)))]
    assert ledger(results, concurrency=50)[1]["reason"] == "it has no level 50"


def test_rates_of_a_shared_machine_are_bounds():
    entries = ledger(one_each(50, 60, health="contended"))
    assert entries[0]["at_least"]
    assert entries[0]["value_at_least"]
    assert entries[1]["before"]["bounds"] == [True, True]


def test_each_run_is_set_beside_a_baseline_which_may_be_among_them():
    of = result("api", level(50, 30.8))
    entries = ledger(one_each(*SESSION), baseline=MeasuredRun.of(2, of, None, None))
    assert changes(entries, "baseline") == [0.698, None, 1.607, 1.756, 1.571]
    assert entries[0]["baseline"]["run"] == 2


def test_a_baseline_that_claims_nothing_is_compared_with_nothing():
    of = result("api", level(50, 500, cut_short=True))
    entries = ledger(one_each(50, 60), baseline=MeasuredRun.of(9, of, None, None))
    assert changes(entries, "baseline") == [None, None]


def test_trials_have_a_range_and_a_single_one_has_none():
    results = [(1, result("api", *(level(50, 10 * n, p95=n, number=n) for n in (1, 2, 4))))]
    several, single = ledger([*results, *one_each(50)])
    assert (several["ok_per_s_range"], several["p95_ms_range"]) == ([10, 40], [1, 4])
    assert single["ok_per_s_range"] is None


def test_nothing_kept_is_an_empty_ledger():
    assert ledger([]) == []


def test_a_tuning_is_a_round_for_its_default_and_each_finalist():
    measured = MeasuredRun.of_tuning(7, tuned(), None)
    entries = history.ledger(measured)
    assert [entry.setting for entry in entries] == [
        "workers 1, gc true",
        "workers 4, gc true, pool 16",
        "workers 4, gc false, pool 8",
        "workers 4, gc false, pool 16",
    ]
    assert {entry.run for entry in entries} == {7}
    assert [entry.is_best for entry in entries] == [False, False, False, True]
    assert [entry.trials for entry in entries] == [10] * 4
    assert entries[1].before.word == "faster"
    claims = {x.setting: x.against_default for x in tuned().tuning.measured}
    assert [entry.before.interval for entry in entries[1:]] == [
        claims[setting].interval for setting in reversed(tuned().tuning.finalists)
    ]


def test_only_the_recommended_setting_of_a_tuning_is_the_best():
    result = tuned()
    result.tuning.recommended = None
    entries = history.ledger(MeasuredRun.of_tuning(7, result, None))
    assert [entry.is_best for entry in entries] == [True, False, False, False]
    assert all(entry.best.word == "faster" for entry in entries[1:])


def test_fresh_rounds_after_the_verdict_are_not_in_the_ledger():
    result = tuned()
    result.tuning.rounds = 6
    entries = history.ledger(MeasuredRun.of_tuning(7, result, None))
    assert [entry.trials for entry in entries] == [6] * 4


def test_a_tuning_without_fresh_rounds_is_none():
    assert MeasuredRun.of_tuning(7, tuned(until=5), None) == []
