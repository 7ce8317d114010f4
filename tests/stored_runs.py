"""Small results as runs write them, for tests of the store."""

from __future__ import annotations

import json
import zlib

import sqlalchemy as sa


def level(users=50, speed=1000.0, *, p95=4.2, success=100.0, number=1, health="healthy", **more):
    """Return one level of 10 s."""
    ok = round(10 * speed)
    return {
        "candidate": None,
        "factors": {},
        "round": number,
        "concurrency": users,
        "rate": None,
        "seconds": 10.0,
        "counts": {"attempted": ok, "ok": ok, "errors": {}},
        "ok_per_s": float(speed),
        "success_rate": success,
        "latency": {"response_ms": {"n": ok, "p95": p95, "p99": 2 * p95}},
        "health": {"verdict": health, "reasons": []},
        "intervals": [{"t_s": 0.0, "seconds": 1.0, "phase": "measure", "counts": {"ok": ok // 10}}],
        **more,
    }


def result(name="api", *levels, number=1, **more):
    """Return a whole result; each number is another run, a minute after the one before."""
    return {
        "schema": 2,
        "torr": "0.1.0",
        "id": f"{number:032x}",
        "kind": "run",
        "name": name,
        "started": f"2026-01-31T{12 + number // 60}:{number % 60:02d}:00.000Z",
        "ended": f"2026-01-31T{12 + number // 60}:{number % 60:02d}:30.000Z",
        "status": "complete",
        "command": ["torr", "run", "http://127.0.0.1:8080/"],
        "note": None,
        "tags": [],
        "environment": {"machine": {"host": "vm"}, "git": "0123456789abcdef" * 2},
        "levels": list(levels) or [level()],
        "verdicts": [],
        **more,
    }


def text(*arguments, **more):
    """Return the result as the bytes of result.json."""
    return json.dumps(result(*arguments, **more)).encode()


def spoil(place, run_id, **changes):
    """Replace the result of a run in the store by `whole`, or by a result with these changes."""
    content = changes.pop("whole", {**result(), **changes})
    packed = zlib.compress(json.dumps(content).encode())
    engine = sa.create_engine(place.url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        query = sa.text("UPDATE results SET json_zlib = :packed WHERE run_id = :run")
        connection.execute(query, {"packed": packed, "run": run_id})
    engine.dispose()
