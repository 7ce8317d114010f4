"""Tables of named requests: of one level, and of every level of a ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.wording import heading
from torr.report.tables.cells import Table, cell, usable
from torr.report.tables.stream_tables import Streams, side_by_side
from torr.results.base import Statistics
from torr.stats.series import by_concurrency, noun_of
from torr.units import show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level, NamedRequest
    from torr.results.result import RunResult

_REQUEST = say("request")
_COLUMNS = (_REQUEST, "ok/s", say("attempts"), "p50", "p95", "p99", say("errors"))
# What Locust's response times do not tell of: columns of its users' requests.
_OF_SOCKETS = {
    "service": ("p50", "p95", "p99"),
    "ttfb": ("p50", "p95", "p99"),
    "connect": ("mean",),
    "scheduling_lag": ("p99",),
}


def requests(level: Level) -> Table | None:
    """Return one row a named request of a level, where there are several."""
    steps = _several(level)
    return Table(_COLUMNS, tuple(map(_cells, steps))) if steps else None


def sockets_of_requests(level: Level) -> Table | None:
    """Return the times that Locust does not know, one row a named request that has some."""
    found = [step for step in level.requests if step.latency.service_ms]
    if not found or not level.is_of_locust:
        return None
    columns = [f"{name} {stat}" for name, stats in _OF_SOCKETS.items() for stat in stats]
    rows = tuple(
        (
            step.name,
            *(cell(_time(step, n), s) for n, stats in _OF_SOCKETS.items() for s in stats),
        )
        for step in found
    )
    return Table((_REQUEST, *columns), rows)


def streams_of_requests(level: Level) -> Table | None:
    """Return what streams one row a named request, where there are several and some stream."""
    steps = [step for step in _several(level) if not step.event]
    columns, rows = _streamed(steps)
    named = tuple((step.name, *cells) for step, cells in zip(steps, rows, strict=True))
    return Table((_REQUEST, *columns), named) if columns else None


def failed_events(levels: Sequence[Level]) -> Table | None:
    """Return one row an event of which a locustfile told that it failed."""
    steps = [step for level in levels for step in level.requests if step.event]
    rows = tuple(
        (step.name, f"{step.counts.failed:,}", f"{step.counts.attempted:,}")
        for step in steps
        if step.counts.failed
    )
    columns = (say("event"), say("failed"), say("of"))
    return Table(columns, rows) if rows else None


def requests_of_levels(result: RunResult) -> Table | None:
    """Return one row a named request of each level, of the round whose rate is the median."""
    found = _steps_of_levels(result)
    rows = tuple((at, *_cells(step)) for at, step in found)
    columns = (heading(noun_of(result.levels)), *_COLUMNS)
    return Table(columns, rows, frozenset({1})) if rows else None


def streams_of_requests_of_levels(result: RunResult) -> Table | None:
    """Return what streams one row a named request of each level, as `requests_of_levels` does."""
    found = _steps_of_levels(result)
    columns, rows = _streamed([step for _, step in found])
    named = tuple((at, step.name, *row) for (at, step), row in zip(found, rows, strict=True))
    names = (heading(noun_of(result.levels)), _REQUEST, *columns)
    return Table(names, named, frozenset({1})) if columns else None


def _several(level: Level) -> Sequence[NamedRequest]:
    return level.requests if len(level.requests) > 1 or level.event_count else ()


def _steps_of_levels(result: RunResult) -> list[tuple[str, NamedRequest]]:
    found = []
    for concurrency, rounds in by_concurrency(result.levels).items():
        ordered = sorted(usable(rounds), key=lambda level: level.ok_per_s)
        steps = _several(ordered[(len(ordered) - 1) // 2])
        found += [(f"{concurrency:,}", step) for step in steps]
    return found


def _streamed(steps: Sequence[NamedRequest]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    return side_by_side(list(map(Streams.of_request, steps)))


def _time(step: NamedRequest, name: str) -> Statistics:
    return step.latency.time(f"{name}_ms") or Statistics(n=0)


def _cells(step: NamedRequest) -> tuple[str, ...]:
    return (
        say("{name} (event)", name=step.name) if step.event else step.name,
        show_rate(step.ok_per_s),
        f"{step.counts.attempted:,}",
        *(cell(step.latency.response, stat) for stat in ("p50", "p95", "p99")),
        f"{step.counts.failed:,}",
    )
