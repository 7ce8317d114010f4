import pytest
from msgspec.structs import replace

import typed
from torr.model.condition import Condition
from torr.stats.series import Series
from torr.verdicts import capacity


def level(users, ok_per_s, service_ms=1.0, *, p95=None, verdict="healthy", ok=10_000, **more):
    p95 = service_ms if p95 is None else p95
    base = {
        "concurrency": users,
        "round": 1,
        "ok_per_s": float(ok_per_s),
        "success_rate": 100.0,
        "counts": {"attempted": ok, "ok": ok, "errors": {}, "dropped": 0},
        "latency": {
            "service_ms": {"n": ok, "mean": service_ms},
            "response_ms": {"n": ok, "p95": p95},
        },
        "health": {"verdict": verdict, "reasons": []},
    }
    return typed.level(**{**base, **more})


def queue(users, limit=10, rate=100.0):
    """A station that serves `limit` at once: throughput flat, times growing past it."""
    return level(users, rate * min(users, limit), 10.0 * max(1, users / limit))


P95 = Condition.parse("p95 < 25ms")
SUCCESS = Condition.parse("success >= 99.9%")


def test_the_peak_is_the_highest_rate_and_its_plateau_starts_where_95_percent_are_reached():
    found = capacity.analyse([level(1, 100), level(2, 195), level(4, 200), level(8, 198)]).peak
    assert (found.concurrency, found.ok_per_s) == (2, 200)
    assert found.plateau == [2, 4, 8]
    assert (found.highest_at, found.ok_per_s_there) == (4, 195)


def test_levels_are_read_in_any_order():
    levels = [queue(n) for n in (40, 5, 10, 20, 1)]
    assert capacity.analyse(levels) == capacity.analyse(sorted(levels, key=lambda x: x.concurrency))


def test_the_knee_of_a_station_is_where_it_is_full():
    found = capacity.analyse([queue(n) for n in (1, 2, 5, 10, 20, 40)])
    assert found.knee.concurrency == 10
    assert found.knee.service_ms == 10


def test_a_knee_at_the_lowest_level_is_an_edge_of_the_ladder():
    found = capacity.analyse([queue(n) for n in (10, 20, 40)])
    assert found.knee is None
    assert found.reasons["knee"] == (
        "the ladder starts too late: power is greatest at its lowest level, 10"
    )


def test_a_knee_at_the_highest_level_is_an_edge_of_the_ladder():
    found = capacity.analyse([queue(n) for n in (1, 2, 5, 10)])
    assert found.knee is None
    assert found.reasons["knee"].startswith("the ladder ends too early")


def dead(users, **more):
    """A level whose users all hung: nothing could start in its window."""
    return level(users, 0, ok=0, **{"success_rate": None, "latency": {}, **more})


def test_a_level_at_which_nothing_succeeded_ends_the_capacity():
    found = capacity.analyse([level(200, 100), dead(500), level(1000, 300)], [P95]).slo
    assert found.concurrency == 200
    beyond = found.beyond
    assert (beyond.concurrency, beyond.word) == (500, "broken")
    assert beyond.reason == "no request succeeded"


def test_a_level_with_a_failure_holds_no_slo_of_any_kind():
    words = {v.word for v in capacity.verdicts([dead(5, failure="hung")], [P95, SUCCESS])}
    assert words == {"broken"}


def test_a_level_that_was_ended_before_its_window_is_left_out():
    levels = [level(1, 10), dead(2, interrupted=True)]
    assert [v.concurrency for v in capacity.verdicts(levels, [P95])] == [1]
    assert capacity.analyse(levels, [P95]).slo.beyond is None


def test_a_dead_level_makes_no_knee_of_the_one_below_it():
    found = capacity.analyse([level(50, 50), level(100, 100), level(200, 200), dead(400)])
    assert found.knee is None
    assert found.reasons["knee"] == (
        "the ladder ends too early: power is greatest at its highest level, 200, "
        "as no request succeeded above it"
    )
    few = capacity.analyse([level(50, 50), level(100, 90, 9), dead(400)])
    assert few.reasons["knee"] == ("needs 3 levels at which a request succeeded, there are 2")


def test_a_dead_level_takes_no_knee_away_that_stands_between_live_ones():
    live = [queue(n) for n in (1, 2, 5, 10, 20, 40)]
    assert capacity.analyse([*live, dead(80)]).knee == capacity.analyse(live).knee


