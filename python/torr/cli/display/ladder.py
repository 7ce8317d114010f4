"""Display a ladder: medians of rounds, streams, capacity, and the errors of the worst level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.cli.display import errors
from torr.cli.display.run import LEAST_OF_STREAMS
from torr.messages.counts import levels_of
from torr.messages.say import Text, chain, say
from torr.report.tables.stream_tables import streams_of_levels
from torr.results.capacity import Capacity, Knee, Peak, SloCapacity, UslFit
from torr.stats.series import Series, noun_of
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.cli.screen import Screen
    from torr.results.result import RunResult


LEAST_OF_MEDIANS = ("spread", "mean")


def show(result: RunResult, out: Screen) -> None:
    """Print the ladder."""
    out.line()
    if max((level.round for level in result.levels), default=1) > 1:
        _show_medians(result, out)
        out.line()
    _show_streams(result, out)
    out.pairs(_capacity(result))
    worst = [level for level in result.levels if level.counts.errors]
    if worst:
        level = max(worst, key=lambda x: x.counts.failed)
        errors.show(say("errors at {level:,}", level=level.concurrency), level, out)


def _show_medians(result: RunResult, out: Screen) -> None:
    series = Series.of(result.name, result.levels)
    names = (
        say("median of rounds"),
        "ok/s",
        say("mean"),
        "p95",
        say("success"),
        say("spread"),
    )
    rows = tuple(
        (
            f"{point.concurrency:,}",
            show_rate(point.ok_per_s),
            show_ms(point.service_ms),
            show_ms(point.p95_ms),
            show_percent(point.success_rate),
            show_percent(100 * point.spread) if point.spread is not None else "–",
        )
        for point in series.points
    )
    out.table(out.columns(names, rows).fitting(out.width, LEAST_OF_MEDIANS))


def _show_streams(result: RunResult, out: Screen) -> None:
    """Print a row for each level whose answers are streams."""
    streams = streams_of_levels(result)
    if streams is not None:
        out.table(out.columns(streams.columns, streams.rows).fitting(out.width, LEAST_OF_STREAMS))
        out.line()


def _capacity(result: RunResult) -> dict[str, str]:
    """Return a line for peak, knee, capacity and USL, with the reason if there is none."""
    capacity = result.capacity or Capacity()
    reasons = capacity.reasons
    noun = noun_of(result.levels)
    lines = {
        say("peak"): _peak(capacity.peak, noun) or _none(reasons.get("peak")),
        say("knee"): _at(capacity.knee, noun) or _none(reasons.get("knee")),
        say("under SLO"): _at(capacity.slo, noun) or _none(reasons.get("slo")),
        "USL": _usl(capacity.usl, reasons.get("n_star")) or _none(reasons.get("usl")),
    }
    limited = [x for x in result.levels if x.is_limited]
    if limited:
        where = _listed(dict.fromkeys(level.concurrency for level in limited))
        lines[say("no claim")] = say("{levels}: limited by the generator", levels=where)
    series = Series.of("", result.levels)
    for name, points in ((say("cut short"), series.cut), (say("starved"), series.starved)):
        if points:
            where = _listed(point.concurrency for point in points)
            lines[name] = say("{levels}: claims nothing", levels=where)
    return lines


def _none(reason: str | None) -> Text:
    return say("– ({why})", why=reason or say("no reason was recorded"))


def _listed(levels: Iterable[int]) -> Text:
    return chain(", ", [f"{level:,}" for level in levels])


def _peak(peak: Peak | None, noun: str) -> str | None:
    if peak is None:
        return None
    near = say("within 5 % of it at {levels}", levels=levels_of(peak.plateau, noun))
    return say("{rate}, {near}", rate=_rate(peak), near=near)


def _at(claim: Knee | SloCapacity | None, noun: str) -> str | None:
    if claim is None:
        return None
    text = say("{place}, {rate}", place=levels_of([claim.concurrency], noun), rate=_rate(claim))
    if not isinstance(claim, Knee):
        return text
    return say("{said}, {time} on average", said=text, time=show_ms(claim.service_ms))


def _usl(usl: UslFit | None, why_no_peak: str | None) -> str | None:
    if usl is None:
        return None
    n_star = usl.n_star
    peak: str = f"N* {n_star:,.0f}" if n_star else say("no N* ({why})", why=why_no_peak or "")
    law = f"λ {usl.lambda_:.4g}, σ {usl.sigma:.3g}, κ {usl.kappa:.3g}"
    return say("{law}, {peak}, R² {r2:.3f}", law=law, peak=peak, r2=usl.r2)


def _rate(claim: Peak | Knee | SloCapacity) -> Text:
    bound = "≥ " if claim.at_least else ""
    return say("{rate} ok/s", rate=f"{bound}{show_rate(claim.ok_per_s)}")
