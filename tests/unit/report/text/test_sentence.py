import msgspec
import pytest

import typed
from ladders import ROWS, levels
from torr.model.condition import Condition
from torr.report.text import claims, sentence, trust

SHARED = "(client and target share this machine)"


def test_a_ladder_says_its_capacity_under_the_slo_and_its_knee(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS), ["p95 < 500ms"])
    assert sentence.verdict(found) == (
        "Holds 2,160 requests/s at 400 connections with p95 under 500 ms; the knee is at 100."
    )


def test_events_of_a_locustfile_are_told_of_if_nothing_else_was_measured(make_level, make_result):
    event = {"name": "good", "event": True, "counts": {"attempted": 7}}
    level = make_level(4, 0.0, 1.0, counts={"attempted": 0}, requests=[event])
    assert sentence.verdict(make_result("locust", [level])) == (
        "No request was sent by torr's clients; the locustfile itself reported 7 events."
    )


def test_a_ladder_without_an_slo_says_peak_and_knee(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS))
    assert sentence.verdict(found) == (
        "Peaks at 2,160 requests/s, reached from 200 connections on; the knee is at 100."
    )


def test_a_run_at_the_times_of_a_trace_is_called_so(make_level, make_result):
    trace = {"format": "mooncake", "rows": 100, "sessions": 100}
    level = typed.patched(make_level(1000, 50.0, 10.0), trace=trace, users=0)
    run = make_result("run", [level])
    assert " at the times of the trace with p95 " in sentence.verdict(run)


def test_one_way_messages_are_sent_not_answered(make_level, make_result):
    level = msgspec.structs.replace(make_level(4, 50.0, 10.0), statuses={"101": 9})
    run = make_result("run", [level])
    said = {}
    for kind in ("none", "order"):
        plan = {"transport": {"websocket": {"matching": {"kind": kind}}}}
        said[kind] = sentence.verdict(typed.patched(run, plan=plan))
    assert said == {
        "none": "Is sent 50 requests/s over 4 connections, without answers; "
        "written with p95 22.0 ms.",
        "order": "Answers 50 requests/s over 4 connections with p95 22.0 ms.",
    }


def test_a_ladder_whose_users_share_connections_speaks_of_users(make_level, make_result):
    shared = [
        typed.patched(level, connections={"requested": min(100, level.concurrency)})
        for level in levels(make_level, *ROWS)
    ]
    assert sentence.verdict(make_result("ladder", shared)) == (
        "Peaks at 2,160 requests/s, reached from 200 users on; the knee is at 100."
    )
    found = make_result("ladder", shared, ["p95 < 500ms"])
    assert "at 400 users with" in sentence.verdict(found)
    assert sentence.success(found) == "No request failed, 50 to 800 users."
    broken = make_result("ladder", shared, ["p95 < 2ms"])
    assert "even at 50 users" in sentence.verdict(broken)


def test_an_slo_that_no_level_broke_says_that_the_ladder_ended(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS), ["p95 < 5s", "success >= 99%"])
    assert sentence.verdict(found) == (
        "Holds 2,100 requests/s at 800 connections, the highest level measured, "
        "with p95 under 5 s and success at least 99 %; the knee is at 100."
    )


def test_a_capacity_past_the_peak_says_where_the_peak_is(collapsing_ladder):
    assert sentence.verdict(collapsing_ladder) == (
        "Holds 42,500 requests/s at 5,000 connections with p95 under 500 ms; "
        "the peak, 47,574, is reached at 200."
    )


def test_an_slo_broken_from_the_start_is_said_with_its_value(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS), ["p95 < 2ms"])
    assert sentence.verdict(found) == (
        "Does not hold p95 under 2 ms even at 50 connections (11.0 ms); it peaks at "
        "2,160 requests/s, reached from 200 connections on; the knee is at 100."
    )


def test_an_slo_on_too_few_attempts_cannot_be_shown(make_level, make_result):
    found = make_result("ladder", levels(make_level, (5, 100, 1.0)), ["success >= 99.9%"])
    assert sentence.verdict(found) == (
        "Cannot show success at least 99.9 % at 5 connections (no error in 1,000 attempts is not "
        "enough: 3,000 are needed); it answers 100 requests/s at 5 connections, the only level."
    )


