import pytest

from versus.bars import Bar, Limit, judge, judge_ratio, ratios


def shots(**costs):
    """Shots of tools by what a request cost each of them, round after round."""
    return [
        {"round": number, "tool": tool, "cpu_us": cost, "failed": 0}
        for tool, each in costs.items()
        for number, cost in enumerate(each)
        if cost is not None
    ]


def test_ratios_are_taken_within_a_round():
    # The machine is twice as slow in the second round: no ratio sees it.
    assert ratios(shots(torr=[5, 10], wrk=[10, 20]), "torr", "wrk") == [0.5, 0.5]


def test_a_round_without_one_of_the_two_is_left_out():
    assert ratios(shots(torr=[5, 6, 7], wrk=[10, None, 14]), "torr", "wrk") == [0.5, 0.5]


def test_the_median_is_judged_and_the_spread_is_shown():
    judged = judge("torr ÷ wrk", [0.7, 0.9, 0.75], Limit(0.8))
    assert (judged.value, judged.low, judged.high, judged.rounds) == (0.75, 0.7, 0.9, 3)
    assert judged.held
    assert judged.missed_by is None


def test_a_missed_bar_says_by_how_much():
    judged = judge("torr ÷ wrk", [0.88], Limit(0.8))
    assert not judged.held
    assert judged.missed_by == pytest.approx(0.1)


def test_a_bar_from_below_is_missed_from_below():
    assert judge("wrk-lua ÷ torr", [1.6], Limit(1.5, sense="≥")).held
    low = judge("wrk-lua ÷ torr", [1.2], Limit(1.5, sense="≥"))
    assert not low.held
    assert low.missed_by == pytest.approx(0.2)


def test_a_bar_below_the_bare_loop_gives_way_to_it():
    found = shots(torr=[8.6], wrk=[10], bare=[8])
    assert not judge_ratio(Bar("torr", "wrk", 0.8), found).held
    ruled = judge_ratio(Bar("torr", "wrk", 0.8, bare_rules=True), found)
    assert ruled.held
    assert ruled.limit == pytest.approx(1.15 * 0.8)
    assert "bare loop" in ruled.note


def test_a_bar_above_the_bare_loop_stays():
    ruled = judge_ratio(
        Bar("torr", "wrk", 0.8, bare_rules=True), shots(torr=[7], wrk=[10], bare=[6])
    )
    assert ruled.limit == 0.8
    assert ruled.note == ""


def test_a_tool_that_did_not_take_part_has_no_ratio():
    assert judge_ratio(Bar("torr", "k6", 1.0), shots(torr=[5])) is None


def test_failed_requests_stand_beside_a_ratio():
    found = shots(torr=[5], wrk=[10])
    found[1]["failed"] = 1234
    assert judge_ratio(Bar("torr", "wrk", 0.8), found).note == "wrk: 1,234 failed"
