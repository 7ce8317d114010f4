"""Tables of a result as plain text cells, for the page and the summary alike.

Each function reads result.json's content and returns a Table, or None where there is nothing to
show. Cells carry their unit in the column's name; numbers are rounded for people, exact ones are in
result.json and levels.csv.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, TypeVar

from torr.messages.say import Text, chain, say
from torr.report.data import diff
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.cells import TIME_STATS, Table, cell, is_bound, usable
from torr.report.tables.comparison_slos import interval_of
from torr.report.text.claims import rate_of
from torr.results.level import ConnectionCounts
from torr.results.verdict import Verdict
from torr.stats.series import Series, by_concurrency, noun_of
from torr.units import show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.results.capacity import Knee, Peak, SloCapacity, UslFit
    from torr.results.level import Level
    from torr.results.result import RunResult

_Claim = TypeVar("_Claim")
_RATIOS = ("ok_per_s", "success_rate", "service_ms.mean", "response_ms.p95")
_TIMES = ("response", "service", "ttfb", "queue_wait", "connect", "tls", "scheduling_lag")


def levels(result: RunResult) -> Table | None:
    """Return one row a level of concurrency, the median of its rounds."""
    if not result.levels:
        return None
    series = Series.of("", result.levels)
    points = {point.concurrency: point for point in series.shown}
    rows = []
    for concurrency, rounds in by_concurrency(result.levels).items():
        point = points[concurrency]
        claiming = usable(rounds)
        spread = "–" if point.spread is None else f"{100 * point.spread:.1f} %"
        rows.append(
            (
                f"{concurrency:,}",
                f"{'≥ ' if point.at_least else ''}{show_rate(point.ok_per_s)}",
                spread,
                show_ms(point.service_ms),
                *(_middle(claiming, stat) for stat in ("p50", "p95", "p99")),
                show_percent(point.success_rate),
                _health(rounds),
            )
        )
    columns = (heading(series.noun), "ok/s", say("spread"), say("mean TTLB"), "p50", "p95", "p99")
    return Table((*columns, say("success"), say("health")), tuple(rows), frozenset({8}))


def times(level: Level) -> Table | None:
    """Return the percentiles of one level: one row a kind of time."""
    rows = []
    for name in _TIMES:
        stats = level.latency.time(f"{name}_ms")
        if stats:
            rows.append((name, f"{stats.n:,}", *(cell(stats, s) for s in TIME_STATS)))
    columns = (say("time"), "n", *(stat.replace("_", ".") for stat in TIME_STATS))
    return Table(columns, tuple(rows)) if rows else None


def throughput(level: Level) -> Table:
    """Return what one level sent and received, one row a number."""
    counts = level.counts
    at_least = "≥ " if level.is_contended else ""
    connections = level.connections or ConnectionCounts()
    opened = {"open": connections.open_max, "requested": connections.requested}
    rows = [
        (say("ok requests/s"), f"{at_least}{show_rate(level.ok_per_s)}"),
        (say("attempted"), f"{counts.attempted:,}"),
        ("ok", f"{counts.ok:,}"),
        (say("errors"), f"{counts.failed:,}"),
        (say("success"), show_percent(level.success_rate)),
        (say("in flight at the end"), f"{counts.in_flight:,}"),
        (say("dropped"), f"{counts.dropped:,}"),
        (say("measured window"), f"{level.seconds:g} s"),
        (say("open connections"), say("{open:,} of {requested:,}", **opened)),
        (say("received"), show_size(level.bytes_in)),
        (say("sent"), show_size(level.bytes_out)),
    ]
    # Nobody asks for connections where users make their own, and some are nobody's to count.
    is_unknown = level.is_of_locust and not connections.opened
    kept = [row for row in rows if not (is_unknown and row[0] == "open connections")]
    return Table(("", say("measured")), tuple(kept))


def capacity(result: RunResult) -> Table | None:
    """Return peak, knee, capacity under SLO and scalability, or why each is not claimed."""
    found = result.capacity
    if found is None:
        return None
    reasons = found.reasons
    rows = [
        (say("peak"), *_claim(found.peak, reasons.get("peak"), _peak)),
        (say("knee"), *_claim(found.knee, reasons.get("knee"), _knee)),
        (say("capacity under SLO"), *_claim(found.slo, reasons.get("slo"), _slo)),
        (say("USL fit"), *_claim(found.usl, reasons.get("usl"), _usl)),
    ]
    if found.usl:
        rows.append((say("USL peak N*"), *_n_star(found.usl, reasons.get("n_star"))))
    return Table(("", say("at"), say("what it says")), tuple(rows), frozenset({0, 2}))


def slos(result: RunResult) -> Table | None:
    """Return one row a level and SLO."""
    rows = tuple(
        (
            f"{verdict.concurrency:,}",
            verdict.condition or "",
            _with_unit(verdict.value, verdict.unit),
            interval_of(verdict) or "–",
            word_text(verdict.word or ""),
            verdict.reason or "",
        )
        for verdict in result.slo_verdicts
    )
    words = frozenset({1, 4, 5})
    columns = (
        *(heading(noun_of(result.levels)), "SLO", say("value")),
        *(say("{share} interval", share="90 %"), say("word"), say("reason")),
    )
    return Table(columns, rows, words) if rows else None


def errors(result: RunResult) -> Table | None:
    """Return one row a level and class of errors, with its reasons."""
    rows = []
    for level in result.levels:
        found = {name: n for name, n in level.counts.errors.items() if n}
        for name, n in sorted(found.items(), key=lambda item: -item[1]):
            rows.append(
                (
                    f"{level.concurrency:,}",
                    name,
                    f"{n:,}",
                    show_percent(100 * n / level.counts.ended),
                    _reasons(level, name),
                )
            )
    columns = (say("class"), say("count"), say("of attempts"), say("reasons"))
    names = (heading(noun_of(result.levels)), *columns)
    return Table(names, tuple(rows), frozenset({1, 4})) if rows else None


def statuses(result: RunResult) -> Table | None:
    """Return the count of each status code, one row a level."""
    codes = sorted({code for level in result.levels for code in level.statuses})
    rows = tuple(
        (
            f"{level.concurrency:,}",
            f"{level.round}",
            *(f"{level.statuses.get(code, 0):,}" for code in codes),
        )
        for level in result.levels
    )
    columns = (heading(noun_of(result.levels)), say("round"), *codes)
    return Table(columns, rows, frozenset()) if codes else None


def ratios(result: RunResult) -> Table | None:
    """Return one row a common level of a diff: both values and their ratio, bounds marked."""
    grouped: dict[int | None, dict[str, Verdict]] = {}
    for verdict in result.verdicts:
        grouped.setdefault(verdict.concurrency, {})[verdict.metric] = verdict
    if not grouped:
        return None
    a, b = (side.name for side in result.series)
    # A .dat knows no p95: columns without any value are left out.
    has_p95 = any("response_ms.p95" in found for found in grouped.values())
    rows = []
    for concurrency, found in grouped.items():
        rate, share, service, p95 = (
            found.get(metric) or Verdict(metric=metric) for metric in _RATIOS
        )
        rows.append(
            (
                f"{concurrency:,}",
                *diff.show_sides(rate),
                diff.show_ratio(rate),
                *_times_of(service),
                *(_times_of(p95) if has_p95 else ()),
                f"{show_percent(share.baseline_value)} / {show_percent(share.value)}",
                spreads(rate),
            )
        )
    times = ("TTLB", "p95") if has_p95 else ("TTLB",)
    columns: list[str] = [heading("connection")]
    for name in ("ok/s", *times):
        columns += [f"{name} {a}", f"{name} {b}", say("ratio")]
    return Table((*columns, say("success"), say("spread of ok/s")), tuple(rows), frozenset())


def spreads(verdict: Verdict) -> str:
    """Return the spread of both sides of a diff, as percent: `1.2 % / 3.0 %`."""
    each = verdict.spreads or ()
    return " / ".join("–" if s is None else f"{100 * s:.1f} %" for s in each) or "–"


def _times_of(time: Verdict) -> tuple[str, str, str]:
    """Both sides' times and their ratio."""
    return show_ms(time.baseline_value), show_ms(time.value), diff.show_ratio(time)


