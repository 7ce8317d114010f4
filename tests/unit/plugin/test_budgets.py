"""Budgets as tests are marked with them: what cannot be read is named."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torr.errors import UsageError
from torr.plugin.budgets import budgets_of, check


def marked(*limits, **named):
    """A test with a budget."""
    mark = pytest.mark.budget(*limits, **named).mark
    location = ("test_it.py", 3, "test_it")
    return SimpleNamespace(get_closest_marker=lambda _name: mark, location=location)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"ops": ">>1"}, "ops='>>1'"),
        ({"p99": "fast"}, "p99='fast'"),
        ({"speed": "<1ms"}, "speed='<1ms'"),
        ({"ops": 1000}, "ops=1000 is not a text"),
        ({"ops": ">1", "scale": "laptop"}, "scale='laptop' is not a scale"),
        ({"scale": "machine"}, "the budget has no limit"),
        ({"ttft_p50": "<1ms"}, "is not a budget of a function"),
        ({"errors_timeout": "<1%"}, "is not a budget of a function"),
    ],
)
def test_a_limit_that_cannot_be_read_is_named(limits, message):
    with pytest.raises(UsageError) as caught:
        budgets_of(marked(**limits))
    assert message in caught.value.message
    assert "write ops=" in caught.value.hint


def test_limits_have_names():
    with pytest.raises(UsageError, match="limits need names") as caught:
        budgets_of(marked(">1k/s"))
    assert "write ops=" in caught.value.hint


def test_the_line_of_the_test_is_named():
    with pytest.raises(pytest.UsageError, match=r"^test_it\.py:4: .*ops='>>1'.* \(write ops="):
        check([marked(ops=">1"), marked(ops=">>1")])


def test_a_budget_has_one_verdict_per_limit():
    found = budgets_of(marked(ops=">1k/s", p99="<1ms", scale="machine"))
    assert [each.is_scaled for each in found] == [True, True]
    assert budgets_of(SimpleNamespace(get_closest_marker=lambda _name: None)) == ()