ROWS_WITH_FEW = ((5, 100, 1.0), (50, 900, 5.0), (100, 1900, 5.2), (200, 1950, 60.0))


def test_a_capacity_above_a_level_that_shows_too_little_is_said(make_level, make_result):
    slos = ["p95 < 99ms", "success >= 99.9%"]
    found = make_result("ladder", levels(make_level, *ROWS_WITH_FEW), slos)
    assert sentence.verdict(found) == (
        "Holds 1,900 requests/s at 100 connections with p95 under 99 ms and success at least "
        "99.9 %; the knee is at 100."
    )


def test_levels_that_hold_above_one_with_a_failure_are_named(make_level, make_result):
    made = levels(make_level, *ROWS_WITH_FEW)
    made[0] = typed.changed(made[0], counts={"ok": 999, "errors": {"status": 1}})
    found = make_result("ladder", made, ["p95 < 99ms", "success >= 99.9%"])
    assert found.capacity.slo is None
    assert sentence.verdict(found) == (
        "Cannot show success at least 99.9 % at 5 connections (1 error in 1,000 attempts is not "
        "enough: 3,000 are needed), though every SLO holds from 50 to 100 (begin there, or "
        "measure longer); it peaks at 1,950 requests/s, reached from 100 connections on; "
        "the knee is at 100."
    )


def test_a_ladder_that_still_climbs_says_so(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS[:3]))
    assert sentence.verdict(found) == (
        "Reaches 2,150 requests/s at 200 connections, the highest level measured; "
        "the knee is at 100."
    )


def test_a_shared_machine_makes_lower_bounds(limited_ladder):
    assert sentence.verdict(limited_ladder) == (
        f"Peaks at ≥ 18,959 requests/s {SHARED}, reached at 100 and 200 connections; "
        "the knee is at 100."
    )


def test_a_ladder_limited_everywhere_claims_nothing(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS, verdict="generator-limited"))
    assert sentence.verdict(found) == (
        "Claims nothing: the generator was the limit at every level."
    )


def test_failures_at_the_claimed_level_are_said(make_level, make_result):
    found = make_result("ladder", levels(make_level, *ROWS, errors=500))
    assert sentence.verdict(found).startswith(
        "Peaks at 2,160 requests/s, reached from 200 connections on; 2.26 % failed there; the knee"
    )


def test_a_ladder_without_an_answer_says_what_went_wrong(make_level, make_result):
    found = make_result("ladder", levels(make_level, (5, 0, 1.0), errors=40))
    assert sentence.verdict(found) == (
        "Claims nothing: no level has an ok response: 40 failed, most by timeout.first_byte."
    )


def test_nothing_measured_gives_the_failure(make_level, make_result):
    made = make_level(5, 0.0, 1.0, failure="no response within 31 s.")
    found = make_result("ladder", [made])
    assert sentence.verdict(found) == "Nothing was measured: no response within 31 s."
    assert sentence.verdict(make_result("run", [])) == "Nothing was measured."
    assert trust.trust(make_result("run", [])) == "No level was measured."


def test_a_run_says_rate_connections_p95_and_failures(run):
    assert sentence.verdict(run) == (
        "Answers 2,150 requests/s over 50 connections with p95 51.1 ms; 0.19 % failed."
    )


@pytest.mark.parametrize(
    ("slos", "says"),
    [
        (["p95 < 500ms"], "Holds p95 under 500 ms (51.1 ms) at"),
        (["p95 < 500ms", "p95 < 2ms"], "Breaks p95 under 2 ms (51.1 ms) at"),
        (
            ["p99.99 < 2ms"],
            "Cannot show p99.99 under 2 ms (p99.99 needs 100,000 answers, there were 21,500) at",
        ),
    ],
)
def test_a_run_with_slos_says_the_worst_word(make_level, make_result, slos, says):
    found = make_result("run", [make_level(50, 2150.0, 23.2)], slos)
    assert sentence.verdict(found) == f"{says} 2,150 requests/s over 50 connections."


def test_arrivals_beside_users_are_not_measured_by_the_answers_of_both(make_level, make_result):
    level = typed.changed(make_level(150, 998.0, 2.0), users=50, rate=50.0)
    assert sentence.verdict(make_result("run", [level])).startswith(
        "Answers 998 requests/s over 150"
    )


