import itertools
import math

import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from torr.stats import signed_rank

DIFFERENCES = [0.031, -0.012, 0.047, 0.023, -0.005, 0.018, 0.036, 0.009, 0.052, 0.027]
numbers = st.integers(-40, 40).map(lambda n: n / 100)


def enumerated(differences):
    """The two-sided p by trying all signs of what is not 0."""
    ranks = [rank / 2 for rank in signed_rank.doubled_ranks([abs(d) for d in differences])]
    zeros = sum(rank for rank, d in zip(ranks, differences, strict=True) if d == 0) / 2
    flipped = [rank for rank, d in zip(ranks, differences, strict=True) if d]
    seen = zeros + sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    sums = [
        zeros + sum(rank for rank, sign in zip(flipped, signs, strict=True) if sign)
        for signs in itertools.product((False, True), repeat=len(flipped))
    ]
    tails = (sum(s <= seen for s in sums), sum(s >= seen for s in sums))
    return min(1.0, 2 * min(tails) / len(sums))


@pytest.mark.parametrize("count", [6, 7, 9, 10])
def test_p_is_scipys_exact_one_without_zeros_and_ties(count):
    found = signed_rank.p_value(DIFFERENCES[:count])
    expected = scipy.stats.wilcoxon(DIFFERENCES[:count], method="exact").pvalue
    assert found == pytest.approx(expected, rel=1e-12)


@given(st.lists(numbers, min_size=1, max_size=9))
def test_p_is_that_of_all_signs_tried_with_zeros_and_ties(differences):
    assert signed_rank.p_value(differences) == pytest.approx(enumerated(differences), rel=1e-9)


def test_zeros_keep_their_rank_and_count_for_both_sides():
    # Ranks 1.5, 1.5, 3, 4: of the signs of 3 and 4, one in four is as far up, doubled.
    assert signed_rank.p_value([0.0, 0.0, 0.1, 0.2]) == 0.5
    assert signed_rank.p_value([0.0] * 10) == 1


def test_equal_ratios_are_ties_though_their_logarithms_are_rounded():
    scaled = [math.log(1.1 * s) - math.log(s) for s in (1, 3, 7e5, 1e-3)]
    assert len(set(scaled)) > 1
    assert signed_rank.p_value([*scaled[:2], -scaled[2], scaled[3]]) == signed_rank.p_value(
        [1, 1, -1, 1]
    )


@pytest.mark.parametrize(("count", "least"), [(6, 2 / 64), (10, 2 / 1024), (40, 2 / 2**40)])
def test_the_smallest_p_is_two_in_all_signs(count, least):
    assert signed_rank.p_value([1 + n / 1000 for n in range(count)]) == pytest.approx(least)


def test_hodges_and_lehmanns_middle_by_hand():
    # Walsh averages of 1, 2, 6: 1, 1.5, 2, 3.5, 4, 6.
    assert signed_rank.walsh_averages([1, 2, 6]) == [1, 1.5, 2, 3.5, 4, 6]
    assert signed_rank.hodges_lehmann([1, 2, 6]) == 2.75
    with pytest.raises(ValueError, match="no difference"):
        signed_rank.hodges_lehmann([])


@pytest.mark.parametrize(
    ("count", "alpha", "depth"),
    # Critical values of the tables: the largest W with a one-sided p of at most alpha / 2.
    [(6, 0.05, 1), (6, 0.1, 3), (8, 0.05, 4), (10, 0.05, 9), (10, 0.1, 11), (20, 0.05, 53)],
)
def test_intervals_end_at_the_walsh_averages_of_the_tables(count, alpha, depth):
    differences = [(n * n) / 100 for n in range(1, count + 1)]
    averages = signed_rank.walsh_averages(differences)
    assert signed_rank.interval(differences, alpha) == (averages[depth - 1], averages[-depth])


def test_too_few_differences_bound_nothing():
    assert signed_rank.interval([0.1] * 5, 0.05) == signed_rank.UNBOUNDED
    assert signed_rank.interval([], 0.05) == signed_rank.UNBOUNDED


def test_infinite_differences_are_the_largest():
    differences = [math.inf, *DIFFERENCES[:6]]
    ordered = [1000.0, *DIFFERENCES[:6]]
    assert signed_rank.p_value(differences) == signed_rank.p_value(ordered)
    assert signed_rank.interval(differences, 0.05)[1] == math.inf
    assert math.isfinite(signed_rank.hodges_lehmann(differences))
    assert signed_rank.hodges_lehmann([-math.inf] * 6) == -math.inf
    assert signed_rank.hodges_lehmann([-math.inf, math.inf]) == 0


@given(st.lists(numbers, min_size=6, max_size=14, unique_by=abs).filter(all))
def test_the_interval_leaves_out_zero_exactly_where_p_is_small(differences):
    low, high = signed_rank.interval(differences, 0.05)
    sums = [a + b for at, a in enumerate(differences) for b in differences[at:]]
    assume(0 not in (round(s, 9) for s in sums))
    assert (low > 0 or high < 0) == (signed_rank.p_value(differences) <= 0.05)


@given(st.lists(numbers, min_size=1, max_size=12))
def test_the_other_way_round_everything_is_mirrored(differences):
    mirrored = [-d for d in differences]
    low, high = signed_rank.interval(differences, 0.05)
    assert signed_rank.interval(mirrored, 0.05) == (-high, -low)
    assert signed_rank.p_value(mirrored) == signed_rank.p_value(differences)
    middle = signed_rank.hodges_lehmann(differences)
    assert signed_rank.hodges_lehmann(mirrored) == pytest.approx(-middle, abs=1e-12)
