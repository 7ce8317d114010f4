"""Ratios and intervals of verdicts as text, in sentences and in tables.

A ratio is written as `0.88 ×` in tables and as `12 %` in sentences; a difference of shares in
percentage points. What is a lower bound, since client and target shared the machine, is marked.
Where something forbids a claim, as survivors against survivors, none is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data import diff
from torr.report.text.verdict_words import show_number
from torr.units import show_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.verdict import Verdict
    from torr.stats.metric import Metric


DIGITS = 3
"""Decimals of a ratio in tables of verdicts."""
_PERCENT_UP_TO = 2.0
"""Ratios from here on are written as multiples."""


def ratio(verdict: Verdict, digits: int = 2) -> str:
    """Return the difference for a table: `0.88 ×`, `≥ 0.88 ×`, `+0.40 points`; `–` for none."""
    if verdict.obstacle:
        return "–"
    if verdict.difference is not None:
        return say("{difference:+.2f} points", difference=verdict.difference)
    return diff.show_ratio(verdict, digits)


def interval(verdict: Verdict, digits: int = 2) -> str:
    """Return the interval for a table: `0.85–0.91`, `+0.30 to +0.50`; `–` where there is none."""
    ends = verdict.interval
    if ends is None or verdict.obstacle:
        return "–"
    if verdict.difference is not None:
        low, high = (_end(end, "+.2f") for end in ends)
        return say("{low} to {high}", low=low, high=high)
    return _span(ends, digits)


def change(verdict: Verdict) -> str | None:
    """Return how far from 1 a ratio is, in percent of the baseline: `12 %`; None for none."""
    ratio = verdict.ratio
    return None if not ratio else f"{_percents([ratio], ratio)[0]} %"


def change_interval(verdict: Verdict) -> str:
    """Return the interval of `change`: `9–15 %`, with signs where it lies on both sides of 1."""
    centre = verdict.ratio
    if verdict.interval is None or not centre:
        return ""
    low, high = verdict.interval
    if low is None or high is None:
        return interval(verdict)
    if low < 1 < high:
        below, above = (f"{100 * (end - 1):+.1f}".replace("-", "−") for end in (low, high))
        return say("{low} to {high} %", low=below, high=above)
    near, far = _percents((low, high) if centre > 1 else (high, low), centre)
    return f"{near}–{far} %"


def is_multiple(verdict: Verdict) -> bool:
    """Return whether a ratio is easier to read as a multiple than in percent."""
    return verdict.ratio is not None and verdict.ratio >= _PERCENT_UP_TO


def value(metric: Metric, number: float | None) -> str:
    """Return a number of a metric for people, with its unit where its name does not say it."""
    return "–" if number is None else show_number(metric, number)


def _percents(ratios: Sequence[float], centre: float) -> list[str]:
    """Return distances from 1 in percent: whole numbers where they differ."""
    distances = [100 * abs(ratio - 1) for ratio in ratios]
    is_fine = 100 * abs(centre - 1) < 3 or len(set(map(round, distances))) < len(distances)
    return [f"{distance:.{1 if is_fine else 0}f}" for distance in distances]


def _span(ends: Sequence[float | None], digits: int) -> str:
    low, high = (_factor(end, digits) for end in ends)
    if low == high and ends[0] != ends[1]:
        low, high = (_factor(end, digits + 1) for end in ends)
    return f"{low}–{high}"


def _factor(end: float | None, digits: int) -> str:
    return "∞" if end is None else show_factor(end, digits)


def _end(end: float | None, digits: str) -> str:
    return "∞" if end is None else format(end, digits).replace("-", "−")
