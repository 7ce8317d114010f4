"""Results of measured functions, as torr's pytest plugin writes them."""

from __future__ import annotations

import typed


def round_of(name="tests/test_cache.py::test_put", number=1, rate=100_000.0, *, batch=1, failed=0):
    """Return one round of a function, which takes 0.02 ms at p99."""
    times = {"n": 1000, "p50": 0.01, "p99": 0.02}
    members = {
        "candidate": name,
        "factors": {},
        "round": number,
        "concurrency": 1,
        "seconds": 0.01,
        "counts": {"attempted": 1000 + failed, "ok": 1000, "errors": {}},
        "ok_per_s": rate,
        "success_rate": 100.0,
        "latency": {"service_ms": times, "response_ms": times},
        "health": {"verdict": "healthy", "reasons": []},
        "micro": {"batch": batch, "clock_ns": 40, "turn_ns": 5, "gc": "on", "threads": 1},
    }
    return typed.level(**members)


SPREAD = (0.99, 1.0, 1.01, 0.995, 1.005, 1.002, 0.998, 1.003, 0.997, 1.0)
"""By how much rounds of one function differ here."""


def trial_of(rate, times, *, failed=0, **more):
    """Return a trial from which verdicts are made; `times` are its response times in ms."""
    count = times["n"]
    ended = {"ok": count - failed, "errors": {"check": failed} if failed else {}}
    spread = {"stdev": 0.1, "within_stdev_rate": 90.0}
    members = {
        "candidate": "f",
        "factors": {},
        "round": 1,
        "concurrency": 1,
        "rate": None,
        "counts": {"attempted": count, "dropped": 0, "in_flight": 0, **ended},
        "ok_per_s": rate,
        "success_rate": 100 * ended["ok"] / count,
        "latency": {"response_ms": {**times, **spread}},
        "health": {"verdict": "healthy", "reasons": []},
        **more,
    }
    return typed.level(**members)


def budget(word, text="p99 <1ms", **more):
    """Return a budget of a function and its verdict, as a session of pytest writes them."""
    return {
        "candidate": "tests/test_cache.py::test_put",
        "factors": {},
        "metric": "response_ms.p99",
        "condition": text,
        "limit": 1.0,
        "scaled_by": None,
        "value": 0.02,
        "interval": (0.019, 0.021),
        "n": 10,
        "word": word,
        "reason": None,
        **more,
    }


def result(**more):
    """Return the result of a session with six rounds of one function."""
    levels = [round_of(number=n, rate=100_000 + 1000 * n) for n in range(1, 7)]
    made = {
        "schema": 2,
        "kind": "micro",
        "name": "nightly",
        "status": "complete",
        "started": "2026-01-31T12:00:00.000Z",
        "command": ["pytest"],
        "levels": levels,
        "verdicts": [],
        "machine_speed": {"median": 1.38, "least": 1.3, "most": 1.4},
    }
    return typed.result(**{**made, **more})


def budgeted():
    """Return a session with budgets of each word: held, broken and not shown."""
    names = [f"tests/test_store.py::test_{what}" for what in ("get", "put", "scan", "evict")]
    rates = (400_000, 90_000, 1_000, 52_000)
    levels = [
        round_of(name, number, rate * (1 + 0.01 * (number * 5 % 7)))
        for name, rate in zip(names, rates, strict=True)
        for number in range(1, 11)
    ]
    ops = {"metric": "ok_per_s", "condition": "ops >50k/s", "limit": 50_000.0}
    slowest = {"metric": "response_ms.p99_99", "limit": 2.0, "value": None, "interval": None}
    budgets = [
        budget("held", candidate=names[0]),
        budget("held", candidate=names[0], **ops, value=412_000.0, interval=(408e3, 418e3)),
        budget("held", candidate=names[1], **ops, value=92_700.0, interval=(91e3, 94e3)),
        budget("broken", candidate=names[2], **ops, value=1030.0, interval=(1010.0, 1050.0)),
        budget("not shown", candidate=names[3], **ops, value=53e3, interval=(49e3, 55e3)),
        budget("not shown", "p99.99 <2ms", candidate=names[3], **slowest, n=0),
    ]
    return result(levels=levels, budgets=budgets)
