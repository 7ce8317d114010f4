"""Verdicts about finalists: claims, SLOs, the recommendation."""

import math
from dataclasses import replace

import pytest

from torr.stats.estimate import paired
from torr.stats.metric import Metric
from torr.verdicts.looks import ALPHA_OF_A_LOOK
from torr.verdicts.slo_evidence import SloEvidence
from torr.verdicts.tuning import FreshValue, judge_finalists

WIGGLE = [0.0, 0.01, -0.01, 0.004, -0.006, 0.008, -0.002, 0.006, -0.008, 0.002]
DEFAULT, CHAMPION, SECOND, THIRD = range(4)
exact = SloEvidence.exact


def rounds_of(ratios, excesses=None, count=10):
    """Return rounds in which each setting has a ratio to 100, and wiggles differently."""
    return [
        {
            setting: FreshValue(
                100 * ratio * math.exp(WIGGLE[(number * (setting + 1)) % 10]),
                ()
                if excesses is None
                else (exact(excesses[setting] + WIGGLE[(number + setting) % 10] / 2),),
            )
            for setting, ratio in enumerate(ratios)
        }
        for number in range(count)
    ]


def judged(ratios, excesses=None, count=10, **more):
    finalists = range(1, len(ratios))
    return judge_finalists(rounds_of(ratios, excesses, count), DEFAULT, finalists, **more)


def test_a_champion_that_is_clearly_faster():
    verdict = judged([1.0, 1.1, 1.1, 0.8])
    claim = verdict.against_default[CHAMPION]
    assert claim.judgement.word == "better"
    assert claim.estimate.centre == pytest.approx(math.log(1.1), abs=0.01)
    assert claim.is_beyond_margin
    assert verdict.recommended == CHAMPION
    assert verdict.is_settled


def test_two_percent_are_no_claim_of_three():
    claim = judged([1.0, 1.02, 0.9, 0.9]).against_default[CHAMPION]
    assert not claim.is_beyond_margin


def test_a_difference_that_is_no_claim_is_not_beyond_the_margin():
    rounds = [
        {DEFAULT: FreshValue(100.0, (), 0, 1000), CHAMPION: FreshValue(50.0, (), 100, 1000)}
        for _ in range(10)
    ]
    times = Metric("response_ms.p99")
    claim = judge_finalists(rounds, DEFAULT, [CHAMPION], metric=times).against_default[CHAMPION]
    assert (claim.judgement.word, claim.is_beyond_margin) == ("inconclusive", False)


def test_at_least_three_percent_less_is_a_ratio_of_at_most_0_97():
    rounds = [{DEFAULT: FreshValue(100.0), CHAMPION: FreshValue(97.05)} for _ in range(10)]
    times = Metric("response_ms.p99")
    claim = judge_finalists(rounds, DEFAULT, [CHAMPION], metric=times).against_default[CHAMPION]
    assert (claim.judgement.word, claim.is_beyond_margin) == ("better", False)


@pytest.mark.parametrize(("broken", "recommended"), [(False, None), (True, CHAMPION)])
def test_a_setting_with_more_errors_is_not_recommended_for_its_times(broken, recommended):
    slo = (exact(0.2 if broken else -0.2),)
    rounds = [
        {
            DEFAULT: FreshValue(100.0, slo, 0, 1000),
            CHAMPION: FreshValue(50.0, (exact(-0.2),), 300, 1000),
        }
        for _ in range(10)
    ]
    verdict = judge_finalists(rounds, DEFAULT, [CHAMPION], metric=Metric("response_ms.p99"))
    assert verdict.against_default[CHAMPION].judgement.word == "inconclusive"
    assert verdict.recommended == recommended


def test_an_equal_setting_is_recommended_if_the_default_is_not_shown_to_keep_the_slo():
    rounds = rounds_of([1.0, 0.999], [0.0, -0.2])
    for number, trials in enumerate(rounds):
        noisy = trials[CHAMPION].value * math.exp(0.1 * (-1) ** number)
        trials[CHAMPION] = FreshValue(noisy, trials[CHAMPION].slos)
    verdict = judge_finalists(rounds, DEFAULT, [CHAMPION])
    assert verdict.against_default[CHAMPION].is_behind
    assert verdict.slos[DEFAULT].word == "not shown"
    assert verdict.against_default[CHAMPION].judgement.word == "inconclusive"
    assert verdict.recommended == CHAMPION


