"""Users who give up, as they are written and as the engine takes them."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.cancellation import Cancellation

MS = 1_000_000


def uniform(low, high):
    return {"kind": "uniform", "from_ns": low, "to_ns": high}


@pytest.mark.parametrize(
    ("text", "share", "after"),
    [
        ("10% after 2s", 0.1, {"kind": "time", "time": uniform(2000 * MS, 2000 * MS)}),
        ("2.5 % after 1s-3s", 0.025, {"kind": "time", "time": uniform(1000 * MS, 3000 * MS)}),
        (
            " 100%  after  exp:500ms ",
            1.0,
            {"kind": "time", "time": {"kind": "exponential", "mean_ns": 500 * MS}},
        ),
        (
            "10% after lognormal:2s,0.6",
            0.1,
            {"kind": "time", "time": {"kind": "lognormal", "median_ns": 2000 * MS, "sigma": 0.6}},
        ),
        ("50% after 1 token", 0.5, {"kind": "texts", "from": 1, "to": 1}),
        ("50% after 5-20 tokens", 0.5, {"kind": "texts", "from": 5, "to": 20}),
    ],
)
def test_who_gives_up_when_is_read_as_it_is_written(text, share, after):
    assert Cancellation.parse(text).as_json() == {"share": pytest.approx(share), "after": after}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a share of users, and a time"),
        ("10%", "is not a share of users, and a time"),
        ("10 after 2s", "is not a share of users, and a time"),
        ("0% after 2s", "not within 0 and 100 %"),
        ("101% after 2s", "not within 0 and 100 %"),
        ("10% after never", "never"),
        ("10% after 0 tokens", "1 token or more"),
        ("10% after 9-5 tokens", "1 token or more"),
    ],
)
def test_what_cannot_be_read_is_refused(text, why):
    with pytest.raises(UsageError, match=why):
        Cancellation.parse(text)
