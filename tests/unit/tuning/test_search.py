"""The score of the search."""

import math

import pytest

from torr.results.tuning import TrialPlace
from torr.tuning.search import DISTANCE, PENALTY, scores_of
from torr.tuning.trials import TuneTrial
from torr.verdicts.slo_evidence import SloEvidence


def rounds_of(*rounds):
    """Return rounds from values, or pairs of value and excess, by setting."""
    return [
        {
            setting: trial(setting, number, *(value if isinstance(value, tuple) else (value,)))
            for setting, value in values.items()
        }
        for number, values in enumerate(rounds, 1)
    ]


def trial(setting, number, value, *excesses):
    return TuneTrial(
        TrialPlace("search", 1, number, setting), value, tuple(map(SloEvidence.exact, excesses))
    )


def test_a_score_is_relative_to_the_round():
    slow_machine = rounds_of({1: 100, 2: 110, 3: 120}, {1: 50, 2: 55, 3: 60})
    scores = scores_of([1, 2, 3], slow_machine)
    assert scores[3] - scores[1] == pytest.approx(math.log(1.2))
    assert scores[2] == pytest.approx(0)


def test_one_outlier_costs_half_of_its_share_of_the_mean():
    steady = {1: 100, 2: 100, 3: 100}
    scores = scores_of([1, 2, 3], rounds_of(*[steady] * 4, {1: 50, 2: 100, 3: 100}))
    assert scores[1] == pytest.approx(math.log(0.5) / 5 / 2)


@pytest.mark.parametrize("excess", [-1.0, -DISTANCE, 0.0, 0.5])
def test_a_setting_near_or_beyond_the_limit_loses_score(excess):
    scores = scores_of([1], rounds_of(*[{1: (100, -1.0, excess)}] * 3))
    assert scores[1] == pytest.approx(-PENALTY * max(0.0, excess + DISTANCE))


def test_only_the_given_settings_are_the_centre():
    rounds = rounds_of({1: 100, 2: 100, 3: 1})
    assert scores_of([1, 2], rounds) == {1: 0.0, 2: 0.0}


def test_a_setting_without_a_trial_has_no_score():
    assert 2 not in scores_of([1, 2], rounds_of({1: 100}))


def test_no_successful_request_is_the_worst_score_and_a_finite_one():
    scores = scores_of([1, 2], rounds_of({1: 100, 2: 0.0}))
    assert -math.inf < scores[2] < scores[1]
