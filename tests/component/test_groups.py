"""Groups of a plan file against a target: users who begin apart, arrivals beside them."""

from __future__ import annotations

import pytest

from tiers import full

PLAN = """
url = "{url}"
duration = "300ms"
warmup = "{warmup}"
[[requests]]
name = "page"
url = "/page"
[[requests]]
name = "lookup"
url = "/lookup"
[[groups]]
requests = ["page"]
users = 6
think = "20ms"
{users}
[[groups]]
requests = ["lookup"]
rate = "100"
connections = 8
"""


@pytest.fixture
def measured(torr, own_steady, tmp_path):
    """The level of a plan of users and arrivals, and what the target counted."""

    def run(*flags, warmup="0s", users=""):
        text = PLAN.format(url=own_steady.url, warmup=warmup, users=users)
        (tmp_path / "plan.toml").write_text(text)
        ended = torr("run", "plan.toml", *flags)
        assert ended.code == 0, ended.err
        return ended.level, own_steady.stop()

    return run


@pytest.mark.parametrize("flags", [("--workers", 2), *full(("--processes", 2))])
def test_users_and_arrivals_are_counted_together_and_told_apart(measured, flags):
    level, counted = measured(*flags)
    counts = level["counts"]
    assert counts["planned"] == counts["attempted"] == counts["ok"] == counted["requests"]
    page, lookup = level["requests"]
    assert (page["name"], lookup["name"], lookup["counts"]["planned"]) == ("page", "lookup", 30)
    assert (level["rate"], level["users"], level["concurrency"]) == (100, 6, 14)
    # Users are never late: only arrivals have a lag.
    assert page["latency"]["scheduling_lag_ms"] is None
    assert (
        level["latency"]["scheduling_lag_ms"]["n"]
        == lookup["latency"]["scheduling_lag_ms"]["n"]
        == 30
    )


@pytest.mark.parametrize("flags", [*full(("--workers", 2)), ("--processes", 2)])
def test_users_begin_before_the_window_and_what_they_send_is_the_warm_ups(measured, flags):
    level, counted = measured(*flags, users="spawn_rate = 20")
    # The last of six begins after a quarter of a second.
    assert level["warmup"]["seconds"] >= 0.25
    warmup = level["warmup"]["counts"]
    assert warmup["attempted"] > 6
    assert warmup["attempted"] + level["counts"]["attempted"] == counted["requests"]
