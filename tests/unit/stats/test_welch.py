import pytest
from scipy.stats import ttest_ind

from torr.stats.welch import Welch

BEFORE = [6.91, 6.93, 6.88, 6.95, 6.90, 6.92]
AFTER = [6.97, 7.05, 6.94, 7.10, 6.99, 7.01, 6.90]


def test_p_and_interval_are_scipys():
    found = Welch.of(BEFORE, AFTER)
    expected = ttest_ind(AFTER, BEFORE, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.freedom == pytest.approx(expected.df, rel=1e-9)
    for alpha in (0.05, 0.1):
        interval = expected.confidence_interval(1 - alpha)
        assert found.interval(alpha) == pytest.approx(tuple(interval), rel=1e-9)


def test_sides_without_any_spread_are_equal_or_not():
    assert Welch.of([1, 1], [1, 1]).p_value == 1
    different = Welch.of([1, 1], [2, 2])
    assert (different.p_value, different.interval(0.05)) == (0, (1, 1))
