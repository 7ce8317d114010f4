"""What was watched, as a table: target, generator and machine at each level, and what told of it.

Numbers are those of the measured window, the median where there are several rounds.
"""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.cells import Table, usable
from torr.results.monitor import WindowUsage
from torr.stats.series import by_concurrency, noun_of
from torr.units import show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.results.level import Level
    from torr.results.monitor import EndpointSeries
    from torr.results.result import RunResult

_LIMITS = {"both": say("target and generator"), None: "–"}


def of_levels(result: RunResult) -> Table | None:
    """Return one row a level: CPU of the target, of torr and of the cores, and the limit."""
    rows = tuple(_row(at, usable(rounds)) for at, rounds in _known(result.levels).items())
    if not rows:
        return None
    columns = (
        heading(noun_of(result.levels)),
        say("target CPU"),
        say("CPU a request"),
        say("requests/CPU-s"),
        say("target RSS"),
        say("torr CPU"),
        say("busiest core"),
        say("limit"),
        say("because"),
    )
    return Table(columns, rows, frozenset({7, 8}))


def of_endpoints(result: RunResult) -> Table | None:
    """Return one row a series of each endpoint: its mean and its most over all levels."""
    found: dict[tuple[str, ...], list[float]] = {}
    for level in result.levels:
        for endpoint in level.monitor.endpoints if level.monitor else ():
            for series in endpoint.series:
                key = (_name(series), series.kind, endpoint.url)
                found.setdefault(key, []).extend(v for v in series.values if v is not None)
    rows = tuple(
        (
            name,
            say("a second") if kind == "counter" else "",
            _value(mean(values)),
            _value(max(values)),
        )
        for (name, kind, _), values in found.items()
        if values
    )
    words = frozenset({0, 1})
    columns = (say("series"), "", say("mean"), say("most"))
    return Table(columns, rows, words, frozenset({0})) if rows else None


def facts(level: Level) -> dict[str, str]:
    """Return what a terminal has room for: a line on the target, and one on the limit."""
    usage = _usage(level)
    if usage is None or usage.target_cpu_rate is None:
        return {}
    words: list[str] = [say("{share} of a core", share=show_percent(usage.target_cpu_rate))]
    if usage.target_cpu_us_per_request is not None:
        words.append(say("{time} a request", time=_micro(usage.target_cpu_us_per_request)))
    words.append(say("{size} resident", size=show_size(usage.target_rss_max_bytes)))
    limit = say("{side}: {why}", side=_limit(usage), why=usage.limit_reason or "")
    return {say("target"): chain(" · ", words), say("limit"): limit}


def _known(levels: Sequence[Level]) -> dict[int, list[Level]]:
    """The rounds of each level that were watched."""
    return {
        at: known
        for at, rounds in by_concurrency(levels).items()
        if (known := [level for level in rounds if _usage(level)])
    }


def _row(at: int, rounds: Sequence[Level]) -> tuple[str, ...]:
    usages = [usage for usage in map(_usage, rounds) if usage]
    return (
        f"{at:,}",
        show_percent(_middle(usage.target_cpu_rate for usage in usages)),
        _micro(_middle(usage.target_cpu_us_per_request for usage in usages)),
        show_rate(_middle(usage.requests_per_cpu_s for usage in usages)),
        show_size(_middle(usage.target_rss_max_bytes for usage in usages)),
        show_percent(_middle(usage.generator_cpu_rate for usage in usages)),
        show_percent(median(max(usage.core_busy_rate, default=0.0) for usage in usages)),
        chain(", ", list(dict.fromkeys(_limit(usage) for usage in usages))),
        chain("; ", list(dict.fromkeys(usage.limit_reason or "" for usage in usages))),
    )


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _usage(level: Level) -> WindowUsage | None:
    """What the window used; None where nothing of it is known."""
    usage = level.monitor.derived if level.monitor else None
    return None if usage == WindowUsage() else usage


def _limit(usage: WindowUsage) -> str:
    return _LIMITS.get(usage.limit) or word_text(str(usage.limit))


def _micro(microseconds: float | None) -> str:
    return "–" if microseconds is None else f"{show_rate(microseconds)} µs"


def _name(series: EndpointSeries) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in series.labels.items())
    return f"{series.name} {labels}".strip()


def _value(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.4g}"
