"""How a budget is divided: search and fresh rounds, levels of halving."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.tuning.budget import TuneBudget, least_trials, looks_within, search_trials


@pytest.mark.parametrize(
    ("settings", "noise", "trials"),
    [(64, 4, 192), (24, 4, 120), (64, 8, 320), (24, 8, 240), (100, 2, 300), (4, 1, 120)],
)
def test_the_search_needs_trials_for_its_noise_and_its_settings(settings, noise, trials):
    assert search_trials(settings, noise) == trials


@pytest.mark.parametrize(
    ("trials", "looks", "search"),
    [
        (None, (10, 20, 40), 192),
        (352, (10, 20, 40), 192),
        (351, (10, 20), 271),
        (240, (10, 20), 160),
        (239, (10,), 199),
        (100, (10,), 60),
        (30, (10,), 0),
    ],
)
def test_the_fresh_rounds_get_as_many_looks_as_the_search_can_spare(trials, looks, search):
    budget = TuneBudget.of(64, trials)
    assert (budget.looks, budget.search) == (looks, search)


def test_the_best_quarter_stays_until_three_remain():
    levels = TuneBudget.of(65, 240).levels
    assert [level.settings for level in levels] == [64, 16, 4]
    assert all(level.rounds >= 1 for level in levels)


@pytest.mark.parametrize(("settings", "sizes"), [(2, []), (3, [2]), (4, [3]), (5, [4])])
def test_few_settings_have_one_level_that_orders_them(settings, sizes):
    assert [level.settings for level in TuneBudget.of(settings, None).levels] == sizes


@pytest.mark.parametrize(
    ("trials", "looks"), [(None, (10, 20, 40)), (20, (10,)), (79, (10, 20)), (80, (10, 20, 40))]
)
def test_one_setting_beside_the_default_needs_no_search(trials, looks):
    budget = TuneBudget.of(2, trials)
    assert (budget.levels, budget.entrants, budget.looks) == ([], 1, looks)
    assert budget.finds_anything
    assert not TuneBudget.of(2, 19).finds_anything
    assert least_trials(2) == 20


def test_settings_that_could_not_be_measured_twice_do_not_enter():
    budget = TuneBudget.of(500, 240)
    assert budget.entrants == budget.search // 2 < 499


@pytest.mark.parametrize(
    ("trials", "looks"),
    [(160, (10, 20, 40)), (159, (10, 20)), (79, (10,)), (0, (10,)), (-5, (10,))],
)
def test_the_looks_for_which_the_trials_suffice_are_made(trials, looks):
    assert looks_within((10, 20, 40), trials, 4) == looks


@given(st.integers(2, 3000), st.integers(0, 5000), st.floats(0.5, 30))
def test_no_budget_is_exceeded(settings, trials, noise):
    budget = TuneBudget.of(settings, trials, noise)
    least, most = budget.fresh_trials
    assert least <= most
    if budget.finds_anything:
        assert budget.search_trials + most <= trials


@given(st.integers(2, 300))
def test_the_least_number_of_trials_finds_something(settings):
    least = least_trials(settings)
    assert TuneBudget.of(settings, least).finds_anything
    assert not TuneBudget.of(settings, least - 1).finds_anything
