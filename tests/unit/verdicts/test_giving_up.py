"""How long requests occupy a server after their users gave up, on servers that know it."""

from __future__ import annotations

import random
from bisect import bisect_right
from dataclasses import dataclass, field
from statistics import fmean

import pytest

import typed
from torr.verdicts.giving_up import after_giving_up, extra_requests


@dataclass
class Simulated:
    """Requests that arrive at random; a share of the users gives up, and the server notices late.

    `late` draws how long after that. `outward` and `homeward` are times in the network.
    """

    late: object
    seconds: int = 120
    rate: float = 10.0
    share: float = 0.3
    wait: float = 0.0
    outward: float = 0.0
    homeward: float = 0.0
    interval: float = 1.0
    seed: int = 1
    others: int = 0
    open_at_client: list = field(default_factory=list)
    held_by_server: list = field(default_factory=list)
    gave_up: list = field(default_factory=list)

    def __post_init__(self):
        draw = random.Random(self.seed)
        at = -60.0
        while at < self.seconds + 30:
            at += draw.expovariate(self.rate)
            begin = at + self.wait + self.outward
            if draw.random() < self.share:
                end = at + draw.uniform(0.5, 1.5)
                self.gave_up.append(end)
                server_end = end + self.late(draw)
            else:
                server_end = begin + draw.expovariate(1 / 0.8)
                end = server_end + self.homeward
            self.open_at_client.append((at, end))
            self.held_by_server.append((begin, server_end))

    def level(self, **more):
        """Return what torr measures of it: readings once a second, a little after the second."""
        ends = [self.interval * n for n in range(round(self.seconds / self.interval) + 1)]
        intervals = [
            typed.interval(t_s=end - self.interval, seconds=self.interval, requests_open=count)
            for end, count in zip(ends, _counts(self.open_at_client, ends), strict=True)
        ]
        readings = [second + 0.003 for second in range(self.seconds)]
        series = {
            "source": "vllm",
            "url": "http://127.0.0.1/metrics",
            "t_s": [at - 1 for at in readings],
            "seconds": [1.0] * len(readings),
            "running": [self.others + count for count in _counts(self.held_by_server, readings)],
            "waiting": [0.0] * len(readings),
        }
        round_trip_ms = 1000 * (self.outward + self.homeward)
        latency = {
            "queue_wait_ms": {"n": 9, "mean": 1000 * self.wait},
            "connect_ms": {"n": 9, "p50": round_trip_ms},
        }
        inside = sum(0 <= at < self.seconds for at in self.gave_up)
        members = {
            "concurrency": 20,
            "seconds": self.seconds,
            "attempted_per_s": self.rate,
            "cancelled_per_s": inside / self.seconds,
            "intervals": intervals,
            "latency": latency,
            "monitor": {"serving": {"sources": [series], "derived": {}}},
        }
        return typed.level(**{**members, **more})


def _counts(spans, times):
    """Return how many of the spans hold each time: begun by then, and not ended."""
    begins, ends = map(sorted, zip(*spans, strict=True))
    return [bisect_right(begins, at) - bisect_right(ends, at) for at in times]


def estimate(*levels):
    (only,) = after_giving_up(levels)
    return only


