import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from torr.stats.welch import Welch

# Of values that are nearly all the same, SciPy warns that it may be imprecise.
sides = st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=12, unique=True)


@given(sides, sides)
def test_p_and_interval_are_scipys(before, after):
    found = Welch.of(before, after)
    expected = scipy.stats.ttest_ind(after, before, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    assert found.degrees_of_freedom == pytest.approx(expected.df, rel=1e-6)
    for alpha in (0.05, 0.1):
        interval = expected.confidence_interval(1 - alpha)
        assert found.interval(alpha) == pytest.approx(tuple(interval), rel=1e-6, abs=1e-9)


def test_sides_without_any_spread_are_equal_or_not():
    assert Welch.of([1, 1], [1, 1]).p_value == 1
    different = Welch.of([1, 1], [2, 2])
    assert (different.p_value, different.interval(0.05)) == (0, (1, 1))
