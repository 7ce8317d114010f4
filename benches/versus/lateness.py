"""How late requests arrive, by the target's own log: the same measure for every tool. Pure.

The schedule of a constant rate is a grid, arrival k at k / rate after its start. A tool does not
say when its grid began, so it is laid where it flatters most but for one arrival in a hundred: at
the first percentile of (arrival − k / rate). What comes before its place on the grid is on time; a
tool that falls behind its rate gets later and later, and that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The start of a run is not judged: connections are being opened.
SETTLED_S = 1.0
EARLY_SHARE = 0.01


@dataclass(frozen=True)
class Lateness:
    """Percentiles in µs, the rate that was reached, and the arrivals it is read from."""

    p50_us: float
    p99_us: float
    reached_per_s: float
    arrivals: int


def lateness(arrivals_ns: Sequence[int], rate: int) -> Lateness:
    """Return how late these arrivals, in order, were against the grid that suits them best."""
    begin = arrivals_ns[0] + SETTLED_S * 1e9 if arrivals_ns else 0
    settled = [stamp for stamp in arrivals_ns if stamp >= begin]
    if len(settled) < 100:
        message = f"{len(settled)} arrivals after the first second are too few to judge"
        raise ValueError(message)
    period_ns = 1e9 / rate
    off = [stamp - settled[0] - number * period_ns for number, stamp in enumerate(settled)]
    grid = quantile(sorted(off), EARLY_SHARE)
    late = sorted(max(0.0, one - grid) / 1000 for one in off)
    reached = (len(settled) - 1) * 1e9 / (settled[-1] - settled[0])
    return Lateness(quantile(late, 0.5), quantile(late, 0.99), reached, len(settled))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of all does not exceed."""
    at = max(0, min(len(ordered) - 1, int(share * len(ordered) + 0.999999) - 1))
    return ordered[at]
