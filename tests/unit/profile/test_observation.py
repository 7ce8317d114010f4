"""What result.json says of a profile."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.profile.observation import capture_errors, cost_rate
from torr.profile.stacks import Stacks


@pytest.mark.parametrize(
    ("now", "before", "cost"),
    [
        (80.0, [90.0, 100.0, 110.0], 20),
        (None, [100.0], None),
        (80.0, [], None),
        (80.0, [0.0], None),
    ],
)
def test_the_cost_is_that_of_the_median(now, before, cost):
    found = cost_rate(now, before)
    assert found == (None if cost is None else pytest.approx(cost))


def test_whatever_a_profiler_raises_is_said():
    def broken():
        raise IndexError("list index out of range")

    def missing():
        raise UsageError("perf: no", "be root")

    stacks = Stacks({("main",): 1}, "samples")
    assert capture_errors(lambda: stacks) is stacks
    assert (
        capture_errors(broken).message == "the profiler broke: IndexError: list index out of range"
    )
    assert (capture_errors(missing).message, capture_errors(missing).hint) == (
        "perf: no",
        "be root",
    )
