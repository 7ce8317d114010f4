"""Latencies that are known: a target that draws them, and logs when it received and answered."""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

from truth.firing import Level, fired, health_of, target
from truth.row import Round, Value

BAR = "to p99 max(1 %, 0.1 ms), p99.9 max(2 %, 1 ms), at ≤ 50 % CPU"

# No delay is a multiple of its period: answers would come in step with sending, and wait.
_RATE = "1930"

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}


def known(*words: str) -> Callable[[int], Round]:
    """What a delaying target logged against what torr measured, in ms."""

    def measure(seconds: int) -> Round:
        with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
            log = Path(place) / "truth.csv"
            with target("delay", *words, "--log", str(log)) as (url, _):
                level = fired(url, "--rate", _RATE, "-c", "200", "-z", f"{seconds}s")
            truth = taken(log, level)
        values = dict(compared(truth, level))
        cpu = max(level["health"]["worker_cpu_rate"])
        return Round({**values, "client's CPU %": Value(cpu, 0, 50)}, health_of(level))

    return measure


def taken(log: Path, level: Level) -> list[float]:
    """How long each request of the window took the target, in ms, ascending."""
    with log.open(newline="") as lines:
        pairs = ((int(row["received_ns"]), int(row["sent_ns"])) for row in csv.DictReader(lines))
        # Rows are in the order of responses: a slow one of the warm-up stands among the window's.
        times = sorted(pairs)
    # From the last byte of the request to the write of the response; those of the warm-up were
    # received first, and are as many as the client says.
    times = times[level["warmup"]["counts"]["attempted"] :]
    return sorted((sent - received) / 1e6 for received, sent in times)


def compared(truth: list[float], level: Level) -> list[tuple[str, Value]]:
    """The percentiles that torr shows, beside those of the log."""
    found = []
    for name, p in _PERCENTILES.items():
        seen = level["latency"]["service_ms"].get(name)
        if seen is not None:
            exact = truth[math.ceil(round(p * len(truth), 6)) - 1]
            loose = max(0.02 * exact, 1.0) if name == "p99_9" else max(0.01 * exact, 0.1)
            found.append((name, Value(seen, exact, loose)))
    return found