LATE = {
    "the same time": lambda _: 0.5,
    "random times": lambda draw: draw.expovariate(2.0),
    "some of them": lambda draw: 2.5 if draw.random() < 0.2 else 0.0,
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
def test_the_mean_time_is_found(late):
    found = estimate(Simulated(late, seconds=600).level())
    assert found.low_ms < 500 < found.high_ms
    assert found.occupied_ms == pytest.approx(500, abs=60)
    assert found.high_ms - found.low_ms < 250
    assert str(found.text).startswith("After a user gives up, the request occupies the server for ")


def test_the_interval_holds_the_true_time_as_often_as_it_says():
    late = LATE["random times"]
    found = [estimate(Simulated(late, seed=seed, seconds=60).level()) for seed in range(100)]
    holding = sum(each.low_ms <= 500 <= each.high_ms for each in found)
    # Of 100 intervals of 95 %, fewer than 88 hold it with a probability of 0.2 %.
    assert holding >= 88
    means = [each.occupied_ms for each in found]
    assert sum(means) / len(means) == pytest.approx(500, abs=30)


def test_a_server_that_notices_at_once_is_free_at_once():
    found = [
        estimate(Simulated(lambda _: 0.0, seed=seed, seconds=60).level()) for seed in range(20)
    ]
    # A mean of what is above 0 alone would be some 20 ms in each of them.
    assert sum(each.low_ms == 0 for each in found) >= 18
    assert min(each.occupied_ms for each in found) == 0


def test_waits_before_sending_and_the_network_do_not_shorten_the_time():
    slow = {"wait": 0.05, "outward": 0.04, "homeward": 0.02}
    found = estimate(Simulated(LATE["the same time"], seconds=600, **slow).level())
    assert found.occupied_ms == pytest.approx(500, abs=60)


def test_intervals_of_a_tenth_of_a_second_are_read_at_the_same_times():
    level = Simulated(LATE["the same time"], seconds=60, interval=0.1).level()
    assert len(extra_requests(level)) == 60
    assert estimate(level).occupied_ms == pytest.approx(500, abs=130)


def test_readings_of_several_servers_are_added_up():
    level = Simulated(LATE["the same time"], seconds=60).level()
    (series,) = level.monitor.serving.sources
    half = {
        "source": "vllm",
        "url": "x",
        "t_s": series.t_s,
        "seconds": series.seconds,
        "running": [count / 2 for count in series.running],
        "waiting": [0.0] * len(series.t_s),
    }
    monitor = {"serving": {"sources": [half, half], "derived": {}}}
    both = Simulated(LATE["the same time"], seconds=60).level(monitor=monitor)
    assert extra_requests(both) == pytest.approx(extra_requests(level))


def test_servers_may_keep_readings_of_different_seconds():
    (series,) = Simulated(LATE["the same time"], seconds=240).level().monitor.serving.sources

    def half(first):
        lists = {name: getattr(series, name)[first::2] for name in ("t_s", "seconds", "waiting")}
        running = [count / 2 for count in series.running[first::2]]
        return {"source": "vllm", "url": "x", **lists, "running": running}

    monitor = {"serving": {"sources": [half(0), half(1)], "derived": {}}}
    both = Simulated(LATE["the same time"], seconds=240).level(monitor=monitor)
    assert len(extra_requests(both)) == 120
    # Three users a second give up, and each request goes on for half a second.
    assert fmean(extra_requests(both)) == pytest.approx(1.5, abs=0.3)


def test_rounds_of_a_level_are_one_estimate_and_levels_are_named():
    one, two = (Simulated(LATE["the same time"], seed=seed).level() for seed in (1, 2))
    assert estimate(one, two).samples == 240
    other = Simulated(LATE["the same time"]).level(concurrency=40)
    texts = [str(each.text) for each in after_giving_up([one, other])]
    assert [text.partition(":")[0] for text in texts] == ["20 connections", "40 connections"]


def test_levels_at_which_no_user_gave_up_have_no_estimate():
    level = Simulated(LATE["the same time"]).level(cancelled_per_s=0.0)
    assert after_giving_up([level, typed.level()]) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"health": {"verdict": "generator-limited"}}, "the generator was the limit"),
        ({"cut_short": True}, "the level was cut short"),
    ],
)
def test_a_level_that_claims_nothing_says_so(changes, why):
    (found,) = after_giving_up([Simulated(LATE["the same time"]).level(**changes)])
    assert (found.occupied_ms, found.cancelled) == (None, 370.0)
    assert str(found.text).endswith(f"is not known: {why}")


UNKNOWN = {
    "no `--monitor` reads its running requests": {"monitor": None},
    "the server answered requests of other clients too": {
        "monitor": {
            "serving": {
                "sources": [{"source": "vllm", "url": "x", "running": [1.0]}],
                "derived": {"first_tokens": 1500.0},
            }
        }
    },
    "only 12 users gave up in the window (20 are needed)": {"cancelled_per_s": 0.1},
    "there are only 0 readings of the server in the window": {"intervals": []},
}


@pytest.mark.parametrize(("why", "members"), UNKNOWN.items(), ids=UNKNOWN)
def test_without_evidence_the_reason_is_said(why, members):
    found = estimate(Simulated(LATE["the same time"]).level(**members))
    assert found.occupied_ms is found.low_ms is found.high_ms is None
    assert str(found.text).endswith(why)
