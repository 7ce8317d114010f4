"""A load from three nodes, which are processes of this machine: its counts, cost and pacing."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np

from truth.arrivals import times
from truth.firing import Level, fired, generating, health_of, level_of, target
from truth.row import Round, Value

BAR = "counts equal, rate within 0.1 %, p99 late ≤ 1 ms, CPU per request ≤ 1.03 × local"
PROGRAM = Path(__file__).with_name("torr_of_nodes.py")
NODES = 3
RATE = 3000
"""Of each node, and of the worker that is compared with them."""
_LATE_MS = 1.0
_COST = 1.03


def measure(seconds: int) -> Round:
    """Send the rate of three workers from three nodes, and that of one from here."""
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
        log = Path(place) / "sent.csv"
        with target("hello") as (url, _):
            here = fired(url, "--rate", f"{RATE}", "-c", "64", "-z", f"{seconds}s")
        with target("hello") as (url, process):
            words = ("--rate", f"{NODES * RATE}", "-c", f"{NODES * 64}", "-z", f"{seconds}s")
            level = from_nodes(url, place, *words)
            process.send_signal(signal.SIGTERM)
            received = json.loads((process.stdout or sys.stdin).readlines()[-1])["requests"]
        with target("hello") as (url, _):
            from_nodes(url, place, *words, "--log", str(log))
        intended, sent = times(log)
    late = float(np.quantile(1000 * (sent - intended), 0.99))
    cost = cpu_us(level) / cpu_us(here)
    attempted = level["counts"]["attempted"] + level["warmup"]["counts"]["attempted"]
    return Round(
        {
            "requests": Value(attempted, received, 0),
            "achieved/s": Value(level["attempted_per_s"], NODES * RATE, 0.001 * NODES * RATE),
            "late p99 ms": Value(max(late, 0), 0, _LATE_MS),
            "CPU ÷ here": Value(max(cost, 1), 1, _COST - 1),
        },
        health_of(level) | {"CPU µs": cpu_us(level), "CPU µs here": cpu_us(here)},
    )


def from_nodes(url: str, place: str, *words: str) -> Level:
    """Return the level of a load of three nodes with a worker each."""
    cluster = ("--nodes", "all", "--cluster", "here:1", "--workers", "1")
    command = [sys.executable, str(PROGRAM), "run", url, *cluster, *words, "-o", "json"]
    with generating([*command, "-d", place]) as process:
        return level_of(process)


def cpu_us(level: Level) -> float:
    """Return the processor time of all workers for a request."""
    rates = map(float, level["health"]["worker_cpu_rate"])
    return 1e4 * sum(rates) / float(level["attempted_per_s"])