def _middle(rounds: Sequence[Level], stat: str) -> str:
    """The median of a response time over rounds; `≥` when one of them is a lower bound."""
    times = [level.latency.response for level in rounds]
    known = [value for time in times if (value := time.value(stat)) is not None]
    if not known:
        return "–"
    at_least = any(is_bound(time, stat) for time in times)
    dropped = any(level.counts.dropped for level in rounds)
    text = show_ms(median(known))
    return f"≥ {text}" if at_least or dropped else text


def _health(rounds: Sequence[Level]) -> str:
    words = list(map(word_text, dict.fromkeys(level.health.verdict for level in rounds)))
    if any(level.cut_short for level in rounds):
        words.append(say("cut short"))
    if any(level.is_starved for level in rounds):
        words.append(say("users starved"))
    return chain(", ", words)


def _claim(
    claim: _Claim | None, reason: str | None, write: Callable[[_Claim], tuple[str, str]]
) -> tuple[str, str]:
    return ("–", _not_claimed(reason)) if claim is None else write(claim)


def _not_claimed(reason: str | None) -> Text:
    return say("not claimed: {why}", why=reason) if reason else say("not claimed")


def _peak(peak: Peak) -> tuple[str, str]:
    plateau = chain(", ", [f"{level:,}" for level in peak.plateau])
    near = say("within 5 % of it at {levels}", levels=plateau)
    return f"{peak.concurrency:,}", chain("; ", [rate_of(peak), near])


