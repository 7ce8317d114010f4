import pytest

import typed
from torr.model.change import Change
from torr.verdicts import limits


def judged(text, interval, **more):
    """A limit on a ratio (or a difference in points) whose 90 % interval is known."""
    change = Change.parse(text)
    centre = sum(interval) / 2 if interval and None not in interval else None
    known = {
        "candidate": "b",
        "baseline": "a",
        "concurrency": 100,
        "ratio": None if change.is_of_share else centre,
        "difference": centre if change.is_of_share else None,
        "inner_interval": interval,
        "n": 10,
    }
    return limits.judge(change, typed.verdict(**{**known, **more}))


@pytest.mark.parametrize(
    ("text", "interval", "word"),
    [
        ("p99 > +10%", [1.11, 1.2], "broken"),
        ("p99 > +10%", [1.09, 1.2], "not shown"),
        ("p99 > +10%", [0.9, 1.09], "held"),
        ("ok/s < -5%", [0.9, 0.94], "broken"),
        ("ok/s < -5%", [0.9, 0.96], "not shown"),
        ("ok/s < -5%", [0.96, 1.5], "held"),
        ("errors > +0.5 points", [0.6, 0.9], "broken"),
        ("errors > +0.5 points", [0.1, 0.9], "not shown"),
        ("errors >= +0.5 points", [0.5, 0.9], "broken"),
        ("errors > +0.5 points", [0.5, 0.9], "not shown"),
        ("errors <= -0.5 points", [-0.9, -0.5], "broken"),
        ("p99 > +10%", [1.2, None], "broken"),
        ("p99 > +10%", [1.0, None], "not shown"),
        ("ok/s < -5%", [None, None], "not shown"),
    ],
)
def test_a_limit_fails_only_where_the_whole_interval_lies_beyond_it(text, interval, word):
    assert judged(text, interval).word == word


def test_the_interval_is_given_as_changes():
    found = judged("p99 > +10%", [1.11, 1.25])
    assert found.interval == pytest.approx((11, 25))
    assert found.value == pytest.approx(18)
    assert found.reason == "the 90 % interval is +11.0 % to +25.0 %"
    assert judged("p99 > +10%", [1.2, None]).reason.endswith("+20.0 % to no bound")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"n": 5}, "at least 6 trials of each side are needed, there are 5"),
        ({"obstacle": "the generator was the limit"}, "the generator was the limit"),
        ({"inner_interval": None}, "its interval has no bound"),
    ],
)
def test_what_cannot_be_told_is_not_shown_with_its_reason(more, reason):
    found = judged("p99 > +10%", [1.5, 1.6], **more)
    assert (found.word, found.reason, found.interval) == ("not shown", reason, None)