def test_users_who_starve_beside_arrivals_are_told_of_users_alone(make_level, make_result):
    level = typed.changed(make_level(150, 998.0, 2.0), starved=1, users=50, rate=50.0)
    said = sentence.verdict(make_result("run", [level]))
    assert said == "Claims nothing: 1 of 50 users got no response in the window."


def test_a_run_at_a_rate_says_what_was_asked(make_level, make_result):
    found = make_result("run", [typed.changed(make_level(100, 998.0, 1.0), rate=1000.0)])
    assert sentence.verdict(found) == (
        "Answers 998 requests/s of 1,000 asked for over 100 connections with p95 2.24 ms."
    )


def test_a_run_limited_by_the_generator_claims_nothing_and_says_why(make_level, make_result):
    made = make_level(5, 9.0, 1.0, verdict="generator-limited", reasons=["thread CPU 97 %."])
    assert sentence.verdict(make_result("run", [made])) == (
        "Claims nothing: the generator was the limit: thread CPU 97 %."
    )


def test_a_run_without_an_ok_answer_says_so(make_level, make_result):
    found = make_result("run", [make_level(5, 0.0, 1.0, errors=7)])
    assert sentence.verdict(found) == (
        "No request succeeded: 7 failed, most by timeout.first_byte."
    )


def test_a_diff_says_ratios_and_that_it_has_no_verdict(diffed):
    assert sentence.verdict(diffed) == (
        "apiserver answers 0.16–0.67 × the requests/s of bare at 8 common levels; best against "
        "best 6,320 (at 50) to 18,959 (at 100), 0.33 ×; one run each, no verdict."
    )
    assert trust.trust(diffed) == (
        "Both ran without interleaving: drift between them is not excluded."
    )


def test_the_verdict_says_what_ended_the_load_early(make_level, make_result):
    found = make_result("run", [make_level(5, 9.0, 1.0)], ended_by="--abort-on 'errors > 10%'")
    said = "; ended early by --abort-on 'errors > 10%'."
    assert sentence.verdict(found).endswith(said)
    ladder = make_result("ladder", levels(make_level, *ROWS), ended_by="--abort-on 'errors > 10%'")
    assert sentence.verdict(ladder).endswith(f"; the knee is at 100{said}")
    assert "ended" not in trust.trust(found)  # once is enough


def test_failures_over_a_ladder_are_one_sentence(ladder, collapsing_ladder, diffed):
    assert sentence.success(ladder) == "No request failed, 10 to 1,600 connections."
    assert sentence.success(collapsing_ladder) == (
        "No request failed up to 5,000, 45.45 % failed at 50,000 connections."
    )
    assert sentence.success(diffed) == (
        "bare: no request failed, 10 to 1,600 connections; "
        "apiserver: no request failed up to 1,600, 8.76 % failed at 3,200 connections."
    )


def test_users_who_share_connections_are_told_apart_from_them(run):
    level = {"concurrency": 100_000, "connections": {"requested": 1000}}
    shared = typed.patched(run, levels={0: level})
    assert "requests/s from 100,000 users over 1,000 connections" in sentence.verdict(shared)


def test_the_time_of_a_run_is_written_once():
    running = typed.result(started="2026-01-31T12:00:00.000Z")
    assert trust.when(running) == "2026-01-31 12:00:00 UTC"
    ended = typed.result(started="2026-01-31T23:59:00.000Z", ended="2026-02-01T00:01:00.000Z")
    assert trust.when(ended) == "2026-01-31 23:59:00 – 2026-02-01 00:01:00 UTC"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p95 < 500ms", "p95 under 500 ms"),
        ("service p99 <= 1.5s", "service p99 at most 1.5 s"),
        ("ok/s > 10k", "ok/s over 10,000/s"),
        ("success >= 99.9%", "success at least 99.9 %"),
        ("chat: ttfb p95 < 800ms", "chat: ttfb p95 under 800 ms"),
    ],
)
def test_conditions_are_said_in_words(text, words):
    assert claims.phrase(Condition.parse(text)) == words


def hung(make_level, users):
    return make_level(users, 0.0, 1.0, failure="hung", latency={})


