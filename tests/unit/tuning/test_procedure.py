"""The procedure: which trial is next, which settings are out, and that it can be resumed."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torr.results.tuning import SettingOut, TrialPlace
from torr.stats.metric import Metric
from torr.tuning.budget import TuneBudget
from torr.tuning.procedure import TuneProcedure
from torr.tuning.simulation.worlds import WorldTrials, searched
from torr.tuning.trials import LIMITED, NO_NUMBER, TuneTrial

SETTINGS = 20


def procedure(trials=140, seed=1, count=SETTINGS, **more):
    return TuneProcedure(0, TuneBudget.of(count, trials), seed, **more)


def rates(values, problems=None):
    """Return a measurement without noise: the rate of each setting, or why it has none."""

    def measure(place):
        problem = (problems or {}).get(place.setting)
        problem = problem(place) if callable(problem) else problem
        return TuneTrial(place, None if problem else values[place.setting], (), problem)

    return measure


def recorded(tuning, measure):
    trials = []

    def record(place):
        trials.append(measure(place))
        return trials[-1]

    return tuning.run(record), trials


def by_place(trials):
    return {trial.place: trial for trial in trials}


def noisy_rates(values):
    """Return a measurement whose noise is too large for any verdict at the first looks."""

    def measure(place):
        noise = Random(f"{place}").gauss(0.0, 0.2)
        return TuneTrial(place, values[place.setting] * math.exp(noise))

    return measure


RISING = [100.0 + n for n in range(SETTINGS)]


def test_the_finalists_are_the_best_three_in_order():
    outcome, _ = recorded(procedure(), rates(RISING))
    assert outcome.finalists == (19, 18, 17)
    assert outcome.untried == ()
    assert outcome.verdict.recommended == 19


def test_settings_that_the_seed_does_not_draw_are_named():
    tuning = procedure(60)
    outcome, _ = recorded(tuning, rates(RISING))
    assert outcome.untried
    assert sorted([0, *tuning.entrants(), *outcome.untried]) == list(range(SETTINGS))


def test_less_is_better_where_the_metric_is_a_time():
    outcome, _ = recorded(procedure(metric=Metric("response_ms.p99")), rates(RISING))
    assert outcome.finalists == (1, 2, 3)
    assert outcome.verdict.against_default[1].judgement.word in ("same", "worse")


def test_the_default_is_measured_in_fresh_rounds_only():
    _, trials = recorded(procedure(), rates(RISING))
    phases = {trial.place.phase for trial in trials if trial.place.setting == 0}
    assert phases == {"fresh"}


def test_each_round_measures_every_remaining_setting_once():
    tuning = procedure()
    _, trials = recorded(tuning, rates(RISING))
    rounds = {}
    for trial in trials:
        place = trial.place
        key = (place.phase, place.stage, place.round)
        rounds.setdefault(key, []).append(place.setting)
    remaining = {}
    for (phase, stage, _), measured in rounds.items():
        searched = phase == "search"
        assert len(measured) == (tuning.budget.levels[stage - 1].settings if searched else 4)
        assert len(set(measured)) == len(measured)
        assert remaining.setdefault((phase, stage), set(measured)) == set(measured)


def test_rounds_are_in_another_order_each_time():
    _, trials = recorded(procedure(), rates(RISING))
    orders = {}
    for trial in trials:
        if trial.place.phase == "search" and trial.place.stage == 1:
            orders.setdefault(trial.place.round, []).append(trial.place.setting)
    assert len(orders) > 1
    assert len({tuple(order) for order in orders.values()}) == len(orders)


def test_a_setting_that_fails_twice_is_out_with_its_reason():
    measure = rates(RISING, {19: "did_not_start"})
    outcome, trials = recorded(procedure(), measure)
    assert outcome.out == (SettingOut(19, "did_not_start"),)
    assert outcome.finalists == (18, 17, 16)
    assert [trial.place.attempt for trial in trials if trial.place.setting == 19] == [1, 2]


def test_a_setting_that_failed_and_was_limited_then_is_out_with_its_failure():
    def first(place):
        return "died" if place.attempt == 1 else LIMITED

    outcome, _ = recorded(procedure(), rates(RISING, {19: first}))
    assert outcome.out == (SettingOut(19, "died"),)


def test_a_setting_that_fails_once_stays():
    def fails_first(place):
        is_first = (place.phase, place.stage, place.round, place.attempt) == ("search", 1, 1, 1)
        return "died" if is_first else None

    outcome, _ = recorded(procedure(), rates(RISING, {19: fails_first}))
    assert outcome.out == ()
    assert outcome.finalists[0] == 19


@pytest.mark.parametrize("problem", [LIMITED, NO_NUMBER])
def test_trials_that_the_generator_limited_or_with_few_responses_count_for_nothing(problem):
    def without_number(place):
        return problem if place.round > 1 else None

    outcome, _ = recorded(procedure(), rates(RISING, {19: without_number}))
    assert outcome.out == ()
    assert outcome.finalists[0] == 19
    # Each of the later fresh rounds lacks one side.
    assert outcome.verdict.against_default[19].estimate.count == 1
    assert outcome.verdict.against_default[19].judgement.word == "inconclusive"


@pytest.mark.parametrize("problem", [LIMITED, NO_NUMBER])
def test_a_setting_whose_every_trial_has_no_number_is_out(problem):
    outcome, _ = recorded(procedure(), rates(RISING, {19: problem}))
    assert outcome.out == (SettingOut(19, problem),)
    assert 19 not in outcome.finalists


def test_a_champion_that_crashes_in_fresh_rounds_is_not_recommended():
    crash = {19: lambda place: "died" if place.phase == "fresh" else None}
    outcome, _ = recorded(procedure(), rates(RISING, crash))
    assert outcome.finalists[0] == 19
    assert outcome.verdict.finalists == (18, 17)
    assert outcome.verdict.recommended == 18


def test_a_default_that_crashes_ends_the_comparison_with_it_at_the_next_look():
    outcome, _ = recorded(procedure(400), rates(RISING, {0: "died"}))
    assert outcome.out == (SettingOut(0, "died"),)
    assert outcome.verdict.against_default == {}
    assert (outcome.verdict.recommended, outcome.verdict.rounds) == (19, 10)


def test_without_any_setting_that_starts_there_is_no_verdict():
    outcome, _ = recorded(procedure(), rates(RISING, dict.fromkeys(range(1, 20), "not_ready")))
    assert outcome.finalists == ()
    assert outcome.verdict is None
    assert len(outcome.out) == 19


def test_a_clear_difference_ends_at_the_first_look():
    outcome, _ = recorded(procedure(400), rates([100.0, *(300.0 + n for n in range(19))]))
    assert outcome.verdict.rounds == 10


def worlds(seed):
    random = Random(seed)
    return searched(SETTINGS, "rugged", 0.04, random, has_slo=bool(seed % 2))


def noisy(seed):
    """Return a measurement with noise, in which one trial of ten fails in some way."""
    trials = WorldTrials(worlds(seed), Random(seed))

    def measure(place):
        trial = trials.measure(place)
        chance = Random(f"{seed} {place}")
        if chance.random() < 0.1:
            problem = chance.choice(["died", "not_ready", "wrong_answer", LIMITED])
            return TuneTrial(place, None, (), problem)
        return trial

    return measure


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2000), st.data())
def test_a_tuning_goes_on_from_any_trial_as_if_it_had_not_been_interrupted(seed, data):
    tuning = TuneProcedure(worlds(seed).default, TuneBudget.of(SETTINGS, 130), seed)
    outcome, trials = recorded(tuning, noisy(seed))
    count = data.draw(st.integers(0, len(trials) - 1))
    assert tuning.replay(by_place(trials[:count])).following == trials[count].place
    whole = tuning.replay(by_place(trials))
    assert (whole.findings, whole.following) == (outcome, None)


def test_trials_of_another_file_are_refused():
    tuning = procedure()
    _, trials = recorded(tuning, rates(RISING))
    with pytest.raises(ValueError, match="trials, such as"):
        tuning.replay(by_place(trials[1:]))
    elsewhere = TuneTrial(TrialPlace("fresh", 0, 99, 1), 1.0)
    with pytest.raises(ValueError, match="1 trials, such as"):
        tuning.replay(by_place([*trials, elsewhere]))


def test_before_the_first_look_there_is_no_verdict():
    tuning = procedure()
    outcome, trials = recorded(tuning, rates(RISING))
    fresh = sum(trial.place.phase == "fresh" for trial in trials)
    assert tuning.replay({}).findings.finalists == ()
    searched = tuning.replay(by_place(trials[:-fresh])).findings
    assert (searched.finalists, searched.verdict) == (outcome.finalists, None)
    assert tuning.replay(by_place(trials[:-1])).findings.verdict is None


def test_a_verdict_is_that_of_the_last_look():
    same = [100.0] * SETTINGS
    tuning = procedure(400)
    _, trials = recorded(tuning, noisy_rates(same))
    until_second = [t for t in trials if t.place.phase == "search" or t.place.round <= 15]
    assert tuning.replay(by_place(until_second)).findings.verdict.rounds == 10


def test_two_settings_need_no_search():
    tuning = procedure(None, count=2)
    first = tuning.replay({}).following
    assert first == TrialPlace("fresh", 0, 1, first.setting)
    outcome, trials = recorded(tuning, rates([100.0, 200.0]))
    assert {trial.place.phase for trial in trials} == {"fresh"}
    assert math.isclose(outcome.verdict.against_default[1].estimate.centre, math.log(2))
