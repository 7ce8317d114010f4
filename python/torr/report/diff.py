"""Two series of levels side by side: their ratios at the levels they have in common.

One run a side has no verdict: how much a server differs from run to run was not seen. So there
are ratios, spreads, and the words "one run each"; `sides` puts verdicts where trials carry them.
Where client and target shared a machine a rate is a lower bound, and so the ratio is bounded on
one side, or, with two such rates, on none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from torr import __version__
from torr.errors import UsageError
from torr.stats.series import Point, Series
from torr.units import show_factor, show_rate

_METRICS: dict[str, Callable[[Point], float | None]] = {
    "ok_per_s": lambda point: point.ok_per_s,
    "service_ms.mean": lambda point: point.service_ms,
    "response_ms.p95": lambda point: point.p95_ms,
    "success_rate": lambda point: point.success_rate,
}


def compare(a: Series, b: Series) -> dict[str, Any]:
    """Return the diff of `b` against its baseline `a`, as result.json of kind `diff` holds it.

    The caller adds when and by which command. `series` holds both sides, `verdicts` one ratio
    (b/a; success as a difference in points) a common level and metric. Raises UsageError when no
    level is in common.
    """
    common = [point.concurrency for point in a.points if b.at(point.concurrency)]
    if not common:
        raise UsageError(
            f"{a.name} and {b.name} have no level in common: {_levels(a)} against {_levels(b)}",
            "run both ladders with the same --levels",
        )
    name = f"{a.name}_{b.name}"
    if a.name == b.name:
        a, b = replace(a, name=f"{a.name} (A)"), replace(b, name=f"{b.name} (B)")
    return {
        "schema": 1,
        "torr": __version__,
        "kind": "diff",
        "name": name,
        "levels": [],
        "series": [{"name": s.name, "points": list(map(_as_json, s.points))} for s in (a, b)],
        "verdicts": [
            verdict
            for concurrency in common
            for metric in _METRICS
            if (verdict := _verdict(a, b, concurrency, metric)) is not None
        ],
    }


def _as_json(point: Point) -> dict[str, Any]:
    """A point without its streams, of which a diff says nothing."""
    return {key: value for key, value in asdict(point).items() if key != "stream"}


def sides(result: dict[str, Any]) -> tuple[Series, Series]:
    """Return both series of a diff's result: the baseline first."""
    first, second = (
        Series(side["name"], tuple(Point(**point) for point in side["points"]))
        for side in result["series"]
    )
    return first, second


def ratios(result: dict[str, Any], metric: str = "ok_per_s") -> dict[int, float]:
    """Return the ratio b/a of a metric at each common level."""
    return {
        verdict["concurrency"]: verdict["ratio"]
        for verdict in result["verdicts"]
        if verdict["metric"] == metric and verdict["ratio"] is not None
    }


def is_judged(verdict: Mapping[str, Any]) -> bool:
    """Whether it stands on trials of both sides, and so has a word."""
    return verdict.get("word") is not None


def bound(verdict: Mapping[str, Any]) -> str:
    """Return how the true ratio lies to the one measured, of rates that may be lower bounds.

    Empty where neither is one; `≥` where only B's is, `≤` where only A's is, and `?` where both are
    and the ratio bounds nothing.
    """
    old, new = verdict.get("bounds") or (False, False)
    return ("?" if old else "≥") if new else ("≤" if old else "")


def show_ratio(verdict: Mapping[str, Any], times: str = " ×") -> str:
    """Write a ratio for people: `0.57 ×`, `≥ 0.57 ×`, `≤ 0.57 ×`, `0.57 × ?`; `–` for none."""
    ratio, mark = verdict.get("ratio"), bound(verdict)
    if ratio is None:
        return "–"
    text = f"{show_factor(ratio)}{times}"
    return f"{text} ?" if mark == "?" else f"{mark} {text}".lstrip()


def show_sides(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """Write the rates of A and B for people, each with `≥` where it is a lower bound."""
    values = verdict.get("baseline_value"), verdict.get("value")
    old, new = (
        f"{'≥ ' if is_bound else ''}{show_rate(value)}"
        for value, is_bound in zip(values, verdict.get("bounds") or (False, False), strict=True)
    )
    return old, new


def _is_bound(point: Point, metric: str) -> bool:
    """Whether a number of a level is a lower bound."""
    return {"ok_per_s": point.at_least, "response_ms.p95": point.p95_at_least}.get(metric, False)


def _verdict(a: Series, b: Series, concurrency: int, metric: str) -> dict[str, Any] | None:
    old, new = a.at(concurrency), b.at(concurrency)
    if old is None or new is None:
        return None
    before, after = _METRICS[metric](old), _METRICS[metric](new)
    if before is None or after is None:
        return None
    points = metric == "success_rate"
    return {
        "candidate": b.name,
        "baseline": a.name,
        "factors": {},
        "concurrency": concurrency,
        "metric": metric,
        "value": after,
        "baseline_value": before,
        "ratio": None if points or before == 0 else after / before,
        "difference": after - before if points else None,
        "spreads": [old.spread, new.spread],
        "bounds": [_is_bound(point, metric) for point in (old, new)],
        "n": min(old.rounds, new.rounds),
        "word": None,
        "reason": _reason(old, new),
    }


def _reason(old: Point, new: Point) -> str:
    shared = "; a machine was shared by client and target" if old.at_least or new.at_least else ""
    if old.rounds == new.rounds == 1:
        return f"one run each{shared}"
    return f"{old.rounds} and {new.rounds} rounds, not interleaved{shared}"


def _levels(series: Series) -> str:
    return ", ".join(f"{point.concurrency}" for point in series.points)