def test_less_is_better_where_the_metric_is_a_time():
    claim = judged([1.0, 0.9], metric=Metric("response_ms.p99")).against_default[CHAMPION]
    assert (claim.judgement.word, claim.is_beyond_margin) == ("better", True)
    claim = judged([1.0, 1.1], metric=Metric("response_ms.p99")).against_default[CHAMPION]
    assert (claim.judgement.word, claim.is_beyond_margin) == ("worse", False)


def test_runners_up_that_cannot_be_told_apart_are_named():
    verdict = judged([1.0, 1.1, 1.1, 0.8])
    assert verdict.tied == (SECOND,)
    assert verdict.against_champion[THIRD].judgement.word == "worse"


def test_the_champion_against_the_default_is_a_family_of_its_own():
    verdict = judged([1.0, 1.1, 1.1, 1.1])
    champion, second = (verdict.against_default[n] for n in (CHAMPION, SECOND))
    assert champion.p_adjusted == champion.estimate.p
    assert second.p_adjusted == 2 * second.estimate.p
    values = [trials[SECOND].value for trials in rounds_of([1.0, 1.1, 1.1, 1.1])]
    defaults = [trials[DEFAULT].value for trials in rounds_of([1.0, 1.1, 1.1, 1.1])]
    # The intervals of both runners-up hold together with the error of a look.
    apart = paired(defaults, values, ALPHA_OF_A_LOOK / 2, is_share=False)
    assert second.estimate.interval == apart.interval


@pytest.mark.parametrize(
    ("excesses", "recommended", "statuses"),
    [
        ([-0.2, -0.2, -0.2], CHAMPION, ("held", "held")),
        ([-0.2, 0.2, -0.2], SECOND, ("broken", "held")),
        ([-0.2, 0.0, -0.2], SECOND, ("not shown", "held")),
        ([-0.2, 0.2, 0.2], None, ("broken", "broken")),
        ([-0.2, 0.0, 0.0], None, ("not shown", "not shown")),
    ],
)
def test_the_first_finalist_whose_slo_is_shown_is_recommended(excesses, recommended, statuses):
    verdict = judged([1.0, 1.2, 1.1], excesses)
    assert verdict.recommended == recommended
    assert (verdict.slos[CHAMPION].word, verdict.slos[SECOND].word) == statuses


def test_a_finalist_slower_than_the_default_is_not_recommended():
    assert judged([1.0, 0.8], [-0.2, -0.2]).recommended is None


def test_after_a_slower_finalist_no_other_one_is_recommended():
    verdict = judged([1.0, 0.9, 0.999], [-0.2] * 3)
    assert verdict.against_default[CHAMPION].judgement.word == "worse"
    assert verdict.against_default[SECOND].judgement.word in ("same", "inconclusive")
    assert verdict.recommended is None


@pytest.mark.parametrize(("ratio", "recommended"), [(0.98, None), (1.02, CHAMPION)])
@pytest.mark.parametrize("metric", ["ok_per_s", "response_ms.p99"])
def test_without_a_word_the_estimate_decides(ratio, recommended, metric):
    by_time = metric != "ok_per_s"
    rounds = rounds_of([1.0, 1 / ratio if by_time else ratio], count=5)
    verdict = judge_finalists(rounds, DEFAULT, [CHAMPION], metric=Metric(metric))
    assert verdict.against_default[CHAMPION].judgement.word == "inconclusive"
    # Without an SLO, all of them are held.
    assert verdict.recommended == recommended


def test_a_slower_finalist_is_recommended_if_the_default_breaks_the_slo():
    verdict = judged([1.0, 0.8], [0.2, -0.2])
    assert verdict.recommended == CHAMPION
    assert verdict.slos[DEFAULT].word == "broken"