def test_a_level_cut_short_is_no_peak_no_knee_no_plateau_and_no_point_of_the_fit():
    levels = [queue(n) for n in (1, 2, 4, 8, 16, 32)]
    whole = capacity.analyse(levels, [P95])
    cut = level(20, 99_999, 0.001, cut_short=True)
    assert capacity.analyse([*levels, cut], [P95]) == whole


def test_a_level_cut_short_above_the_others_is_named_where_the_knee_is_missed():
    levels = [*(queue(n) for n in (1, 2, 5)), level(10, 9_999, cut_short=True)]
    assert capacity.analyse(levels).reasons["knee"].endswith(", 5, as the one above was cut short")


def test_a_level_cut_short_that_breaks_an_slo_ends_the_capacity():
    levels = [queue(1), level(5, 100, p95=99, cut_short=True), queue(10)]
    assert capacity.analyse(levels, [P95]).slo.beyond.concurrency == 5


def test_a_level_whose_drain_was_ended_is_whole():
    made = level(5, 100, interrupted=True, cut_short=False)
    assert capacity.analyse([made], [P95]).slo.concurrency == 5


def test_a_round_cut_short_leaves_the_level_to_its_other_rounds():
    rounds = [level(5, 100), level(5, 999, cut_short=True, round=2)]
    assert capacity.analyse(rounds).peak.ok_per_s == 100


def test_a_ladder_cut_short_at_its_first_level_claims_nothing_and_says_so():
    found = capacity.analyse([level(5, 100, cut_short=True)], [P95])
    assert found.reasons["peak"] == "no level was measured to its end"


def test_a_level_cut_short_before_anything_ended_shows_nothing():
    made = level(5, 0, counts={"attempted": 4, "ok": 0}, interrupted=True, cut_short=True)
    assert capacity.judge(P95, [made]).word == "not shown"


def test_two_levels_have_no_knee():
    assert capacity.analyse([queue(1), queue(20)]).reasons["knee"] == "needs 3 levels, there are 2"


def test_rounds_count_by_their_median():
    rounds = [level(5, rate, round=i) for i, rate in enumerate((100, 900, 110), 1)]
    assert capacity.analyse(rounds).peak.ok_per_s == 110


def test_levels_limited_by_the_generator_claim_nothing():
    levels = [queue(n) for n in (1, 5, 10, 20)]
    levels.append(level(40, 99_999, verdict="generator-limited"))
    found = capacity.analyse(levels, [P95])
    assert found.peak.ok_per_s == 1000
    assert found.slo.concurrency == 20


def test_a_level_with_one_limited_round_counts_by_its_other_rounds():
    rounds = [level(5, 100), level(5, 999, verdict="generator-limited", round=2)]
    assert capacity.analyse(rounds).peak.ok_per_s == 100


def test_a_ladder_limited_everywhere_claims_nothing_and_says_so():
    found = capacity.analyse([level(5, 100, verdict="generator-limited")])
    assert found.peak is None
    assert found.reasons["peak"] == "the generator was the limit at every level"


def test_a_target_that_answers_nothing_has_no_capacity():
    found = capacity.analyse([level(5, 0, ok=0)])
    assert found.reasons["peak"] == "no level has an ok response"
    assert capacity.analyse([]).peak is None


def test_contended_levels_count_as_lower_bounds():
    contended = typed.changed(queue(10), health={"verdict": "contended"})
    levels = [queue(1), queue(5), contended, queue(20)]
    found = capacity.analyse(levels, [P95])
    assert found.peak.at_least is True
    assert found.knee.at_least is True


def test_capacity_is_the_highest_level_below_which_everything_holds():
    found = capacity.analyse([queue(n) for n in (1, 5, 10, 20, 40, 80)], [P95, SUCCESS]).slo
    assert (found.concurrency, found.ok_per_s) == (20, 1000)
    assert found.conditions == ["p95 < 25ms", "success >= 99.9%"]
    assert found.beyond.concurrency == 40
    assert found.beyond.value == 40
    assert found.beyond.word == "broken"


def test_a_level_that_holds_above_one_that_does_not_is_no_capacity():
    levels = [level(1, 10, p95=1), level(2, 20, p95=99), level(4, 40, p95=1)]
    assert capacity.analyse(levels, [P95]).slo.concurrency == 1


def test_a_ladder_that_ends_before_the_slo_breaks_says_so_by_nothing_beyond():
    assert capacity.analyse([queue(1), queue(5)], [P95]).slo.beyond is None


