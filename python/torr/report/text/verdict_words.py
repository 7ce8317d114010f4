"""Words and numbers of verdicts as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.stats.estimate import ALPHA
from torr.stats.metric import Metric
from torr.units import show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.results.verdict import Verdict


def coverage(found: Iterable[Verdict]) -> str:
    """Return how surely intervals hold what they are about: `95 %`, or `98.3 %` of three looks."""
    alpha = max((verdict.alpha for verdict in found if verdict.alpha), default=ALPHA)
    return f"{100 * (1 - alpha):.3g} %"


def is_comparison(verdict: Verdict) -> bool:
    """Return whether a verdict is about a candidate and has a word: no SLO, and no mere ratio."""
    return verdict.baseline is not None and verdict.word is not None


def metric_of(verdict: Verdict) -> Metric:
    """Return what a verdict is about."""
    return Metric(verdict.metric, verdict.request)


def printed(verdict: Verdict) -> str:
    """Return the word as it is printed: faster or slower for times and rates."""
    return metric_of(verdict).word(verdict.word or "")


def show_number(metric: Metric, value: float | None) -> str:
    """Write a number of a metric with its unit."""
    if metric.is_time:
        return show_ms(value)
    if metric.is_share:
        return show_percent(value)
    if metric.key.endswith("_bytes"):
        return show_size(value)
    return f"{show_rate(value)} µs" if metric.key.endswith("_us_per_request") else show_rate(value)
