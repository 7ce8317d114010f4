"""The excess of a number over the limit of an SLO."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.model.condition import Condition
from torr.verdicts.slo_excess import FAR, excess_of, value_at

SLOS = {
    text: Condition.parse(text)
    for text in ("p95 < 500ms", "ok/s > 100", "success >= 99%", "errors < 1%", "failures < 5")
}


@pytest.mark.parametrize(
    ("text", "value", "excess"),
    [
        ("p95 < 500ms", 500, 0),
        ("p95 < 500ms", 550, math.log(1.1)),
        ("p95 < 500ms", 250, -math.log(2)),
        ("ok/s > 100", 50, math.log(2)),
        ("ok/s > 100", 200, -math.log(2)),
        ("ok/s > 100", 0, FAR),
        ("success >= 99%", 98, math.log(2)),
        ("success >= 99%", 99.5, -math.log(2)),
        ("success >= 99%", 100, -FAR),
        ("errors < 1%", 2, math.log(2)),
        ("errors < 1%", 0, -FAR),
        ("failures < 5", 10, math.log(2)),
        ("failures < 5", 0, -FAR),
    ],
)
def test_an_excess_is_positive_beyond_the_limit(text, value, excess):
    assert excess_of(SLOS[text], value) == pytest.approx(excess)


@pytest.mark.parametrize(
    ("text", "value", "excess"),
    [
        ("errors <= 0%", 0, -FAR),
        ("errors <= 0%", 0.1, FAR),
        ("failures < 0", 0, FAR),
        ("success >= 100%", 100, -FAR),
        ("success >= 100%", 99.9, FAR),
        ("ok/s > 0", 0, FAR),
        ("ok/s > 0", 1, -FAR),
    ],
)
def test_a_limit_of_nothing_is_kept_or_broken(text, value, excess):
    assert excess_of(Condition.parse(text), value) == excess


@given(st.sampled_from(sorted(SLOS)), st.floats(0.1, 99.9))
def test_the_number_of_an_excess_is_the_number(text, value):
    assert value_at(SLOS[text], excess_of(SLOS[text], value)) == pytest.approx(value, rel=1e-6)
