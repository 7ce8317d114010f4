"""How often a machine is slow, from times that are known."""

from __future__ import annotations

import pytest

from common.host import share_of_slow


@pytest.mark.parametrize(
    ("took", "share"),
    [
        ([1.0] * 10, 0.0),
        ([1.0] * 8 + [2.0, 2.0], 0.0),
        ([1.0] * 9 + [3.0], 0.25),
    ],
)
def test_calculations_that_take_more_than_twice_the_median_are_slow(took, share):
    assert share_of_slow(took) == share
