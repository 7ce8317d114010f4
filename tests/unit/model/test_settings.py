"""Settings: the combinations of parameters, with conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.model.settings import MOST_SETTINGS, TunedParameter, is_one_of, settings_of


def test_every_combination_with_the_last_parameter_changing_fastest():
    settings = settings_of([TunedParameter("a", (1, 2)), TunedParameter("b", ("x", "y"))])
    assert settings == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_a_parameter_whose_condition_fails_has_no_value():
    parameters = [
        TunedParameter("workers", (1, 4)),
        TunedParameter("pool", (8, 16), {"workers": (4,)}),
        TunedParameter("depth", (2, 3), {"pool": (16,)}),
    ]
    assert settings_of(parameters) == [
        {"workers": 1},
        {"workers": 4, "pool": 8},
        {"workers": 4, "pool": 16, "depth": 2},
        {"workers": 4, "pool": 16, "depth": 3},
    ]


def test_one_is_not_true():
    assert not is_one_of(1, (True, 1.0))
    assert is_one_of(True, (1, True))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_without_conditions_there_are_as_many_as_the_product(counts):
    parameters = [TunedParameter(f"p{n}", tuple(range(c))) for n, c in enumerate(counts)]
    settings = settings_of(parameters)
    assert len(settings) == len({str(setting) for setting in settings})
    product = 1
    for count in counts:
        product *= count
    assert len(settings) == product


def test_too_many_settings_are_refused():
    parameters = [TunedParameter(f"p{n}", tuple(range(10))) for n in range(5)]
    assert len(settings_of(parameters)) == MOST_SETTINGS
    with pytest.raises(ValueError, match=f"{MOST_SETTINGS:,}"):
        settings_of([*parameters, TunedParameter("another", (1, 2))])
