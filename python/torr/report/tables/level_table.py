"""Tables of runs, ladders and diffs as cells of text, for the page and the summary alike.

Cells carry their unit in the column's name; numbers are rounded for people, exact ones are in
result.json and levels.csv.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from torr.messages.say import Text, chain, say
from torr.report.data import diff
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.slo_table import value_of
from torr.report.tables.table import (
    TIME_STATS,
    Table,
    TableBuilder,
    bounded,
    is_bound,
    median_of,
    show_spread,
    time_cell,
    usable,
)
from torr.report.tables.trace_rows import trace_rows
from torr.report.text.claims import rate_of
from torr.results.level import ConnectionCounts
from torr.results.position import ARRIVAL
from torr.results.verdict import Verdict
from torr.stats.metric import OF_ALL_STREAMS, OF_STREAMS
from torr.stats.series import Series, by_position, noun_of
from torr.units import show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torr.results.base import Statistics
    from torr.results.capacity import Knee, Peak, SloCapacity, UslFit
    from torr.results.level import Level
    from torr.results.position import Position
    from torr.results.result import RunResult

    _DiffRow = tuple[Position, dict[str, Verdict]]

_Claim = TypeVar("_Claim")
_TIMES = (
    *("response", "service", "ttfb", "queue_wait", "stream_wait", "window_wait", "message"),
    *("connect", "tls", "scheduling_lag"),
)


def levels(result: RunResult) -> Table | None:
    """Return one row a level of concurrency, the median of its rounds."""
    series = Series.of("", result.levels)
    points = {point.position: point for point in series.shown}
    rounds_of = by_position(result.levels)
    table = TableBuilder((points[at], rounds) for at, rounds in rounds_of.items())
    table.number(heading(series.noun), lambda row: f"{row[0].position:,}")
    table.number("ok/s", lambda row: bounded(show_rate(row[0].ok_per_s), at_least=row[0].at_least))
    table.number(say("spread"), lambda row: show_spread(row[0].spread))
    table.number(say("mean TTLB"), lambda row: show_ms(row[0].service_ms))
    table.number("p50", lambda row: _median_time(row[1], "p50"))
    table.number("p95", lambda row: _median_time(row[1], "p95"))
    table.number("p99", lambda row: _median_time(row[1], "p99"))
    table.number(say("success"), lambda row: show_percent(row[0].success_rate))
    table.text(say("health"), lambda row: _health(row[1]))
    return table.build()


def times(level: Level) -> Table | None:
    """Return the percentiles of one level: one row a kind of time."""
    times = [(name, level.latency.time(f"{name}_ms")) for name in _TIMES]
    table = TableBuilder((name, stats) for name, stats in times if stats)
    table.text(say("time"), lambda row: row[0])
    table.number("n", lambda row: f"{row[1].n:,}")
    for stat in TIME_STATS:
        _percentile(table, stat)
    return table.build()


def throughput(level: Level, protocol: Iterable[tuple[str, str]] = ()) -> Table:
    """Return what one level sent and received, one row a number, and the rows of its protocol."""
    counts = level.counts
    connections = level.connections or ConnectionCounts()
    opened = {"open": connections.open_max, "requested": connections.requested}
    rows = [
        (say("ok requests/s"), bounded(show_rate(level.ok_per_s), at_least=level.is_contended)),
        *_inputs(level),
        (say("attempted"), f"{counts.attempted:,}"),
        ("ok", f"{counts.ok:,}"),
        (say("errors"), f"{counts.failed:,}"),
        (say("success"), show_percent(level.success_rate)),
        *([(say("cancelled"), f"{counts.cancelled:,}")] if counts.cancelled else []),
        (say("in flight at the end"), f"{counts.in_flight:,}"),
        *([(say("sent again"), f"{level.resent:,}")] if level.resent else []),
        *trace_rows(level),
        *protocol,
        *_of_http2(level),
        *_of_websocket(level),
        (say("dropped"), f"{counts.dropped:,}"),
        (say("measurement window"), f"{level.seconds:g} s"),
        (say("open connections"), say("{open:,} of {requested:,}", **opened)),
        (say("received"), show_size(level.bytes_in)),
        (say("sent"), show_size(level.bytes_out)),
    ]
    # Locust's users open connections of their own, and torr does not see all of them.
    if level.is_of_locust and not connections.opened:
        rows = [row for row in rows if row[0] != "open connections"]
    return Table(("", say("measured")), tuple(rows))


def _inputs(level: Level) -> list[tuple[str, str]]:
    """Return the rate of the texts of batches, if requests have batches."""
    if not level.inputs_per_s:
        return []
    rate = bounded(show_rate(level.inputs_per_s), at_least=level.is_contended)
    return [(say("inputs/s"), rate)]


def _of_http2(level: Level) -> list[tuple[str, str]]:
    """Return what connections of HTTP/2 did, and what the server allows them."""
    if not level.http2:
        return []
    rows: list[tuple[str, str]] = []
    if level.http2.requests_per_write is not None:
        rows.append((say("requests per write"), f"{level.http2.requests_per_write:.1f}"))
    rows.append((say("connections unable to send"), show_percent(level.health.stalled_rate or 0)))
    limits = level.http2.server_limits
    if limits is not None:
        streams = say("no limit") if limits.streams is None else f"{limits.streams:,}"
        rows.append((say("streams that the server allows"), streams))
        window = show_size(limits.window_bytes)
        rows.append((say("initial window size of the server"), window))
        if limits.header_list_bytes is not None:
            most = show_size(limits.header_list_bytes)
            rows.append((say("largest head of a request that the server allows"), most))
    return rows


def _of_websocket(level: Level) -> list[tuple[str, str]]:
    """Return what connections of WebSocket did beside the messages that were answered."""
    counts = level.websocket
    if not counts:
        return []
    rows: list[tuple[str, str]] = [
        (say("unmatched messages"), f"{counts.unmatched_messages:,}"),
        (say("pings of the server"), f"{counts.pings:,}"),
        (say("connections that ended"), f"{counts.closed:,}"),
        (say("ended by the server"), f"{counts.closed_by_server:,}"),
    ]
    if counts.unconfirmed:
        rows.append((say("not confirmed by the server"), f"{counts.unconfirmed:,}"))
    if counts.lifetime_ms is not None:
        rows.append((say("mean lifetime of a connection"), show_ms(counts.lifetime_ms.mean)))
    return rows


def capacity(result: RunResult) -> Table | None:
    """Return peak, knee, capacity under SLO and scalability, or why each is not claimed."""
    capacity = result.capacity
    if capacity is None:
        return None
    reasons = capacity.reasons
    rows = [
        (say("peak"), *_claim(capacity.peak, reasons.get("peak"), _peak)),
        (say("knee"), *_claim(capacity.knee, reasons.get("knee"), _knee)),
        (say("capacity under SLO"), *_claim(capacity.slo, reasons.get("slo"), _slo)),
        (say("USL fit"), *_claim(capacity.usl, reasons.get("usl"), _usl)),
    ]
    if noun_of(result.levels) == ARRIVAL:
        # Knee and USL fit describe users.
        rows = [rows[0], rows[2]]
    if capacity.usl:
        rows.append((say("USL peak N*"), *_n_star(capacity.usl, reasons.get("n_star"))))
    return Table(("", say("at"), say("result")), tuple(rows), frozenset({0, 2}))


def errors(result: RunResult) -> Table | None:
    """Return one row a level and class of errors, with its reasons."""
    table = TableBuilder(
        (level, name, count)
        for level in result.levels
        for name, count in _most_first(level.counts.errors)
        if count
    )
    table.number(heading(noun_of(result.levels)), lambda row: f"{row[0].position:,}")
    table.text(say("class"), lambda row: row[1])
    table.number(say("count"), lambda row: f"{row[2]:,}")
    table.number(say("of attempts"), lambda row: show_percent(100 * row[2] / row[0].counts.ended))
    table.text(say("reasons"), lambda row: _reasons(row[0], row[1]))
    return table.build()


def statuses(result: RunResult) -> Table | None:
    """Return the count of each status code, one row a level."""
    codes = sorted({code for level in result.levels for code in level.statuses})
    table = TableBuilder(result.levels)
    table.number(heading(noun_of(result.levels)), lambda level: f"{level.position:,}")
    table.number(say("round"), lambda level: f"{level.round}")
    for code in codes:
        _status(table, code)
    return table.build() if codes else None


def ratios(result: RunResult) -> Table | None:
    """Return one row a common level of a diff: both values and their ratio, bounds marked."""
    verdicts_of = rows_of_diff(result)
    table = TableBuilder(verdicts_of.items())
    if not table.items:
        return None
    names = [side.name for side in result.series]
    table.number(heading(diff.noun(result)), lambda row: f"{row[0]:,}")
    _of_sides(table, "ok/s", "ok_per_s", names, diff.show_sides)
    _of_sides(table, "TTLB", "service_ms.mean", names, _show_times)
    # A .dat file has no p95: columns without any value are left out.
    if any("response_ms.p95" in verdicts for verdicts in verdicts_of.values()):
        _of_sides(table, "p95", "response_ms.p95", names, _show_times)
    table.number(say("success"), _shares)
    table.number(say("spread of ok/s"), lambda row: spreads(_of(row, "ok_per_s")))
    return table.build()


def ratios_of_streams(result: RunResult) -> Table | None:
    """Return one row a common level of a diff with what streams have: both values, and their ratio.

    Metrics that no level has are left out; None without any.
    """
    rows = rows_of_diff(result)
    metrics = [
        m for m in (*OF_STREAMS, *OF_ALL_STREAMS) if any(m.key in row for row in rows.values())
    ]
    if not metrics:
        return None
    table = TableBuilder(rows.items())
    names = [side.name for side in result.series]
    table.number(heading(diff.noun(result)), lambda row: f"{row[0]:,}")
    for metric in metrics:
        show = diff.show_sides if metric.is_rate else _show_times
        _of_sides(table, metric.label, metric.key, names, show)
    return table.build()


def rows_of_diff(result: RunResult) -> dict[Position, dict[str, Verdict]]:
    """Return the verdicts of a diff by level and metric."""
    verdicts_of: dict[Position, dict[str, Verdict]] = {}
    for verdict in result.verdicts:
        verdicts_of.setdefault(verdict.position, {})[verdict.metric] = verdict
    return verdicts_of


def spreads(verdict: Verdict) -> str:
    """Return the spread of both sides of a diff, as percent: `1.2 % / 3.0 %`."""
    return " / ".join(map(show_spread, verdict.spreads or ())) or "–"


def _percentile(table: TableBuilder[tuple[str, Statistics]], stat: str) -> None:
    table.number(stat.replace("_", "."), lambda row: time_cell(row[1], stat))


def _status(table: TableBuilder[Level], code: str) -> None:
    table.number(code, lambda level: f"{level.statuses.get(code, 0):,}")


def _of(row: _DiffRow, metric: str) -> Verdict:
    return row[1].get(metric) or Verdict(metric=metric)


def _of_sides(
    table: TableBuilder[_DiffRow],
    name: str,
    metric: str,
    sides: Sequence[str],
    show: Callable[[Verdict], tuple[str, str]],
) -> None:
    """Add both sides' numbers of a metric and their ratio."""
    table.number(f"{name} {sides[0]}", lambda row: show(_of(row, metric))[0])
    table.number(f"{name} {sides[1]}", lambda row: show(_of(row, metric))[1])
    table.number(say("ratio"), lambda row: diff.show_ratio(_of(row, metric)))


