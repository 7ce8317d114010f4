import math
from statistics import fmean, median, stdev

import numpy as np
import pytest

from torr.stats.standard_error import standard_error


def autoregressions(correlation, count, length, seed=1):
    """Series around 100 in which each value is correlated to the one before."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(count, length))
    values[:, 0] /= math.sqrt(1 - correlation**2)
    for at in range(1, length):
        values[:, at] += correlation * values[:, at - 1]
    return (100 + values).tolist()


@pytest.mark.parametrize(
    ("correlation", "length", "least", "most"),
    [
        (0.0, 10, 0.9, 1.3),
        (0.0, 60, 0.95, 1.15),
        (0.4, 30, 0.9, 1.2),
        # A short series does not show all of its correlation; s/√n is 0.3 of the error.
        (0.8, 10, 0.6, 1.2),
        (0.8, 30, 0.85, 1.2),
        (0.8, 60, 0.85, 1.2),
    ],
)
def test_the_error_is_that_of_the_mean_though_values_are_correlated(
    correlation, length, least, most
):
    series = autoregressions(correlation, 1000, length)
    true = stdev(fmean(each) for each in series)
    assert least <= median(map(standard_error, series)) / true <= most


def test_of_values_that_are_not_alike_their_neighbours_it_is_that_of_independent_values():
    values = [1.0, 2.0] * 10
    assert standard_error(values) == pytest.approx(stdev(values) / math.sqrt(20))


@pytest.mark.parametrize("values", [[5.0, 7.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_few_values_say_nothing_about_their_correlation(values):
    assert standard_error(values) == stdev(values) / math.sqrt(len(values))


@pytest.mark.parametrize("length", [2, 3, 6, 40])
def test_values_without_a_spread_have_no_error(length):
    assert standard_error([7.5] * length) == 0


def test_a_series_that_only_rises_has_a_finite_error():
    values = [float(at) for at in range(100)]
    assert 10 * stdev(values) / 10 > standard_error(values) > 3 * stdev(values) / 10