def test_every_slo_has_to_be_shown():
    rounds = [
        {setting: FreshValue(100.0, (exact(-0.2), exact(0.2))) for setting in (DEFAULT, CHAMPION)}
        for _ in range(10)
    ]
    assert judge_finalists(rounds, DEFAULT, [CHAMPION]).slos[CHAMPION].word == "broken"


def test_a_tuning_goes_on_while_the_champion_is_inconclusive_or_its_slo_undecided():
    assert not judged([1.0, 1.1], [-0.2, 0.0]).is_settled
    assert not judged([1.0, 1.1], count=5).is_settled
    assert judged([1.0, 1.1], [-0.2, -0.2]).is_settled


def test_a_champion_that_breaks_the_slo_leaves_the_place_to_the_next_finalist():
    assert judged([1.0, 1.1, 1.1], [-0.2, 0.2, -0.2]).is_settled
    assert not judged([1.0, 1.1, 1.1], [-0.2, 0.2, 0.0]).is_settled
    assert judged([1.0, 1.1, 1.1], [-0.2, 0.2, 0.2]).is_settled


def test_a_round_without_one_side_counts_for_neither():
    rounds = rounds_of([1.0, 1.1, 1.1])
    del rounds[0][DEFAULT], rounds[1][CHAMPION]
    verdict = judge_finalists(rounds, DEFAULT, [CHAMPION, SECOND])
    assert verdict.against_default[CHAMPION].estimate.count == 8
    assert verdict.against_default[SECOND].estimate.count == 9
    assert verdict.against_champion[SECOND].estimate.count == 9


@pytest.mark.parametrize(
    ("excesses", "word"),
    [
        ([-0.1] * 6, "held"),
        ([-0.1] * 5, "not shown"),
        ([0.1] * 6, "broken"),
        ([0.0] * 10, "not shown"),
        ([-0.1] * 9 + [0.01], "held"),
        ([-0.1] * 6 + [0.2] * 4, "not shown"),
    ],
)
def test_an_slo_is_shown_or_broken_by_a_one_sided_interval(excesses, word):
    rounds = [{CHAMPION: FreshValue(1.0, (exact(excess),))} for excess in excesses]
    assert judge_finalists(rounds, DEFAULT, [CHAMPION]).slos[CHAMPION].word == word


def test_equals_of_the_champion_are_not_named_for_another_setting():
    assert judged([1.0, 1.1, 1.1, 1.1], [-0.2, 0.2, -0.2, -0.2]).tied == ()


def test_without_a_default_there_is_a_recommendation_and_no_claim():
    verdict = judge_finalists(rounds_of([1.0, 1.1, 1.1]), None, [CHAMPION, SECOND])
    assert verdict.against_default == {}
    assert (verdict.recommended, verdict.tied, verdict.is_settled) == (CHAMPION, (SECOND,), True)


def test_without_finalists_nothing_is_recommended():
    verdict = judge_finalists(rounds_of([1.0]), DEFAULT, [])
    assert (verdict.recommended, verdict.is_settled) == (None, True)


def test_times_of_sides_that_fail_differently_are_not_compared():
    rounds = [
        {setting: FreshValue(100.0 / setting, (), failed, 1000) for setting, failed in sides}
        for sides in [[(1, 0), (2, 20)]] * 10
    ]
    times, rates = (
        judge_finalists(rounds, 1, [2], metric=Metric(key)).against_default[2]
        for key in ("response_ms.p99", "ok_per_s")
    )
    assert times.judgement.word == "inconclusive"
    assert "error rates lie more than 1 point apart, 0 % and 2 %" in times.judgement.reason
    assert rates.judgement.word == "worse"


def test_a_runner_up_that_fails_differently_is_no_equal_of_the_champion():
    rounds = rounds_of([1.0, 0.8, 0.8])
    for trials in rounds:
        trials[SECOND] = replace(trials[SECOND], failed=30)
    verdict = judge_finalists(
        [{s: replace(trial, ended=1000) for s, trial in trials.items()} for trials in rounds],
        *(DEFAULT, [CHAMPION, SECOND]),
        metric=Metric("response_ms.p99"),
    )
    assert verdict.recommended == CHAMPION
    assert verdict.against_champion[SECOND].obstacle is not None
    assert verdict.tied == ()