def test_without_a_level_that_holds_the_reason_names_condition_and_level():
    found = capacity.analyse([queue(40), queue(80)], [P95])
    assert found.slo is None
    assert found.reasons["slo"] == "p95 < 25ms is broken at the lowest level, 40"


FEW_ATTEMPTS = (
    "success >= 99.9% is not shown at the lowest level, 1: "
    "no error in 2,999 attempts is not enough: 3,000 are needed"
)


def few_answers(users, **more):
    """A level with too few responses for a p95."""
    latency = {"response_ms": {"n": 199, "p95": None}}
    return level(users, 10, ok=199, **{"latency": latency, **more})


@pytest.mark.parametrize("above", [[], [level(2, 20, ok=2_999)], [level(2, 20, p95=99)]])
def test_success_on_too_few_attempts_is_no_capacity_where_no_higher_level_holds(above):
    found = capacity.analyse([level(1, 10, ok=2_999), *above], [P95, SUCCESS])
    assert found.slo is None
    assert found.reasons["slo"] == FEW_ATTEMPTS


def test_the_lowest_levels_with_too_few_answers_are_skipped_where_a_higher_one_holds():
    low = [few_answers(1), level(2, 20, ok=2_999)]
    found = capacity.analyse([*low, level(4, 40), level(8, 80, p95=99)], [P95, SUCCESS])
    assert (found.slo.concurrency, found.slo.beyond.concurrency) == (4, 8)
    assert "slo" not in found.reasons
    assert capacity.analyse([*low, level(4, 40)], [P95, SUCCESS]).slo.beyond is None


def test_rounds_of_a_lowest_level_with_too_few_answers_are_skipped_together():
    rounds = [few_answers(1), level(1, 10, ok=200, round=2)]
    assert capacity.judge(P95, rounds).reason == "not shown in 1 of 2 rounds"
    assert capacity.analyse([*rounds, level(4, 40)], [P95]).slo.concurrency == 4


def test_a_level_with_too_few_answers_above_one_that_holds_ends_the_capacity():
    found = capacity.analyse([level(1, 10), few_answers(2), level(4, 40)], [P95]).slo
    assert (found.concurrency, found.beyond.concurrency) == (1, 2)
    assert found.beyond.word == "not shown"


OWN = {"connect.no_port": 50}


@pytest.mark.parametrize(
    "lowest",
    [
        level(1, 10, p95=99, ok=2_999),
        level(1, 10, counts={"attempted": 2_999, "ok": 2_998, "errors": {"connect": 1}}),
        few_answers(1, starved=1),
        level(
            1, 10, counts={"attempted": 5_050, "ok": 5_000, "errors": {"connect": 50}}, reasons=OWN
        ),
        level(1, 10, latency={"response_ms": {"n": 0}}),
    ],
    ids=["broken", "failed", "starved", "own failures", "no time"],
)
def test_a_lowest_level_that_lacks_more_than_answers_is_not_skipped(lowest):
    found = capacity.analyse([lowest, level(4, 40)], [P95, SUCCESS])
    assert found.slo is None
    assert " at the lowest level, 1" in found.reasons["slo"]


def test_the_attempts_of_all_rounds_show_success_together():
    rounds = [level(1, 10, ok=1_000, round=n) for n in (1, 2, 3)]
    assert capacity.analyse(rounds, [SUCCESS]).slo.concurrency == 1


@pytest.mark.parametrize(
    ("p95s", "word", "reason"),
    [
        ((1, 1, 1), "held", None),
        ((1, 99, 1), "held", "held in 2 of 3 rounds"),
        ((99, 99, 1), "broken", "broken in 2 of 3 rounds"),
        ((1, 99), "broken", "broken in 1 of 2 rounds"),
        ((1, None, 1), "held", "held in 2 of 3 rounds"),
    ],
)
def test_rounds_are_judged_by_their_middle_and_of_two_middles_by_the_worse(p95s, word, reason):
    holds = capacity.judge(
        P95,
        [
            level(5, 100, round=n, latency={"response_ms": {"n": 10_000, "p95": p95}})
            for n, p95 in enumerate(p95s, 1)
        ],
    )
    assert (holds.word, holds.reason) == (word, reason)


def test_a_level_cut_short_can_break_a_condition_but_not_hold_it():
    assert capacity.judge(P95, [level(5, 100, cut_short=True)]).word == "not shown"
    assert capacity.judge(P95, [level(5, 100, p95=99, cut_short=True)]).word == "broken"


