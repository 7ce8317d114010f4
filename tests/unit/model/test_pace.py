"""Paces: exactly the engine's JSON, dealt over endpoints without a loss."""

from __future__ import annotations

import pytest

from torr.errors import UsageError
from torr.model.pace import Closed, Open, Replay, Stage
from torr.units import SECOND_NS

STAGES = Stage.parse_all("30s:100,2m:1k,0s:5,30s:0")


def test_stages_are_read_as_times_and_targets():
    assert [(stage.duration_ns // SECOND_NS, stage.target) for stage in STAGES] == [
        *((30, 100), (120, 1000), (0, 5), (30, 0)),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("30s", "'30s' is not a stage"),
        ("30s:100,", "'' is not a stage"),
        ("30:100", "the duration '30' has no unit"),
        ("30s:many", "'many' is not a rate"),
        ("30s:-1", "'-1' is negative"),
        ("0s:5", "is not a stage"),
        ("30s:0,10s:0", "is not a stage"),
    ],
)
def test_stages_that_are_no_load_are_refused(text, says):
    with pytest.raises(UsageError, match=says):
        Stage.parse_all(text)


def test_what_is_not_asked_for_is_not_written():
    assert Closed(5).as_json() == {"kind": "closed", "users": 5}
    assert set(Open(5).as_json()) == {"kind", "rate_per_s", "connections", "max_in_flight"}


def test_pool_stages_and_times_are_written_as_the_engine_reads_them():
    assert Closed(9, pool=3).as_json() == {"kind": "closed", "users": 9, "pool": 3}
    first = Closed(1000, stages=STAGES).as_json()["stages"][0]
    assert first == {"duration_ns": 30 * SECOND_NS, "target": 100.0}
    assert Open(1000, stages=STAGES).as_json()["stages"][0] == first
    assert Replay([0, 5], 7, 9).as_json() == {
        "kind": "replay",
        "offsets_ns": [0, 5],
        "connections": 7,
        "max_in_flight": 9,
    }


def test_users_who_share_are_more_than_their_connections():
    pace = Closed(100_000, pool=1000)
    assert (pace.connections, pace.concurrency) == (1000, 100_000)
    assert pace.with_users(10) == Closed(10, pool=10)
    assert pace.with_users(5000) == Closed(5000, pool=1000)


def test_users_are_dealt_with_their_connections_and_stages():
    assert Closed(10, pool=5).parts([8, 2]) == [Closed(8, 4), Closed(2, 1)]
    one, other = Closed(1000, stages=STAGES).parts([3, 1])
    assert [stage.target for stage in one.stages] == [75, 750, 4, 0]
    assert [stage.target for stage in other.stages] == [25, 250, 1, 0]
    assert (one.users, other.users) == (750, 250)


def test_a_rate_is_dealt_with_its_limits_and_stages():
    one, other = Open(1000, "poisson", 10, 5, STAGES).parts([3, 1])
    assert (one.rate_per_s, other.rate_per_s) == (750, 250)
    assert (one.connections, other.connections) == (8, 2)
    assert (one.max_in_flight, other.max_in_flight) == (4, 1)
    assert [stage.target for stage in other.stages] == [25, 250, 1.25, 0]


def test_a_part_of_one_is_the_whole():
    for pace in (Closed(7, pool=2), Open(5, max_in_flight=3), Replay([1, 2])):
        assert pace.parts([4]) == [pace]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Closed(0), "0 connections: at least 1"),
        (lambda: Closed(5, pool=0), "--pool 0: at least 1"),
        (lambda: Closed(5, pool=6), "5 users need no more than 5 connections"),
        (lambda: Closed(5, pool=2, stages=STAGES), "--pool and --stages are both given"),
        (lambda: Closed(1000, stages=STAGES).with_users(5), "users by --stages have no levels"),
        (lambda: Open(0), "rate 0"),
        (lambda: Open(float("nan")), "rate nan"),
        (lambda: Open(float("inf")), "rate inf"),
        (lambda: Open(1, connections=0), "0 connections"),
        (lambda: Open(1, max_in_flight=0), "0 in flight"),
        (lambda: Open(1e9), "no machine sends more than 10,000,000 a second"),
        (lambda: Open(9, connections=1).parts([1, 1]), "1 connection for 2 endpoints"),
        (lambda: Replay([0], connections=0), "0 connections"),
        (lambda: Replay([0]).parts([1, 1]), "the requests go to several endpoints"),
        (lambda: Stage(1, -1), "a stage to -1"),
        (lambda: Stage(1, float("inf")), "a stage to inf"),
    ],
)
def test_a_pace_that_cannot_be_is_refused(make, says):
    with pytest.raises(UsageError, match=says):
        make()
