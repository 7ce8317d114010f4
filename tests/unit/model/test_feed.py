"""Feeds of rows: what the engine's plan says of them, and which plans they fit."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.feed import FeedRow, RowFeed
from torr.model.pace import Fed, is_closed
from torr.model.plan import Group, LastRow, Plan
from torr.model.request import Request
from torr.model.source import Source


def plan(pace):
    source = Source((Request(url="http://127.0.0.1/{{row.id}}", template=True),))
    rows = [FeedRow(0, 0, (), 0, 0, 0, 0, ("a",))]
    feed = RowFeed(("id",), lambda _level: iter([rows]))
    return Plan(groups=(Group(pace, source, data=feed),), stop=LastRow(), warmup_ns=0)


def test_the_plan_has_the_columns_and_the_rows_stay_outside():
    timed = plan(Fed(9, is_timed=True))
    (group,) = timed.as_json()["groups"]
    assert (group["data"], timed.as_json()["stop"]) == ({"fed": ["id"]}, {"kind": "rows"})
    assert group["pace"] == {"kind": "fed", "connections": 9, "is_timed": True}
    assert timed.feed is not None
    assert next(timed.feed.open())[0].cells == ("a",)
    assert (timed.window_ns, timed.has_schedule) == (None, True)


def test_users_of_a_feed_wait_for_their_responses_and_have_levels():
    closed = plan(Fed(9, is_timed=False))
    assert is_closed(closed.groups[0].pace)
    assert (closed.has_schedule, closed.with_users(3).concurrency) == (False, 3)
    with pytest.raises(UsageError, match="a group with a rate has no users"):
        plan(Fed(9, is_timed=True)).with_users(3)


def test_a_feed_goes_to_one_endpoint_and_has_a_column():
    assert Fed(2, is_timed=True).parts([1]) == [Fed(2, is_timed=True)]
    with pytest.raises(UsageError, match="several endpoints"):
        Fed(2, is_timed=True).parts([1, 1])
    with pytest.raises(UsageError, match="needs a column"):
        RowFeed((), lambda _level: iter(()))