def _show_times(verdict: Verdict) -> tuple[str, str]:
    return show_ms(verdict.baseline_value), show_ms(verdict.value)


def _shares(row: _DiffRow) -> str:
    share = _of(row, "success_rate")
    return f"{show_percent(share.baseline_value)} / {show_percent(share.value)}"


def _median_time(rounds: Sequence[Level], stat: str) -> str:
    """Return the median of a response time; `≥` where one of the rounds has a lower bound."""
    claiming = usable(rounds)
    times = [level.latency.response for level in claiming]
    at_least = any(is_bound(time, stat) for time in times)
    dropped = any(level.counts.dropped for level in claiming)
    value = show_ms(median_of(time.value(stat) for time in times))
    return bounded(value, at_least=at_least or dropped)


def _health(rounds: Sequence[Level]) -> str:
    words = list(map(word_text, dict.fromkeys(level.health.verdict for level in rounds)))
    if any(level.cut_short for level in rounds):
        words.append(say("cut short"))
    if any(level.is_starved for level in rounds):
        words.append(say("users starved"))
    if any(level.falls_behind for level in rounds):
        words.append(say("falls behind"))
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
    at = f"{peak.position:,}"
    if peak.highest_at in (None, peak.position) or peak.ok_per_s_there is None:
        return at, chain("; ", [rate_of(peak), near])
    # The lowest level of the plateau is the one to run at, but has not the highest rate.
    here = say("{rate} requests/s", rate=show_rate(peak.ok_per_s_there))
    highest = say("the highest is {rate} at {level:,}", rate=rate_of(peak), level=peak.highest_at)
    return at, chain("; ", [here, highest, near])


def _knee(knee: Knee) -> tuple[str, str]:
    time = show_ms(knee.service_ms)
    text = say("{rate} in {time} on average: the best ratio of both", rate=rate_of(knee), time=time)
    return f"{knee.position:,}", text


def _slo(slo: SloCapacity) -> tuple[str, str]:
    conditions = chain(", ", slo.conditions)
    held = say("{rate} with {conditions}", rate=rate_of(slo), conditions=conditions)
    end = say("no higher level shows where it ends") if slo.beyond is None else _beyond(slo.beyond)
    return f"{slo.position:,}", chain("; ", [held, end])


def _beyond(beyond: Verdict) -> Text:
    """Return the first level that did not hold the SLO."""
    value = value_of(beyond)
    if beyond.value is None:
        value = beyond.reason or value
    return say(
        "at {level} {condition} is {word} ({value})",
        level=f"{beyond.position:,}",
        condition=beyond.condition or "",
        word=word_text(beyond.word or ""),
        value=value,
    )


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
    reasons = _most_first(level.reasons)
    return ", ".join(f"{r} {n:,}" for r, n in reasons if r.startswith(f"{name}."))


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])
