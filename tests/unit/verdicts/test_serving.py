"""Causes that an LLM server's numbers show, on invented levels: each cause, and what is none."""

from __future__ import annotations

import pytest

import typed
from torr.messages.message import from_object
from torr.results.base import builtins
from torr.verdicts.serving import causes_of, points_of, serving_causes


def level(users, client_ms=100.0, *, n=500, **usage):
    """Return a level whose clients saw a mean TTFT, with numbers of the server's window."""
    stream = {"ttft_ms": {"n": n, "mean": client_ms}, "from": "sent"}
    return typed.level(
        concurrency=users,
        ok_per_s=50.0,
        success_rate=100.0,
        counts={"attempted": n, "ok": n},
        connections={"requested": 1, "open_max": 1, "opened": 1},
        stream=stream if client_ms is not None else None,
        monitor={"serving": {"sources": [], "derived": usage}},
    )


def causes(*levels):
    return {cause.cause: str(cause.text) for cause in serving_causes(levels)}


CALM = {"waiting_mean": 0.0, "waiting_max": 0.0, "queue_ms": 1.0, "kv_cache_max_rate": 40.0}
QUEUED = {"waiting_mean": 12.0, "waiting_max": 20.0, "queue_ms": 800.0, "kv_cache_max_rate": 97.0}


def test_a_ttft_that_rises_with_the_queue_is_explained_by_it():
    found = causes(
        level(10, 100.0, **CALM),
        level(20, 110.0, **CALM),
        level(40, 920.0, **QUEUED),
        level(80, 1900.0, **{**QUEUED, "queue_ms": 1700.0}),
    )
    assert found == {
        "queueing": (
            "TTFT rises from 40 users on because requests queue: 12 waiting, KV cache 97 %,"
            " 800 ms of 920 ms in the queue"
        )
    }


def test_without_a_time_in_the_queue_waiting_requests_and_the_rate_tell_it():
    waiting = {"waiting_mean": 40.0}  # of 50 responses a second: 800 ms each
    found = causes(level(10, 100.0, waiting_mean=0.0), level(40, 920.0, **waiting))
    assert found["queueing"] == ("TTFT rises from 40 users on because requests queue: 40 waiting")


def test_a_single_level_queues_where_most_of_its_ttft_is_time_in_the_queue():
    assert causes(level(40, 920.0, **QUEUED))["queueing"] == (
        "Requests queue at 40 users: 12 waiting, KV cache 97 %, 800 ms of 920 ms in the queue"
    )


def test_a_cache_with_room_is_not_why_requests_wait():
    text = causes(level(40, 920.0, **{**QUEUED, "kv_cache_max_rate": 30.0}))["queueing"]
    assert text == "Requests queue at 40 users: 12 waiting, 800 ms of 920 ms in the queue"


def test_levels_that_all_queue_do_not_rise():
    text = causes(level(40, 920.0, **QUEUED), level(80, 1000.0, **QUEUED))["queueing"]
    assert text.startswith("Requests queue from 40 users on: 12 waiting")


NO_QUEUEING = {
    "nothing waits": [level(10, 100.0, **CALM), level(40, 920.0, **CALM)],
    "TTFT did not rise": [
        level(10, 900.0, **CALM),
        level(40, 1000.0, **{**QUEUED, "queue_ms": 90.0}),
    ],
    "little of it is the queue": [
        level(10, 100.0, **CALM),
        level(40, 920.0, **{**QUEUED, "queue_ms": 300.0}),
    ],
    "the highest level does not queue": [
        level(10, 100.0, **CALM),
        level(40, 920.0, **QUEUED),
        level(80, 100.0, **CALM),
    ],
    "waiting is unknown": [level(10, 100.0, queue_ms=1.0), level(40, 920.0, queue_ms=800.0)],
    "nothing but waiting is known": [level(40, 920.0, waiting_mean=12.0)],
    "no client has a TTFT": [level(10, None, **CALM), level(40, None, **QUEUED)],
    "seldom one waits": [
        level(10, 100.0, **CALM),
        level(40, 920.0, **{**QUEUED, "waiting_mean": 0.2}),
    ],
}


@pytest.mark.parametrize("levels", NO_QUEUEING.values(), ids=NO_QUEUEING)
def test_what_does_not_show_queueing_is_not_called_so(levels):
    assert "queueing" not in causes(*levels)


def test_a_full_cache_is_a_cause_once_requests_are_preempted():
    full = {"kv_cache_max_rate": 99.4, "preemptions": 14.0}
    found = causes(
        level(10, kv_cache_max_rate=60.0, preemptions=0.0), level(40, **full), level(80, **full)
    )
    assert found["cache_full"] == (
        "The KV cache is full at 40 users (99 %): the server preempted 14 requests, and had to"
        " continue them later"
    )
    one = causes(level(40, kv_cache_max_rate=99.4, preemptions=1.0))
    assert "preempted 1 request, and had to continue it later" in one["cache_full"]


