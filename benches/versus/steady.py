"""10,000 requests/s for a minute: how far from the plan, and how late by torr's own measure."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING

from versus.bars import Limit, judge
from versus.places import TORR, in_use, scratch
from versus.row import Measured, Plan
from versus.shot import spend

if TYPE_CHECKING:
    from common.nginx import Nginx

RATE = 10_000
OFF = Limit(0.1, "%")
LAG = Limit(1.0, "ms")


def measure(nginx: Nginx, plan: Plan) -> Measured:
    """One run; a tenth as long where shots are short."""
    length = "60s" if plan.seconds > 2 else "6s"
    words = ["--rate", str(RATE), "-c", "64", "-z", length, "--workers", "1", "-o", "json"]
    command = [TORR, "run", nginx.url("/small"), *words, "-d", str(scratch())]
    level = json.loads(spend(command).output)["levels"][0]
    intervals = [one for one in level["intervals"] if one["phase"] == "measure"]
    # An interval with too few values for its p99 has none: the last one, cut short.
    found = [one["latency"]["scheduling_lag_ms"]["p99"] for one in intervals]
    lags = [lag for lag in found if lag is not None]
    sixth = max(len(intervals) // 6, 1)
    first, last = statistics.median(lags[:sixth]), statistics.median(lags[-sixth:])
    counts = [one["counts"]["attempted"] for one in intervals]
    off = abs(level["attempted_per_s"] / RATE - 1) * 100
    lag = level["latency"]["scheduling_lag_ms"]
    keys = ("counts", "attempted_per_s", "ok_per_s", "latency", "health")
    kept = {"round": 0, "command": in_use(command), **{key: level[key] for key in keys}}
    reached = f"{level['attempted_per_s']:,.1f}/s, intervals {min(counts):,} … {max(counts):,}"
    drift = f"p99 of the first and last sixth {first:.3f} and {last:.3f} ms"
    bars = [
        judge("off the plan", [off], OFF, reached),
        judge("own lag p99", [lag["p99"]], LAG, drift),
    ]
    return Measured(bars, [kept])
