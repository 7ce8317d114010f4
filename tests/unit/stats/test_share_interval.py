"""The interval of a share of attempts of several rounds."""

import math
from random import Random

import pytest
import scipy

from torr.stats.share_interval import attempts_needed, share_interval

ALPHA = 0.05 / 3


@pytest.mark.parametrize(("some", "count"), [(0, 2000), (1, 2000), (20, 2000), (2000, 2000)])
def test_attempts_of_one_round_have_the_exact_interval(some, count):
    known = scipy.stats.binomtest(some, count).proportion_ci(1 - 2 * ALPHA, method="exact")
    assert share_interval([(some, count)], ALPHA) == pytest.approx((known.low, known.high))


def test_rounds_that_differ_no_more_than_by_chance_are_added_up():
    rounds = [(1, 100), (0, 100), (2, 100), (1, 100)]
    assert share_interval(rounds, ALPHA) == share_interval([(4, 400)], ALPHA)


def test_rounds_that_differ_by_more_say_less():
    _, together = share_interval([(0, 1000)] * 9 + [(50, 1000)], ALPHA)
    _, apart = share_interval([(5, 1000)] * 10, ALPHA)
    assert together > 0.01 > apart


def test_each_further_failure_raises_the_upper_end():
    ends = [share_interval([(some, 200), *[(0, 200)] * 9], ALPHA)[1] for some in range(5)]
    assert ends == sorted(set(ends))


def test_without_attempts_every_share_is_possible():
    assert share_interval([(0, 0)], ALPHA) == (0, 1)


@pytest.mark.parametrize("share", [0.01, 0.001])
def test_so_many_attempts_show_a_share(share):
    needed = attempts_needed(share, ALPHA)
    assert share_interval([(0, needed)], ALPHA)[1] < share
    assert share_interval([(0, needed - 2)], ALPHA)[1] > share


def test_the_ends_hold_as_often_as_they_say():
    random = Random(1)
    rounds, count, share = 10, 200, 0.02
    missed = [0, 0]
    for _ in range(300):
        made = [(sum(random.random() < share for _ in range(count)), count) for _ in range(rounds)]
        low, high = share_interval(made, 0.05)
        missed[0] += low > share
        missed[1] += high < share
    # 5 % of 300 and three standard deviations.
    assert max(missed) <= 15 + 3 * math.sqrt(300 * 0.05 * 0.95)
