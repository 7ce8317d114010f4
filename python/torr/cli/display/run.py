"""Display a run: times, throughput, health, errors and SLOs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.cli.columns import cut
from torr.cli.display import errors, slos
from torr.cli.display.serving import causes
from torr.messages.say import chain, say
from torr.report.data.result_words import word_text
from torr.report.tables import monitor_table, serving_table
from torr.report.tables.request_tables import requests, streams_of_requests
from torr.report.tables.table import bounded, time_cell
from torr.report.text.streaming import stream_facts, stream_times
from torr.units import show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.cli.screen import Screen
    from torr.results.base import Statistics
    from torr.results.level import Latency, Level
    from torr.results.result import RunResult


STATS = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
# Response and service time are one row when no shown statistic differs by more than this.
SAME = 0.05
# The status of an answered message of WebSocket.
SWITCHED = "101"
# Leaves room for six numbers within 80 columns.
WIDEST_NAME = 24
# Columns in the order in which a narrow terminal leaves them out.
LEAST_STATS = ("p90", "mean", "p50", "p99.9")
LEAST_OF_REQUESTS = ("p50", "attempts")
# Times to the first text are left out last: they matter most for streams.
LEAST_OF_STREAMS = (
    *("tpot mean", "inter_chunk mean", "goodput", "tokens/s", "message mean", "ttft mean"),
    "ttfe mean",
)


def show(result: RunResult, out: Screen) -> None:
    """Print the one level of a run."""
    level = result.levels[0]
    _show_times(level, out)
    _show_requests(level, out)
    out.line()
    out.pairs(
        {
            say("throughput"): _throughput(level),
            say("attempts"): _attempts(level),
            **_statuses(level),
            **_http2(level),
            **_websocket(level),
            **stream_facts(level),
            say("health"): _health(level),
            **monitor_table.facts(level),
            **serving_table.facts(level),
            **causes(result),
        }
    )
    errors.show(say("errors"), level, out)
    slos.show_of_run(result.verdicts, out)


def _show_times(level: Level, out: Screen) -> None:
    latency = level.latency
    times = [(name, stats) for name, stats in _time_rows(latency) if stats]
    times += [(name, stats) for name, stats in stream_times(level) if name != "ttfb"]
    rows = tuple((name, *(time_cell(stats, stat) for stat in STATS)) for name, stats in times)
    if rows:
        out.line()
        names = ("", *(stat.replace("_", ".") for stat in STATS))
        out.table(out.columns(names, rows).fitting(out.width, LEAST_STATS))


def _time_rows(latency: Latency) -> list[tuple[str, Statistics | None]]:
    response, service = latency.response_ms, latency.service_ms
    rows = [("response", response), ("service", service)]
    if response and service and not _differ(response, service):
        rows = [("response", response)]
    opened = [("connect", latency.connect_ms), ("TLS", latency.tls_ms)]
    names = ("stream_wait", "window_wait", "message")
    waits = [(name, latency.time(f"{name}_ms")) for name in names]
    waited = [(name, stats) for name, stats in waits if stats and stats.max]
    return [*rows, ("ttfb", latency.ttfb_ms), *waited, *opened]


def _http2(level: Level) -> dict[str, str]:
    """Return the writes of connections that carry several requests, and the server's limits."""
    if not level.http2 or level.http2.requests_per_write is None:
        return {}
    words: list[str] = [say("{count:.1f} requests per write", count=level.http2.requests_per_write)]
    limits = level.http2.server_limits
    if limits is not None and limits.streams is not None:
        words.append(say("the server allows {count:,} streams", count=limits.streams))
    if limits is not None and level.latency.window_wait_ms:
        window = show_size(limits.window_bytes)
        words.append(say("its initial window size is {size}", size=window))
    return {"HTTP/2": chain(", ", words)}


def _statuses(level: Level) -> dict[str, str]:
    """Return the statuses; every answered message has that of its connection's handshake."""
    if level.websocket and set(level.statuses) <= {SWITCHED}:
        return {}
    return {say("statuses"): _counted(level.statuses)}


def _websocket(level: Level) -> dict[str, str]:
    """Return what connections of WebSocket did beside the messages, if they did anything."""
    counts = level.websocket
    if not counts:
        return {}
    words: list[str] = []
    if counts.closed:
        by_server = counts.closed_by_server
        words.append(
            say("{n:,} connections ended, {m:,} by the server", n=counts.closed, m=by_server)
        )
    if counts.unmatched_messages:
        words.append(say("{n:,} unmatched messages", n=counts.unmatched_messages))
    if counts.pings:
        words.append(say("{n:,} pings", n=counts.pings))
    return {"WebSocket": chain(", ", words)} if words else {}


def _differ(one: Statistics, other: Statistics) -> bool:
    pairs = ((one.value(stat), other.value(stat)) for stat in STATS)
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return any(abs(a - b) > SAME * max(a, b) for a, b in known) or bool(one.at_least)


def _show_requests(level: Level, out: Screen) -> None:
    """Print a row for each request, if there are several."""
    tables = {LEAST_OF_REQUESTS: requests(level), LEAST_OF_STREAMS: streams_of_requests(level)}
    for least, table in tables.items():
        if table is not None:
            rows = [(cut(out.in_words(n), WIDEST_NAME), *cells) for n, *cells in table.rows]
            out.line()
            out.table(out.columns(table.columns, rows).fitting(out.width, least))


def _throughput(level: Level) -> str:
    seconds = level.seconds or 1
    asked = say("{rate}/s asked for", rate=show_rate(level.rate))
    rate = bounded(show_rate(level.ok_per_s), at_least=level.is_contended)
    words: list[str] = [say("{rate} ok/s", rate=rate)]
    if level.is_mixed:
        words.append(say("arrivals: {asked}", asked=asked))
    elif level.rate is not None:
        words = [say("{rate} of {asked}", rate=words[0], asked=asked)]
    if level.inputs_per_s:
        inputs = bounded(show_rate(level.inputs_per_s), at_least=level.is_contended)
        words.append(say("{rate} inputs/s", rate=inputs))
    words.append(say("{rate} attempted/s", rate=show_rate(level.attempted_per_s)))
    words.append(say("{size}/s in", size=show_size(level.bytes_in / seconds)))
    return chain(" · ", words)


def _attempts(level: Level) -> str:
    counts = level.counts
    success = say("success {share}", share=show_percent(level.success_rate))
    words = [f"{counts.attempted:,}", success]
    if counts.dropped:
        words.append(say("{n:,} dropped", n=counts.dropped))
    if counts.cancelled:
        words.append(say("{n:,} cancelled", n=counts.cancelled))
    if counts.in_flight:
        words.append(say("{n:,} in flight", n=counts.in_flight))
    if level.resent:
        words.append(say("{n:,} sent again", n=level.resent))
    return chain(" · ", words)


def _health(level: Level) -> str:
    health = level.health
    word, reasons = word_text(health.verdict), chain("; ", health.reasons)
    return say("{side}: {why}", side=word, why=reasons) if reasons else word


def _counted(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} × {count:,}" for name, count in counts.items()) or say("none")
