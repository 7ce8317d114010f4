"""Whole things are dealt in proportion, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.errors import UsageError
from torr.model.shares import dealt, dealt_to_each


@pytest.mark.parametrize(
    ("total", "shares", "counts"),
    [
        (10, [8, 1, 1], [8, 1, 1]),
        (7, [1, 1], [4, 3]),
        (0, [3, 1], [0, 0]),
        (5, [8, 1, 1], [4, 1, 0]),
        (100, [1, 1, 1], [34, 33, 33]),
    ],
)
def test_the_largest_remainders_get_what_is_left(total, shares, counts):
    assert dealt(total, shares) == counts


def test_nobody_is_left_without_where_there_is_enough():
    assert dealt_to_each(3, [8, 1, 1], "user", "-c") == [1, 1, 1]
    assert dealt_to_each(4, [98, 1, 1], "user", "-c") == [2, 1, 1]


def test_fewer_than_endpoints_are_refused():
    with pytest.raises(UsageError, match="1 user for 2 endpoints: each needs one") as error:
        dealt_to_each(1, [1, 1], "user", "-c")
    assert error.value.hint == "give -c at least 2"


@given(st.integers(0, 10**6), st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=20))
def test_what_is_dealt_adds_up_and_is_fair(total, shares):
    counts = dealt(total, shares)
    assert sum(counts) == total
    whole = sum(shares)
    for count, share in zip(counts, shares, strict=True):
        assert abs(count * whole - total * share) < whole
    if total >= len(shares):
        each = dealt_to_each(total, shares, "user", "-c")
        assert sum(each) == total
        assert min(each) >= 1