def test_dead_levels_are_said_with_and_without_an_slo(make_level, make_result):
    made = [*levels(make_level, *ROWS[:3]), hung(make_level, 400)]
    assert sentence.verdict(make_result("ladder", made)) == (
        "Peaks at 2,150 requests/s, reached at 200 connections; the knee is at 100; "
        "at 400 connections no request succeeded."
    )
    made.append(hung(make_level, 800))
    assert sentence.verdict(make_result("ladder", made, ["p95 < 5s"])) == (
        "Holds 2,150 requests/s at 200 connections with p95 under 5 s; the knee is at 100; "
        "from 400 connections on no request succeeded."
    )
    assert sentence.success(make_result("ladder", made)) == (
        "No request failed, 50 to 200 connections; none was answered at 400 and 800 connections."
    )


def test_a_level_cut_short_is_not_the_highest_measured(make_level, make_result):
    made = [*levels(make_level, *ROWS), make_level(1600, 9999.0, 1.0, cut_short=True)]
    assert sentence.verdict(make_result("ladder", made, ["p95 < 5s"])).startswith(
        "Holds 2,100 requests/s at 800 connections, the highest level measured to its end, with"
    )


def test_a_run_whose_users_starved_claims_nothing(make_level, make_result):
    made = [make_level(1600, 9999.0, 1.0, starved=900)]
    assert sentence.verdict(make_result("run", made)) == (
        "Claims nothing: 900 of 1,600 users got no response in the window."
    )


def test_a_level_whose_users_starved_is_not_the_highest_measured(make_level, make_result):
    rising = [make_level(n, n * 10.0, 1.0) for n in (50, 100, 200)]
    made = [*rising, make_level(1600, 9999.0, 1.0, starved=900)]
    assert sentence.verdict(make_result("ladder", made)).startswith(
        "Reaches 2,000 requests/s at 200 connections, the highest level at which every user was"
    )


@pytest.mark.parametrize("slos", [[], ["p95 < 500ms"], ["p95 < 1ms"], ["success >= 99.99%"]])
@pytest.mark.parametrize("more", [{}, {"errors": 20}, {"verdict": "contended"}])
def test_one_connection_is_no_plural(make_level, make_result, slos, more):
    made = [make_level(1, 1000.0, 1.0, **more)]
    for found in (make_result("ladder", made, slos), make_result("run", made, slos)):
        said = " ".join((sentence.verdict(found), sentence.success(found), trust.trust(found)))
        assert "1 connection" in said
        assert " 1 connections" not in said


def test_one_level_below_limited_ones_is_not_the_only_one(make_level, make_result):
    made = [make_level(1, 900.0, 1.0), make_level(2, 900.0, 1.0, verdict="generator-limited")]
    assert sentence.verdict(make_result("ladder", made)) == (
        "Reaches 900 requests/s at 1 connection, the highest level that the generator could hold."
    )


def test_a_plateau_below_limited_levels_is_named_level_by_level(make_level, make_result):
    made = [make_level(n, 900.0, 1.0) for n in (1, 2, 4)]
    made.append(make_level(8, 900.0, 1.0, verdict="generator-limited"))
    assert sentence.verdict(make_result("ladder", made)).startswith(
        "Peaks at 900 requests/s, reached at 1, 2 and 4 connections"
    )


def test_a_condition_that_breaks_by_something_else_than_its_value_says_by_what(
    make_level, make_result
):
    made = typed.patched(make_level(50, 900.0, 10.0), counts={"dropped": 6803})
    said = sentence.verdict(make_result("run", [made], ["p99 < 50s"]))
    assert said.startswith("Breaks p99 under 50 s (")
    assert "6,803 due requests never sent" in said


def test_a_run_with_too_few_answers_for_p95_still_counts_from_when_they_were_due(
    make_level, make_result
):
    (level,) = levels(make_level, (1, 9.5, 100.0))
    few = {"n": 19, "mean": 4080.0}
    level = typed.changed(level, rate=50.0, latency={"response_ms": few})
    said = sentence.verdict(make_result("run", [level]))
    assert (
        said == "Answers 9.5 requests/s of 50 asked for over 1 connection in 4,080 ms on average."
    )
    level = typed.patched(level, counts={"dropped": 3})
    assert "in ≥ 4,080 ms on average" in sentence.verdict(make_result("run", [level]))
