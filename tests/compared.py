"""Results of comparisons, made from given speeds; their verdicts are computed by torr.stats."""

from __future__ import annotations

import random
from itertools import product

import typed
from torr.verdicts import comparison

FACTORS = {"processes": [1, 4], "connections": [100, 500]}
RULES = [
    {
        "code": "rules.order",
        "values": {"seed": 1},
        "text": "Candidates of a cell ran back to back in rounds, after one that was not measured.",
    },
    {"code": "rules.afresh", "values": {}, "text": "Every trial started its server afresh."},
]


def trial(candidate, factors, number, ok_per_s, *, errors=0, health="healthy", why=(), **more):
    """Return one trial of 5 s, with p99 at 2.5 times the median."""
    ok = round(5 * ok_per_s)
    middle = 1000 / ok_per_s if ok else None
    times = {"n": ok, "mean": middle, "p50": middle, "p99": middle and 2.5 * middle} if ok else None
    members = {
        "candidate": candidate,
        "factors": factors,
        "round": number,
        "concurrency": factors.get("connections", 50),
        "rate": None,
        "seconds": 5.0,
        "counts": {
            "attempted": ok + errors,
            "ok": ok,
            "errors": {"read": errors} if errors else {},
        },
        "reasons": {"read.reset": errors} if errors else {},
        "statuses": {"200": ok},
        "ok_per_s": float(ok_per_s),
        "attempted_per_s": ok_per_s + errors / 5,
        "success_rate": 100 * ok / (ok + errors) if ok + errors else None,
        "latency": {"response_ms": times, "service_ms": times},
        "health": {"verdict": health, "reasons": list(why), "worker_cpu_rate": [61.2]},
        "monitor": None,
        **more,
    }
    return typed.level(**members)


EXITED = {
    "code": "trial.ended",
    "values": {"ending": {"code": "ending.code", "values": {"code": 3}, "text": "code 3"}},
    "text": "it exited: code 3",
}


def failure(candidate, factors, number=1, kind="did_not_start", text=EXITED):
    """Return the failure of a trial that has no result."""
    tail = ["Traceback (most recent call last):", "OSError: <port> is `taken`"]
    return {
        "candidate": candidate,
        "factors": factors,
        "round": number,
        "kind": kind,
        "text": text,
        "hint": {"code": "hint.log", "values": {}, "text": "look at its log"},
        "log_tail": tail,
    }


def cells(factors):
    """Return every combination of some factors."""
    return [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]


def rounds(speeds, factors, *, count=10, spread=0.01, seed=1, **more):
    """Return the rounds of one cell; `speeds` are ok/s by candidate, `spread` is their sd."""
    drawn = random.Random(f"{seed} {factors}")
    return [
        trial(name, factors, number, speed * drawn.gauss(1, spread), **more)
        for number in range(1, count + 1)
        for name, speed in speeds.items()
    ]


def compared(levels, *, baseline="go-net", factors=None, names=None, procedure=None, **more):
    """Return a result of kind `compare` with its verdicts."""
    given = {"procedure": procedure} if procedure else {}
    known = names or list(dict.fromkeys(level.candidate for level in levels))
    made = {
        "schema": 2,
        "torr": "0.1.0",
        "kind": "compare",
        "name": "healthz",
        "started": "2026-01-31T12:00:00.000Z",
        "ended": "2026-01-31T12:30:00.000Z",
        "status": "complete",
        "command": ["torr", "compare", "matrix.toml"],
        "environment": {"machine": {"cores": 2, "cpu": "Example"}, "kernel": "Linux 6.1"},
        "levels": levels,
        "failures": [],
        "verdicts": comparison.verdicts(levels, baseline, **given),
        "experiment": {
            "baseline": baseline,
            "rounds": 10,
            "stages": [10],
            "factors": {} if factors is None else factors,
            "candidates": {
                name: {"command": f"./{name} --port {{port}}", "url": "http://127.0.0.1:{port}/"}
                for name in known
            },
            "restart": "trial",
            "discard_if": None,
            "primary": "ok_per_s",
            "pin": {"generator": [0], "target": [1]},
            "answers": {
                name: {"status": 200, "framing": "content-length", "keepalive": True}
                for name in known
            },
            "differences": [],
            "rules": RULES,
            "seed": 1,
        },
    }
    return typed.result(**{**made, **more})


def pair(*ratios, factors=None, spread=0.01, count=10, **more):
    """Return a comparison of go-net at 12,000 ok/s with go-gin at a ratio of it in each cell."""
    settings = cells(factors) if factors else [{"connections": 500}]
    levels = [
        level
        for ratio, setting in zip(ratios, settings, strict=True)
        for level in rounds(
            {"go-net": 12_000, "go-gin": 12_000 * ratio}, setting, spread=spread, count=count
        )
    ]
    return compared(levels, factors=factors or {"connections": [500]}, **more)


def matrix(factors=None, speeds=None, **more):
    """Return a comparison of six candidates whose speed grows with the number of processes."""
    factors = factors or {"processes": [1, 4], "connections": [100, 500, 1000]}
    speeds = speeds or {
        "fastapi-uvicorn": 5000,
        "fastapi-gunicorn": 4990,
        "litefs-native": 8000,
        "litefs-uvicorn": 4600,
        "litefs-gunicorn": 12_000,
        "express": 5080,
    }
    levels = []
    for setting in cells(factors):
        grown = 1 + 0.6 * (setting.get("processes", 1) - 1)
        here = {name: speed * grown for name, speed in speeds.items()}
        levels += rounds(here, setting, spread=0.02, count=12)
    given = {"name": "litefs", "baseline": "fastapi-uvicorn", **more}
    return compared(levels, factors=factors, **given)


def on_trace(ratio):
    """Return a comparison of go-net and go-gin whose load is a trace, at the times of the trace."""
    trace = {"format": "mooncake", "rows": 1000, "sessions": 1000}
    speeds = {"go-net": 100, "go-gin": 100 * ratio}
    levels = rounds(speeds, {}, trace=trace, users=0, spread=0.005)
    levels = [typed.changed(level, concurrency=1000) for level in levels]
    return compared(levels, factors={})
