"""A target that is stopped for 2 s of 20: what its users felt follows by counting."""

from __future__ import annotations

import signal
import time

from truth.firing import Level, firing, health_of, level_of, target
from truth.row import Round, Value

BAR = "p50 p75 max(1 %, 0.1 ms), p95 p99 p99.9 2 %, healthy; few connections: service as wrk's"

# A tenth of the requests meet the stop, and those wait for 0 to 2 s, each time as likely.
_FELT_MS = {"p95": 1000.0, "p99": 1800.0, "p99_9": 1980.0}
# Enough for p99.9, and a twentieth of what the target can do at the most.
_RATE = 520
_STOP_S = 2
# Twice what the rate needs; while the target is stopped, all others wait for one of them.
_FEW = 10


def measure(_seconds: int) -> Round:
    """Response times in ms against what they must be, and service times of few connections."""
    # Connections for all who wait: none of them has to wait for one after the stop.
    level, few = stopped(_RATE * _STOP_S + 100), stopped(_FEW)
    response = level["latency"]["response_ms"]
    values = {name: Value(response[name], 10.0, 0.1) for name in ("p50", "p75")}
    values |= {name: Value(response[name] or 0, ms, 0.02 * ms) for name, ms in _FELT_MS.items()}
    is_blamed = [one["health"]["verdict"] != "healthy" for one in (level, few)]
    values["blamed on the generator"] = Value(float(any(is_blamed)), 0, 0)
    # wrk would have met the stop with so many requests as it has connections: no percentile shows.
    service, felt = (few["latency"][f"{name}_ms"]["p99"] for name in ("service", "response"))
    values["service p99, few connections"] = Value(service, 10.0, 1.0)
    values["felt beside it, at least"] = Value(min(felt, 1800.0), 1800.0, 0.02 * 1800)
    return Round(values, health_of(level))


def stopped(connections: int) -> Level:
    """The level of a run whose target is stopped in the middle of the window."""
    # What is late by the scheduler is not the target's, and the bar of p50 leaves it no room.
    spin = ("--spin", "--warmup", "2s")
    words = ("--rate", str(_RATE), "-c", str(connections), "-z", "20s", *spin)
    # Both cores for the target: what piled up goes out as fast as it can, and torr needs little.
    serving = target("delay", "--delay", "10ms", "--threads", "2", cores="0,1")
    with serving as (url, process), firing(url, *words) as run:
        time.sleep(10)
        process.send_signal(signal.SIGSTOP)
        time.sleep(_STOP_S)
        process.send_signal(signal.SIGCONT)
        return level_of(run)
