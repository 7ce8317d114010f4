"""JSON of pytest-benchmark (`--benchmark-json`, `--benchmark-save`), read as a run of functions.

Its rounds are timed calls, torr's are replicates of many of them. Where the file has every time
(`--benchmark-save-data`) they are cut into rounds in their order; else each function has one round,
whose percentiles are those that the file has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timezone
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from torr import engine
from torr.errors import UsageError, require
from torr.store.kept.kept_run import read_stamp, stamp

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

ROUNDS = 10
# A round needs times enough for a median that means something.
_LEAST_IN_A_ROUND = 20
_S_IN_MS, _S_IN_NS = 1e3, 1e9


def read(path: Path, name: str | None = None) -> Json:
    """Return a result of kind `micro`; raises UsageError that says what is wrong with the file."""
    try:
        text = path.read_bytes()
        found = json.loads(text)
        benchmarks = found["benchmarks"]
        levels = [level for each in benchmarks for level in _levels(each)]
        started = stamp(read_stamp(found["datetime"]).astimezone(timezone.utc))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "write it with --benchmark-json"
        raise UsageError(f"{path} is not JSON of pytest-benchmark", hint) from error
    require(bool(levels), f"{path} has no benchmark", "select some, and write it again")
    return {
        "schema": 1,
        "torr": f"pytest-benchmark {found.get('version', '')}".strip(),
        "id": hashlib.sha256(text).hexdigest()[:32],
        "kind": "micro",
        "name": name or path.stem,
        "started": started,
        "ended": started,
        "status": "complete",
        "command": ["pytest", f"--benchmark-json={path.name}"],
        "plan": None,
        "note": None,
        "tags": [],
        "environment": _environment(found),
        "levels": levels,
        "verdicts": [],
        "budgets": [],
        "leaks": [],
    }


def _levels(benchmark: Mapping[str, Any]) -> list[Json]:
    stats = benchmark["stats"]
    name, _, _ = str(benchmark.get("fullname") or benchmark["name"]).partition("[")
    factors = {key: str(value) for key, value in (benchmark.get("params") or {}).items()}
    head = {"candidate": name, "factors": factors, "concurrency": 1, "rate": None}
    batch = int(stats.get("iterations") or 1)
    times: Sequence[float] = stats.get("data") or ()
    if len(times) < ROUNDS * _LEAST_IN_A_ROUND:
        return [{**head, **_whole(stats, batch)}]
    size = len(times) // ROUNDS
    return [
        {**head, **_round(times[at * size : (at + 1) * size], batch, at + 1)}
        for at in range(ROUNDS)
    ]


def _whole(stats: Mapping[str, Any], batch: int) -> Json:
    """One round of all that there is: the file's own statistics."""
    count = int(stats["rounds"])
    found = {
        "n": count,
        "mean": stats["mean"] * _S_IN_MS,
        "stdev": stats["stddev"] * _S_IN_MS,
        "min": stats["min"] * _S_IN_MS,
        "max": stats["max"] * _S_IN_MS,
        "p50": stats["median"] * _S_IN_MS,
        "p75": stats["q3"] * _S_IN_MS,
    }
    data: Sequence[float] = stats.get("data") or ()
    if len(data) >= _LEAST_IN_A_ROUND:
        found["p90"] = quantiles(data, n=10)[-1] * _S_IN_MS
    return _level(1, count * batch, stats["mean"] * count * batch, found, batch)


def _round(times: Sequence[float], batch: int, number: int) -> Json:
    stats, histogram = engine.statistics([round(time * _S_IN_NS) for time in times])
    level = _level(number, len(times) * batch, sum(times) * batch, stats, batch)
    return {**level, "histograms": {"service": histogram, "response": histogram}}


def _level(number: int, count: int, seconds: float, stats: Json | None, batch: int) -> Json:
    return {
        "round": number,
        "seconds": seconds,
        "counts": {"planned": count, "attempted": count, "ok": count, "errors": {}},
        "ok_per_s": count / seconds if seconds else 0.0,
        "success_rate": 100.0,
        "latency": {"service_ms": stats, "response_ms": stats},
        "slices": [],
        "health": {"verdict": "healthy", "reasons": []},
        "micro": {"batch": batch, "clock_ns": 0, "turn_ns": 0, "gc": "unknown", "threads": 1},
    }


def _environment(found: Mapping[str, Any]) -> Json:
    machine, commit = found.get("machine_info") or {}, found.get("commit_info") or {}
    return {
        "machine": {
            "host": machine.get("node"),
            "cpu": (machine.get("cpu") or {}).get("brand_raw"),
            "architecture": machine.get("machine"),
        },
        "versions": {"python": machine.get("python_version")},
        "git": commit.get("id"),
    }
