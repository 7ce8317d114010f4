"""Arrivals on the real clock: how many there were, and how far their times are from the plan's."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from truth.firing import fired, health_of, target
from truth.row import Round, Value

Times = NDArray[np.float64]

BAR = "achieved = planned within 0.1 %"
# Beyond, what a request costs is as long as the distance to the next.
_JUDGED_RATE = 1000
_KS = 0.02


def paced(rate: int, how: str) -> Callable[[int], Round]:
    """Arrivals at a rate, `constant` or `poisson`."""

    def measure(seconds: int) -> Round:
        # A tenth of a percent of few is less than one.
        seconds = max(seconds, 200 // rate)
        with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
            log = Path(place) / "sent.csv"
            words = ("--rate", str(rate), "--arrivals", how, "-c", "64", "-z", f"{seconds}s")
            with target("hello") as (url, _):
                level = fired(url, *words, "--log", str(log))
            intended, sent = times(log)
        planned = level["counts"]["planned"] / level["seconds"]
        values = {"achieved/s": Value(level["attempted_per_s"], planned, 0.001 * planned)}
        aside = health_of(level) | {
            "lag p99 ms": level["latency"]["scheduling_lag_ms"]["p99"] or 0.0
        }
        if how == "constant":
            values["planned/s"] = Value(planned, rate, 0.001 * rate)
            distance = from_even(sent, intended[0], rate)
        else:
            distance = from_plan(np.diff(sent), np.diff(intended))
            aside["KS to exponential"] = from_exponential(np.diff(sent), rate)
        if rate <= _JUDGED_RATE:
            values["KS"] = Value(distance, 0, _KS)
        else:
            aside["KS"] = distance
        return Round(values, aside)

    return measure


def times(log: Path) -> tuple[Times, Times]:
    """When the requests of the window were due and when they were sent, in s, ascending."""
    with log.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["phase"] == "measure"]
    read = (np.array([int(row[name]) for row in rows]) for name in ("intended_ns", "sent_ns"))
    intended, sent = (np.sort(ns) for ns in read)
    return (intended - intended[0]) / 1e9, (sent - intended[0]) / 1e9


def from_even(sent: Times, start: float, rate: int) -> float:
    """Kolmogorov–Smirnov distance of the times from times that fill the window evenly."""
    share = (sent - start) / (len(sent) / rate)
    return float(stats.kstest(share, stats.uniform.cdf).statistic)


def from_plan(sent: Times, intended: Times) -> float:
    """The distance between the gaps as they were sent and as they were due."""
    return float(stats.ks_2samp(sent, intended, method="asymp").statistic)


def from_exponential(gaps: Times, rate: int) -> float:
    """The distance of the gaps from exponential ones, by chance about 0.9/√n."""
    return float(stats.kstest(gaps * rate, stats.expon.cdf).statistic)
