"""One run in the terminal: times, throughput, how far to trust it, errors and SLOs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.cli.columns import cut
from torr.cli.shown import errors, slos
from torr.report import watched
from torr.report.request_tables import requests, streams_of_requests
from torr.report.say import chain, say
from torr.report.streaming import stream_facts, stream_times
from torr.report.told import told
from torr.stats.series import is_mixed
from torr.units import show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.cli.screen import Screen

Json = dict[str, Any]

STATS = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
# Response and service time are one row when no shown statistic differs by more than this.
SAME = 0.05
# What leaves room for six numbers within 80 columns.
WIDEST_NAME = 24
# What a narrow terminal can do without: the first goes first.
LEAST_STATS = ("p90", "mean", "p50", "p99.9")
LEAST_OF_REQUESTS = ("p50", "attempts")
# First texts stand last here: they are what streams are asked for.
LEAST_OF_STREAMS = ("tpot mean", "goodput", "tokens/s", "ttft mean", "ttfe mean")


def show(result: Json, out: Screen) -> None:
    """Print the one level of a run."""
    level = result["levels"][0]
    out.line()
    _show_times(level, out)
    _show_requests(level, out)
    out.line()
    out.pairs(
        {
            say("throughput"): _throughput(level),
            say("attempts"): _attempts(level),
            say("statuses"): _counted(level["statuses"]),
            **stream_facts(level),
            say("health"): _health(level),
            **watched.facts(level),
        }
    )
    errors.show(say("errors"), level, out)
    slos.show_of_run(result["verdicts"], out)


def _show_times(level: Json, out: Screen) -> None:
    latency = level["latency"]
    known = [(name, stats) for name, stats in _time_rows(latency) if stats]
    known += [(name, stats) for name, stats in stream_times(level) if name != "ttfb"]
    rows = tuple((name, *(_time(stats, stat) for stat in STATS)) for name, stats in known)
    if rows:
        names = ("", *(stat.replace("_", ".") for stat in STATS))
        out.table(out.columns(names, rows).fitting(out.width, LEAST_STATS))


def _time_rows(latency: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any] | None]]:
    response, service = latency.get("response_ms"), latency.get("service_ms")
    rows = [("response", response), ("service", service)]
    if response and service and not _differ(response, service):
        rows = [("response", response)]
    dialled = [(name, latency.get(f"{name.lower()}_ms")) for name in ("connect", "TLS")]
    return [*rows, ("ttfb", latency.get("ttfb_ms")), *dialled]


def _differ(one: Json, other: Json) -> bool:
    pairs = ((one.get(stat), other.get(stat)) for stat in STATS)
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return any(abs(a - b) > SAME * max(a, b) for a, b in known) or bool(one.get("at_least"))


def _time(stats: Mapping[str, Any], stat: str) -> str:
    is_bound = stats.get(stat) is not None and stat in stats.get("at_least", ())
    return ("≥ " if is_bound else "") + show_ms(stats.get(stat))


def _show_requests(level: Json, out: Screen) -> None:
    """A row for each request, where there are several."""
    found = {LEAST_OF_REQUESTS: requests(level), LEAST_OF_STREAMS: streams_of_requests(level)}
    for least, table in found.items():
        if table is not None:
            rows = [(cut(out.in_words(n), WIDEST_NAME), *cells) for n, *cells in table.rows]
            out.line()
            out.table(out.columns(table.columns, rows).fitting(out.width, least))


def _throughput(level: Json) -> str:
    seconds = level["seconds"] or 1
    asked = say("{rate}/s asked for", rate=show_rate(level["rate"]))
    words: list[str] = [say("{rate} ok/s", rate=show_rate(level["ok_per_s"]))]
    if is_mixed(level):
        words.append(say("arrivals: {asked}", asked=asked))
    elif level["rate"] is not None:
        words = [say("{rate} of {asked}", rate=words[0], asked=asked)]
    words.append(say("{rate} attempted/s", rate=show_rate(level["attempted_per_s"])))
    words.append(say("{size}/s in", size=show_size(level["bytes_in"] / seconds)))
    return chain(" · ", words)


def _attempts(level: Json) -> str:
    counts = level["counts"]
    success = say("success {share}", share=show_percent(level["success_rate"]))
    words = [f"{counts['attempted']:,}", success]
    if counts["dropped"]:
        words.append(say("{n:,} dropped", n=counts["dropped"]))
    if counts["in_flight"]:
        words.append(say("{n:,} in flight", n=counts["in_flight"]))
    return chain(" · ", words)


def _health(level: Json) -> str:
    health = level["health"]
    word, reasons = told(health["verdict"]), chain("; ", list(map(told, health["reasons"])))
    return say("{side}: {why}", side=word, why=reasons) if reasons else word


def _counted(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} × {count:,}" for name, count in counts.items()) or say("none")
