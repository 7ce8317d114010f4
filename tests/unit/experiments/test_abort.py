"""`--abort-on`: three bad intervals in a row, and nothing less."""

from __future__ import annotations

import pytest

from doubles import Truth, measured_interval
from torr.experiments.abort import AbortCounter
from torr.model.condition import Condition
from torr.verdicts.slo import judge

GOOD = Truth(ok_per_s=20)
BAD = Truth(ok_per_s=18, errors={"status": 2})
NOTHING = Truth(ok_per_s=0)


def fired_at(text, truths):
    """The number of the interval at which the load would end; None if it would not."""
    watch = AbortCounter((Condition.parse(text),))
    ends = (
        at for at, truth in enumerate(truths) if watch.judge_interval(measured_interval(truth, at))
    )
    return next(ends, None)


@pytest.mark.parametrize(
    ("truths", "at"),
    [
        ([BAD, BAD, BAD], 2),
        ([GOOD, BAD, BAD, BAD], 3),
        ([BAD, BAD, GOOD, BAD, BAD], None),
        ([BAD, BAD, NOTHING, BAD, BAD, BAD], 5),
        ([GOOD if at not in (3, 90, 180) else BAD for at in range(200)], None),
    ],
)
def test_only_three_bad_intervals_in_a_row_end_the_load(truths, at):
    # Twenty answers without an error are too few to show `errors > 5%` broken.
    assert judge(Condition.parse("errors > 5%"), measured_interval(GOOD, 0)).word == "not shown"
    assert fired_at("errors > 5%", truths) == at


def test_intervals_of_the_warm_up_do_not_count():
    watch = AbortCounter((Condition.parse("errors > 5%"),))
    assert not any(
        watch.judge_interval(measured_interval(BAD, second)) for second in (-3, -2, -1, 0, 1)
    )
    assert watch.judge_interval(measured_interval(BAD, 2))