def test_every_level_and_slo_has_its_verdict():
    found = capacity.verdicts([queue(1), queue(40)], [P95, SUCCESS])
    assert [(v.concurrency, v.metric, v.word) for v in found] == [
        (1, "p95", "held"),
        (1, "success", "held"),
        (40, "p95", "broken"),
        (40, "success", "held"),
    ]
    assert found[0].limit == 25
    assert found[0].unit == "ms"


def test_usl_reads_only_levels_that_answer():
    levels = [queue(n) for n in (1, 2, 4, 8, 16, 32)]
    levels[0] = replace(levels[0], success_rate=98.0)
    reasons = capacity.analyse(levels).reasons
    assert reasons["usl"] == "needs 6 levels with success ≥ 99 %, there are 5"


def test_a_single_round_spreads_over_its_whole_intervals():
    intervals = [
        {"t_s": 0.0, "phase": "warmup", "seconds": 1.0, "ok_per_s": 1},
        {"t_s": 0.0, "phase": "measure", "seconds": 1.0, "ok_per_s": 90},
        {"t_s": 0.0, "phase": "measure", "seconds": 1.0, "ok_per_s": 110},
        {"t_s": 0.0, "phase": "measure", "seconds": 0.1, "ok_per_s": 5},
        {"t_s": 0.0, "phase": "drain", "seconds": 1.0, "ok_per_s": 0},
    ]
    point = Series.of("a", [level(5, 100, intervals=intervals)]).points[0]
    assert point.ok_per_s_range == (90, 110)
    assert point.spread == pytest.approx(0.1414, abs=1e-4)


def test_one_round_without_intervals_has_no_spread():
    point = Series.of("a", [level(5, 100)]).at(5)
    assert (point.spread, point.ok_per_s_range) == (None, None)


def test_levels_whose_users_starved_are_no_peak_no_knee_and_no_point_of_the_fit():
    levels = [queue(n) for n in (1, 2, 5, 10, 40)]
    starved = level(20, 99_999, 0.001, starved=1)
    whole = capacity.analyse(levels)
    assert capacity.analyse([*levels, starved]) == whole
    one_in_a_hundred = level(200, 99_999, 0.001, starved=2)
    assert capacity.analyse([*levels, one_in_a_hundred]).peak.highest_at == 200


def test_an_slo_of_starved_users_is_not_shown_and_ends_the_capacity():
    levels = [level(5, 100), level(10, 200, starved=4), level(20, 400)]
    found = capacity.analyse(levels, [P95]).slo
    assert (found.concurrency, found.beyond.concurrency) == (5, 10)
    assert found.beyond.word == "not shown"
    assert found.beyond.reason == "4 of 10 users got no response in the window"


def test_an_slo_that_breaks_while_users_starve_is_broken():
    (verdict,) = capacity.verdicts([level(10, 100, 30.0, starved=4)], [P95])
    assert (verdict.word, verdict.value) == ("broken", 30.0)


def test_where_users_starve_at_every_level_nothing_is_claimed():
    found = capacity.analyse([level(10, 100, starved=1)], [P95])
    assert found.peak is None
    assert found.reasons["peak"] == "some users got no response, at every level"
    above = capacity.analyse([queue(1), queue(2), queue(5), level(10, 100, starved=1)])
    assert above.reasons["knee"].endswith(
        "at its highest level, 5, as some users got no response above it"
    )


def test_a_level_of_more_users_than_the_trace_has_sessions_claims_nothing():
    def played(users):
        trace = {"format": "weka", "rows": 900, "sessions": 20, "is_whole": True}
        return replace(level(users, 100 + users, trace=trace), users=users)

    at_its_times = level(40, 100, trace={"format": "azure", "rows": 20, "sessions": 20})
    assert capacity.analyse([at_its_times], [P95]).slo is not None
    found = capacity.analyse([played(10), played(20), played(40)], [P95])
    assert (found.peak.highest_at, found.slo.concurrency) == (20, 20)
    read_in_part = replace(played(40), trace=replace(played(40).trace, is_whole=False))
    assert capacity.analyse([read_in_part], [P95]).slo.concurrency == 40
    assert found.slo.beyond.reason == "there were 20 sessions of the trace for 40 users"
    assert found.reasons["knee"].endswith("needs 3 levels, there are 2")