@pytest.mark.parametrize(
    "usage",
    [
        {"kv_cache_max_rate": 99.0, "preemptions": 0.0},
        {"kv_cache_max_rate": 99.0},
        {"kv_cache_max_rate": 80.0, "preemptions": 3.0},
        {"preemptions": 3.0},
    ],
)
def test_a_cache_that_is_not_full_or_preempts_nobody_is_no_cause(usage):
    assert causes(level(40, **usage)) == {}


IDLE = {"busiest_gpu_mean_rate": 35.2, "waiting_max": 0.0, "waiting_mean": 0.0}


def test_a_server_whose_gpu_was_idle_and_whose_queue_was_empty_is_not_saturated():
    assert causes(level(4, **IDLE), level(8, **IDLE)) == {
        "not_saturated": (
            "The server is not saturated at 8 users: the busiest GPU was in use 35 % of the time,"
            " and no request waited"
        )
    }


@pytest.mark.parametrize(
    "usage",
    [
        {**IDLE, "busiest_gpu_mean_rate": 96.0},
        {**IDLE, "waiting_max": 1.0},
        {**IDLE, "waiting_max": None},
        {**IDLE, "busiest_gpu_mean_rate": None},
    ],
)
def test_a_server_that_was_busy_or_of_which_too_little_is_known_may_be_saturated(usage):
    assert causes(level(8, **usage)) == {}


def test_a_server_that_refuses_requests_may_be_saturated_with_an_empty_queue():
    assert causes(typed.changed(level(8, **IDLE), success_rate=90.0)) == {}


def test_a_highest_level_that_is_saturated_decides():
    assert causes(level(4, **IDLE), level(8, **{**IDLE, "busiest_gpu_mean_rate": 99.0})) == {}


FAST = {"ttft_ms": 300.0, "first_tokens": 510.0}


def test_a_client_that_waits_longer_than_the_server_counts_waits_elsewhere():
    found = causes(level(10, 310.0, **FAST), level(40, 900.0, **FAST))
    assert found["outside_the_server"] == (
        "At 40 users clients wait 900 ms for the first text, of which the server counts 300 ms: the"
        " rest passes in the network, in a proxy, in the server's HTTP interface or in torr"
    )


def test_on_one_machine_torr_and_the_server_compete():
    shared = typed.patched(level(40, 900.0, **FAST), health={"verdict": "contended"})
    text = causes(shared)["outside_the_server"]
    assert text.endswith("counts 300 ms: torr and the server compete for this machine")


NOT_OUTSIDE = {
    "near": level(40, 420.0, **FAST),
    "a few milliseconds": level(40, 20.0, ttft_ms=5.0, first_tokens=500.0),
    "the server has no TTFT": level(40, 900.0, first_tokens=500.0),
    "the server also serves others": level(40, 900.0, ttft_ms=300.0, first_tokens=2000.0),
    "the server's count is unknown": level(40, 900.0, ttft_ms=300.0),
    "times count from when a request was due": typed.patched(
        level(40, 900.0, **FAST), stream={"from": "intended"}
    ),
    "no client has a TTFT": level(40, None, **FAST),
}


@pytest.mark.parametrize("one", NOT_OUTSIDE.values(), ids=NOT_OUTSIDE)
def test_what_does_not_show_a_time_elsewhere_is_not_called_so(one):
    assert causes(one) == {}


@pytest.mark.parametrize(
    "mark",
    [{"health": {"verdict": "generator-limited"}}, {"cut_short": True}, {"starved": 20}],
)
def test_levels_that_claim_nothing_show_no_cause(mark):
    assert causes(typed.patched(level(40, 920.0, **QUEUED), **mark)) == {}


def test_a_cause_names_the_lowest_level_that_shows_it():
    levels = [level(10, 100.0, **CALM), level(40, 920.0, **QUEUED), level(80, 920.0, **QUEUED)]
    assert [cause.concurrency for cause in serving_causes(levels)] == [40]


def test_levels_without_a_named_server_show_no_cause():
    assert serving_causes([typed.patched(level(40), monitor=None)]) == []
    assert causes_of([]) == []


def test_a_level_is_the_median_of_its_rounds():
    rounds = [level(40, ttft, waiting_mean=wait) for ttft, wait in ((900, 1), (100, 9), (200, 2))]
    (point,) = points_of(rounds)
    assert (point.ttft_ms, point.usage.waiting_mean, point.noun) == (200.0, 2.0, "user")


def test_every_cause_is_said_in_chinese():
    found = [
        *serving_causes([level(10, 100.0, **CALM), level(40, 920.0, **QUEUED)]),
        *serving_causes([level(40, 920.0, **QUEUED, preemptions=2.0)]),
        *serving_causes([level(8, **IDLE)]),
        *serving_causes([level(40, 900.0, **FAST)]),
    ]
    assert len(found) == 5
    for cause in found:
        read = from_object(builtins(cause)["text"])
        written = read.render("zh")
        assert "个用户" in written, written
        assert "request" not in written, written
