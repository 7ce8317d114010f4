"""The sides of a diff, and how its ratios are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.stats.series import Series, noun_of_points
from torr.units import show_factor, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def sides(result: RunResult) -> tuple[Series, Series]:
    """Return both series of a diff's result: the baseline first."""
    first, second = (
        Series(side.name, tuple(side.points), noun=noun_of_points(side.points))
        for side in result.series
    )
    return first, second


def noun(result: RunResult) -> str:
    """Return the unit of the levels of a diff, which both sides have."""
    return noun_of_points(point for side in result.series for point in side.points)


def bound(bounds: Sequence[bool] | None) -> str:
    """Return how the true ratio lies to the one measured, of rates that may be lower bounds.

    Empty where neither is one; `≥` where only B's is, `≤` where only A's is, and `?` where both are
    and the true ratio is unknown.
    """
    old, new = bounds or (False, False)
    return ("?" if old else "≥") if new else ("≤" if old else "")


def show_ratio(verdict: Verdict, digits: int = 2) -> str:
    """Write a verdict's ratio for people, as `show_bounded` does."""
    return show_bounded(verdict.ratio, verdict.bounds, digits)


def show_bounded(ratio: float | None, bounds: Sequence[bool] | None, digits: int = 2) -> str:
    """Write a ratio for people: `0.57 ×`, `≥ 0.57 ×`, `≤ 0.57 ×`, `0.57 × ?`; `–` for none."""
    if ratio is None:
        return "–"
    text, mark = f"{show_factor(ratio, digits)} ×", bound(bounds)
    return f"{text} ?" if mark == "?" else f"{mark} {text}".lstrip()


def show_sides(verdict: Verdict) -> tuple[str, str]:
    """Write the rates of A and B for people, each with `≥` where it is a lower bound."""
    values = verdict.baseline_value, verdict.value
    old, new = (
        f"{'≥ ' if is_bound else ''}{show_rate(value)}"
        for value, is_bound in zip(values, verdict.bounds or (False, False), strict=True)
    )
    return old, new
