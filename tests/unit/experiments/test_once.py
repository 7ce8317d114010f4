"""The request that is sent alone, before a load."""

from __future__ import annotations

from torr.experiments.once import first_alone
from torr.model.check import Capture
from torr.model.feed import FeedRow, Remember, RowFeed
from torr.model.pace import Closed, Fed
from torr.model.plan import Count, Group, LastRow, Plan
from torr.model.request import Request
from torr.model.source import Source

URL = "http://127.0.0.1:9/"


def test_of_several_requests_the_first_is_sent():
    requests = (Request(URL, name="a"), Request(URL, name="b"))
    plan = Plan((Group(Closed(2), Source(requests)),), Count(9))
    assert tuple(first_alone(plan).requests) == requests[:1]


def test_the_first_request_of_a_feed_has_the_values_of_the_first_row_and_remembers_nothing():
    request = Request(
        URL,
        name="turn 1",
        method="POST",
        body=b"[{{history}}{{row.text}}]",
        template=True,
        captures=(Capture("answer", "text", ""),),
        remember=Remember("history", "{{row.text}},"),
    )
    feed = RowFeed(
        ("text",),
        lambda _level: iter([[FeedRow(n, 0, (), None, 0, 0, 0, (f"{n}",)) for n in range(2)]]),
    )
    group = Group(Fed(5, is_timed=True), Source((request, request)), data=feed)
    alone = first_alone(Plan((group,), LastRow()))
    (sent,) = alone.requests
    assert (sent.body, sent.captures, sent.remember) == (b"[{{row.text}}]", (), None)
    assert alone.groups[0].data.rows == (("0",),)
    assert (alone.groups[0].pace, alone.stop) == (Closed(1), Count(1))