def _knee(knee: Knee) -> tuple[str, str]:
    said = {"rate": rate_of(knee), "time": show_ms(knee.service_ms)}
    text = say("{rate} in {time} on average: the best trade of both", **said)
    return f"{knee.concurrency:,}", text


def _slo(slo: SloCapacity) -> tuple[str, str]:
    conditions = chain(", ", slo.conditions)
    held = say("{rate} with {conditions}", rate=rate_of(slo), conditions=conditions)
    end = say("no higher level shows where it ends") if slo.beyond is None else _beyond(slo.beyond)
    return f"{slo.concurrency:,}", chain("; ", [held, end])


def _beyond(beyond: Verdict) -> Text:
    """The first level that did not hold it."""
    value = _with_unit(beyond.value, beyond.unit)
    if beyond.value is None:
        value = beyond.reason or value
    said = {
        "condition": beyond.condition or "",
        "word": word_text(beyond.word or ""),
        "value": value,
    }
    at = f"{beyond.concurrency:,}"
    return say("at {level} {condition} is {word} ({value})", level=at, **said)


def _usl(usl: UslFit) -> tuple[str, str]:
    parts = f"λ {usl.lambda_:,.4g}/s, σ {usl.sigma:.4g}, κ {usl.kappa:.3g}"
    return "", f"{parts}; R² {usl.r2:.4f}, rms {100 * (usl.rms or 0):.1f} %"


def _n_star(usl: UslFit, reason: str | None) -> tuple[str, str]:
    if usl.n_star is None:
        return "–", _not_claimed(reason)
    text = say("throughput falls past it")
    if usl.n_star_interval:
        low, high = usl.n_star_interval
        span = say("{low:,.0f} to {high:,.0f}", low=low, high=high)
        text = say("{text} (95 % interval {span})", text=text, span=span)
    return f"{usl.n_star:,.0f}", text


def _reasons(level: Level, name: str) -> str:
    found = {r: n for r, n in level.reasons.items() if r.startswith(f"{name}.")}
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {n:,}" for reason, n in ordered)


def _with_unit(value: float | None, unit: str | None) -> str:
    if unit == "ms":
        return show_ms(value)
    if unit == "%":
        return show_percent(value)
    return "–" if value is None else f"{show_rate(value)}{unit or ''}"
