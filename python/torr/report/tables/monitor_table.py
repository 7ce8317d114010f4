"""Tables of the monitor: target, generator and machine at each level, and series of endpoints.

Numbers are those of the measurement window, the median where there are several rounds.
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder, median_of, usable
from torr.results.monitor import WindowUsage
from torr.stats.series import by_position, noun_of
from torr.units import show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torr.results.level import Level
    from torr.results.monitor import EndpointSeries
    from torr.results.position import Position
    from torr.results.result import RunResult

_LIMITS = {"both": say("target and generator"), None: "–"}


def of_levels(result: RunResult) -> Table | None:
    """Return one row a level: CPU of the target, of torr and of the cores, and the limit."""
    table = TableBuilder(_window_usages(result.levels).items())
    table.number(heading(noun_of(result.levels)), lambda row: f"{row[0]:,}")
    _median(table, say("target CPU"), show_percent, lambda usage: usage.target_cpu_rate)
    _median(table, say("CPU a request"), _show_us, lambda usage: usage.target_cpu_us_per_request)
    _median(table, say("requests/CPU-s"), show_rate, lambda usage: usage.requests_per_cpu_s)
    _median(table, say("target RSS"), show_size, lambda usage: usage.target_rss_max_bytes)
    _median(table, say("torr CPU"), show_percent, lambda usage: usage.generator_cpu_rate)
    _median(
        table,
        say("busiest core"),
        show_percent,
        lambda usage: max(usage.core_busy_rate, default=0.0),
    )
    table.text(say("limit"), lambda row: chain(", ", _once(map(_limit, row[1]))))
    table.text(
        say("because"), lambda row: chain("; ", _once(usage.limit_reason or "" for usage in row[1]))
    )
    return table.build()


def of_endpoints(result: RunResult) -> Table | None:
    """Return one row a series of each endpoint: its mean and its most over all levels."""
    values_of: dict[tuple[str, str, str], list[float]] = {}
    for level in result.levels:
        for endpoint in level.monitor.endpoints if level.monitor else ():
            for series in endpoint.series:
                key = (_name(series), series.kind, endpoint.url)
                values_of.setdefault(key, []).extend(v for v in series.values if v is not None)
    table = TableBuilder(row for row in values_of.items() if row[1])
    table.text(say("series"), lambda row: row[0][0], breaks=True)
    table.text("", lambda row: say("per second") if row[0][1] == "counter" else "")
    table.number(say("mean"), lambda row: _value(mean(row[1])))
    table.number(say("most"), lambda row: _value(max(row[1])))
    return table.build()


def facts(level: Level) -> dict[str, str]:
    """Return a line on the target and one on the limit, for the terminal."""
    usage = _usage(level)
    if usage is None or usage.target_cpu_rate is None:
        return {}
    words: list[str] = [say("{share} of a core", share=show_percent(usage.target_cpu_rate))]
    if usage.target_cpu_us_per_request is not None:
        words.append(say("{time} a request", time=_show_us(usage.target_cpu_us_per_request)))
    words.append(say("{size} resident", size=show_size(usage.target_rss_max_bytes)))
    limit = say("{side}: {why}", side=_limit(usage), why=usage.limit_reason or "")
    return {say("target"): chain(" · ", words), say("limit"): limit}


def _window_usages(levels: Sequence[Level]) -> dict[Position, list[WindowUsage]]:
    """Return what the rounds of each monitored level used."""
    usages = {}
    for position, rounds in by_position(levels).items():
        monitored = [level for level in rounds if _usage(level)]
        if monitored:
            usages[position] = [usage for usage in map(_usage, usable(monitored)) if usage]
    return usages


def _median(
    table: TableBuilder[tuple[Position, list[WindowUsage]]],
    heading: str,
    show: Callable[[float | None], str],
    value: Callable[[WindowUsage], float | None],
) -> None:
    """Add a column with the median of a number over the rounds."""
    table.number(heading, lambda row: show(median_of(map(value, row[1]))))


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _usage(level: Level) -> WindowUsage | None:
    """Return what the window used; None where nothing of it is known."""
    usage = level.monitor.derived if level.monitor else None
    return None if usage == WindowUsage() else usage


def _limit(usage: WindowUsage) -> str:
    return _LIMITS.get(usage.limit) or word_text(str(usage.limit))


def _show_us(microseconds: float | None) -> str:
    return "–" if microseconds is None else f"{show_rate(microseconds)} µs"


def _name(series: EndpointSeries) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in series.labels.items())
    return f"{series.name} {labels}".strip()


def _value(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.4g}"
