"""Doubles of the engine: loads whose intervals and levels follow a curve that the test chooses."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typed

if TYPE_CHECKING:
    from torr.model.plan import Plan
    from torr.results.level import Interval, Level

Json = dict[str, Any]

# Set when a load is stopped or aborted.
END_REQUESTED = threading.Event()


@dataclass(frozen=True)
class Truth:
    """What a level of the double shows."""

    ok_per_s: float = 1000.0
    service_ms: float = 5.0
    errors: dict[str, int] = field(default_factory=dict)
    health: str = "healthy"
    failure: str | None = None
    dropped: int = 0
    starved: int = 0
    samples: tuple[Json, ...] = ()
    backlog_per_s: int = 0


Curve = Callable[[int], Truth]
RateCurve = Callable[[float], Truth]


def capacity(connections: int, *, service_ms: float = 5.0) -> Curve:
    """Return the curve of a server that serves `connections` requests at once and queues others."""

    def curve(users: int) -> Truth:
        working = min(users, connections)
        rate = working * 1000 / service_ms
        return Truth(ok_per_s=rate, service_ms=users / rate * 1000)

    return curve


def limit(per_s: float, *, service_ms: float = 5.0) -> RateCurve:
    """Return the curve of a server that answers `per_s` requests and lets the others wait."""

    def curve(rate: float) -> Truth:
        behind = max(0, round(rate - per_s))
        slower = 1 if rate <= per_s else 100
        return Truth(min(rate, per_s), service_ms * slower, backlog_per_s=behind)

    return curve


@dataclass
class FakeLoad:
    """A load that has all its intervals from the start and hands them out one by one."""

    plan: Plan
    truth: Truth
    interval_count: int = 5
    on_interval: Callable[[int], None] = lambda _number: None
    stopped: bool = False
    aborted: bool = False
    _given: int = 0

    def next_interval(self, timeout_s: float) -> str | None:  # noqa: ARG002
        if self.done():
            return None
        number = self._given
        self._given += 1
        self.on_interval(number)
        return json.dumps(interval_of(self.truth, number - 1))

    def done(self) -> bool:
        return self._given >= self.interval_count or self.stopped or self.aborted

    def stop(self) -> None:
        self.stopped = True
        END_REQUESTED.set()

    def abort(self) -> None:
        self.aborted = True
        END_REQUESTED.set()

    def level(self) -> str:
        is_interrupted = self.stopped or self.aborted
        seconds = max(0, self._given - 1) if is_interrupted else 10
        rate = self.plan.rate_per_s
        level = level_of(self.plan.concurrency, self.truth, rate=rate, seconds=seconds)
        level["connections"]["requested"] = self.plan.connections
        return json.dumps({**level, "interrupted": is_interrupted})


@dataclass
class FakeEngine:
    """Starts fake loads along a curve and remembers them."""

    curve: Curve = lambda _users: Truth()
    rate_curve: RateCurve | None = None
    interval_count: int = 5
    on_interval: Callable[[int], None] = lambda _number: None
    loads: list[FakeLoad] = field(default_factory=list)

    def start(self, plan: Plan) -> FakeLoad:
        truth = self.curve(plan.concurrency)
        if self.rate_curve is not None and plan.rate_per_s is not None:
            truth = self.rate_curve(plan.rate_per_s)
        self.loads.append(FakeLoad(plan, truth, self.interval_count, self.on_interval))
        return self.loads[-1]

    @property
    def rates(self) -> list[float | None]:
        return [load.plan.rate_per_s for load in self.loads]

    @property
    def concurrencies(self) -> list[int]:
        return [load.plan.concurrency for load in self.loads]


def press_at(number: int, times: int = 1) -> Callable[[int], None]:
    """Return a callback that sends this process SIGINT while interval `number` is measured."""

    def on_interval(current: int) -> None:
        if current == number:
            for _ in range(times):
                END_REQUESTED.clear()
                os.kill(os.getpid(), signal.SIGINT)
                # Pending signals are delivered as one: wait until this one is handled.
                if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
                    assert END_REQUESTED.wait(timeout=20)

    return on_interval


def interval_of(truth: Truth, second: int) -> Json:
    """Return the interval of one second; those before second 0 are the warm-up."""
    return {
        "t_s": float(second),
        "seconds": 1.0,
        "phase": "warmup" if second < 0 else "measure",
        "counts": counts_of(truth, 1),
        "ok_per_s": truth.ok_per_s,
        "attempted_per_s": truth.ok_per_s,
        "bytes_in": 0,
        "bytes_out": 0,
        "connections_open": 1,
        "requests_open": 1 + max(0, second) * truth.backlog_per_s,
        "statuses": {},
        "reasons": {},
        "latency": latency_of(truth),
        "histograms": {},
        "health": {"worker_cpu_rate": [10.0]},
    }


def level_of(users: int, truth: Truth, *, rate: float | None = None, seconds: int = 10) -> Json:
    """Return a level as the engine does."""
    counts = counts_of(truth, seconds)
    ended = counts["attempted"]
    return {
        "concurrency": users,
        "rate": rate,
        "seconds": float(seconds),
        "counts": counts,
        "reasons": {},
        "statuses": {"200": counts["ok"]},
        "samples": list(truth.samples),
        "connections": {"requested": users, "open_max": users, "opened": users},
        "ok_per_s": truth.ok_per_s,
        "attempted_per_s": truth.ok_per_s,
        "success_rate": 100 * counts["ok"] / ended if ended else None,
        "bytes_in": 0,
        "bytes_out": 0,
        "latency": latency_of(truth),
        "latency_all": {"service_ms": None, "response_ms": None, "censored": 0},
        "starved": truth.starved,
        "steps": [],
        "histograms": {},
        "warmup": {"seconds": 2.0, "counts": {}, "latency": {}},
        "health": {
            "verdict": truth.health,
            "reasons": [] if truth.health == "healthy" else ["no descriptor left: raise nofile"],
            "worker_cpu_rate": [10.0],
        },
        "generator": {"cpu_s": 0.1, "workers": 1, "processes": 1},
        "failure": truth.failure,
        "interrupted": False,
    }


def measured_interval(truth: Truth, second: int, **members: Any) -> Interval:
    """Return the interval of one second as it is read, with other members."""
    return typed.engine_interval({**interval_of(truth, second), **members})


def measured_level(users: int, truth: Truth, **members: Any) -> Level:
    """Return a level as it is read, with other members."""
    return typed.engine_level({**level_of(users, truth), **members})


def counts_of(truth: Truth, seconds: int) -> Json:
    ok = round(truth.ok_per_s * seconds)
    attempted = ok + sum(truth.errors.values())
    return {
        "planned": attempted + truth.dropped,
        "attempted": attempted,
        "ok": ok,
        "dropped": truth.dropped,
        "in_flight": 0,
        "errors": dict(truth.errors),
    }


def latency_of(truth: Truth) -> Json:
    if truth.ok_per_s == 0:
        return {}
    ms = truth.service_ms
    stats = {
        "n": 100_000,
        "mean": ms,
        "stdev": ms / 10,
        "within_stdev_rate": 70.0,
        "min": ms / 2,
        "p50": ms,
        "p75": ms * 1.1,
        "p90": ms * 1.2,
        "p95": ms * 1.5,
        "p99": ms * 2,
        "p99_9": ms * 3,
        "p99_99": None,
        "max": ms * 4,
    }
    return {"service_ms": stats, "response_ms": stats}
