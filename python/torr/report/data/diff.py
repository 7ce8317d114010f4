"""Two series of levels side by side: their ratios at the levels they have in common.

One run a side has no verdict: how much a server differs from run to run was not seen. So there
are ratios, spreads, and the words "one run each"; `sides` puts verdicts where trials carry them.
Where client and target shared a machine a rate is a lower bound, and so the ratio is bounded on
one side, or, with two such rates, on none.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import msgspec

from torr import __version__
from torr.errors import UsageError
from torr.messages.message import Message, message, message_list
from torr.model.moment import stamp
from torr.results.result import SCHEMA, RunResult
from torr.results.series import LevelPoint, LevelSeries
from torr.results.verdict import Verdict
from torr.stats.series import Series
from torr.units import show_factor, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_METRICS: dict[str, Callable[[LevelPoint], float | None]] = {
    "ok_per_s": lambda point: point.ok_per_s,
    "service_ms.mean": lambda point: point.service_ms,
    "response_ms.p95": lambda point: point.p95_ms,
    "success_rate": lambda point: point.success_rate,
}


def compare(a: Series, b: Series) -> RunResult:
    """Return the diff of `b` against its baseline `a`, made now and by no command.

    `series` holds both sides, `verdicts` one ratio (b/a; success as a difference in points) a
    common level and metric. Raises UsageError when no level is in common.
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
    verdicts = (_verdict(a, b, level, metric) for level in common for metric in _METRICS)
    return RunResult(
        schema_=SCHEMA,
        torr=__version__,
        kind="diff",
        name=name,
        started=stamp(datetime.now(timezone.utc)),
        status="complete",
        series=[_without_streams(series) for series in (a, b)],
        verdicts=[verdict for verdict in verdicts if verdict is not None],
    )


def _without_streams(series: Series) -> LevelSeries:
    points = [msgspec.structs.replace(point, stream=msgspec.UNSET) for point in series.points]
    return LevelSeries(name=series.name, points=points)


def sides(result: RunResult) -> tuple[Series, Series]:
    """Return both series of a diff's result: the baseline first."""
    first, second = (Series(side.name, tuple(side.points)) for side in result.series)
    return first, second


def bound(bounds: Sequence[bool] | None) -> str:
    """Return how the true ratio lies to the one measured, of rates that may be lower bounds.

    Empty where neither is one; `≥` where only B's is, `≤` where only A's is, and `?` where both are
    and the ratio bounds nothing.
    """
    old, new = bounds or (False, False)
    return ("?" if old else "≥") if new else ("≤" if old else "")


def show_ratio(verdict: Verdict, times: str = " ×") -> str:
    """Write a verdict's ratio for people, as `show_bounded` does."""
    return show_bounded(verdict.ratio, verdict.bounds, times)


def show_bounded(ratio: float | None, bounds: Sequence[bool] | None, times: str = " ×") -> str:
    """Write a ratio for people: `0.57 ×`, `≥ 0.57 ×`, `≤ 0.57 ×`, `0.57 × ?`; `–` for none."""
    if ratio is None:
        return "–"
    text, mark = f"{show_factor(ratio)}{times}", bound(bounds)
    return f"{text} ?" if mark == "?" else f"{mark} {text}".lstrip()


def show_sides(verdict: Verdict) -> tuple[str, str]:
    """Write the rates of A and B for people, each with `≥` where it is a lower bound."""
    values = verdict.baseline_value, verdict.value
    old, new = (
        f"{'≥ ' if is_bound else ''}{show_rate(value)}"
        for value, is_bound in zip(values, verdict.bounds or (False, False), strict=True)
    )
    return old, new


def _is_bound(point: LevelPoint, metric: str) -> bool:
    """Whether a number of a level is a lower bound."""
    return {"ok_per_s": point.at_least, "response_ms.p95": point.p95_at_least}.get(metric, False)


def _verdict(a: Series, b: Series, concurrency: int, metric: str) -> Verdict | None:
    old, new = a.at(concurrency), b.at(concurrency)
    if old is None or new is None:
        return None
    before, after = _METRICS[metric](old), _METRICS[metric](new)
    if before is None or after is None:
        return None
    is_share = metric == "success_rate"
    return Verdict(
        candidate=b.name,
        baseline=a.name,
        concurrency=concurrency,
        metric=metric,
        value=after,
        baseline_value=before,
        ratio=None if is_share or before == 0 else after / before,
        difference=after - before if is_share else None,
        spreads=[old.spread, new.spread],
        bounds=[_is_bound(point, metric) for point in (old, new)],
        n=min(old.rounds, new.rounds),
        reason=_reason(old, new),
    )


def _reason(old: LevelPoint, new: LevelPoint) -> Message:
    rounds = message(
        "diff.not_interleaved",
        "{before} and {after} rounds, not interleaved",
        before=old.rounds,
        after=new.rounds,
    )
    if old.rounds == new.rounds == 1:
        rounds = message("diff.one_run_each", "one run each")
    if not (old.at_least or new.at_least):
        return rounds
    shared = message("diff.shared_machine", "a machine was shared by client and target")
    return message_list("; ", [rounds, shared])


def _levels(series: Series) -> str:
    return ", ".join(f"{point.concurrency}" for point in series.points)