def test_a_starved_round_leaves_the_level_to_its_other_rounds():
    rounds = [level(5, 100), level(5, 900, starved=1), level(5, 110)]
    (point,) = Series.of("", rounds).points
    assert (point.ok_per_s, point.rounds) == (105, 2)


def at_rate(rate, ok_per_s=None, *, p95=5.0, **more):
    ok = rate if ok_per_s is None else ok_per_s
    connections = {"requested": 100, "open_max": 20, "opened": 20}
    members = {"rate": float(rate), "connections": connections, "falls_behind": False, **more}
    return level(100, ok, 5.0, p95=p95, **members)


def test_levels_at_one_number_of_connections_are_told_apart_by_their_rates():
    found = capacity.analyse([at_rate(400, 300), at_rate(100), at_rate(0.5), at_rate(200)])
    assert (found.peak.position, found.peak.ok_per_s, found.peak.plateau) == (400, 300, [400])
    assert (found.peak.concurrency, found.peak.rate) == (100, 400.0)


def test_rates_have_neither_knee_nor_usl():
    found = capacity.analyse([at_rate(n) for n in (1, 2, 4, 8, 16, 32, 64)])
    assert (found.knee, found.usl) == (None, None)
    assert list(found.reasons) == ["slo"]


def test_the_capacity_of_rates_is_the_highest_that_holds_the_slos():
    levels = [at_rate(100), at_rate(200), at_rate(400, 300, p95=900.0)]
    found = capacity.analyse(levels, [P95]).slo
    assert (found.position, found.rate, found.ok_per_s) == (200, 200.0, 200.0)
    assert (found.beyond.position, found.beyond.word) == (400, "broken")


@pytest.mark.parametrize(
    ("open_max", "end"), [(20, "longer and longer"), (100, "with all 100 connections in use")]
)
def test_a_rate_that_the_target_does_not_keep_up_with_holds_no_slo(open_max, end):
    connections = {"requested": 100, "open_max": open_max, "opened": open_max}
    behind = at_rate(400, 300, falls_behind=True, connections=connections)
    found = capacity.analyse([at_rate(100), at_rate(200), behind], [P95]).slo
    assert found.position == 200
    assert (found.beyond.position, found.beyond.word) == (400, "not shown")
    assert found.beyond.reason.endswith(end)


def test_a_rate_that_the_target_does_not_keep_up_with_can_break_an_slo():
    behind = at_rate(400, 300, p95=900.0, falls_behind=True)
    assert capacity.judge(P95, [behind]).word == "broken"


def test_verdicts_of_rates_are_one_for_each_rate():
    found = capacity.verdicts([at_rate(200), at_rate(100)], [P95])
    assert [(v.position, v.rate, v.concurrency) for v in found] == [
        (100, 100.0, 100),
        (200, 200.0, 100),
    ]


def test_a_load_of_users_and_arrivals_lies_at_its_users():
    assert typed.changed(at_rate(10), users=50).position == 100


def test_few_attempts_of_a_named_request_show_no_share_however_many_others_there_are():
    login = {"name": "login", "counts": {"attempted": 100, "ok": 100}, "success_rate": 100.0}
    rounds = [level(10, 100, round=at, requests=[login]) for at in (1, 2)]
    named, every = (Condition.parse(f"{name}success >= 99.9%") for name in ("login: ", ""))
    assert capacity.judge(every, rounds).word == "held"
    found = capacity.judge(named, rounds)
    assert (found.word, found.reason) == (
        "not shown",
        "no error in 200 attempts is not enough: 3,000 are needed",
    )
    levels = [*rounds, *(level(20, 100, round=at, requests=[login]) for at in (1, 2))]
    assert capacity.analyse(levels, [named]).slo is None


def test_a_round_that_was_cut_short_holds_nothing():
    whole = [level(10, 100, p95=20.0), level(10, 100, p95=30.0)]
    cut = level(10, 100, p95=20.0, cut_short=True)
    assert capacity.judge(P95, [whole[0], whole[0], cut]).word == "held"
    assert capacity.judge(P95, [*whole, cut]).word == "broken"
    # It takes nothing away from a round that was measured to its end.
    assert capacity.judge(P95, [whole[0], cut]).word == "held"
    found = capacity.judge(P95, [cut])
    assert (found.word, found.reason) == ("not shown", "the level was cut short")
    assert capacity.judge(P95, [typed.changed(whole[1], cut_short=True)]).word == "broken"
