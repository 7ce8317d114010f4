"""Tables of named requests: of one level, and of every level of a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torr.report.cells import Table, cell, usable
from torr.report.say import say
from torr.report.stream_tables import Streams, side_by_side
from torr.report.wording import heading
from torr.stats.series import Level, by_concurrency, events_of, failed, is_of_locust, noun_of
from torr.units import show_rate

_REQUEST = say("request")
_COLUMNS = (_REQUEST, "ok/s", say("attempts"), "p50", "p95", "p99", say("errors"))
# What Locust's response times do not tell of: columns of its users' requests.
_OF_SOCKETS = {
    "service": ("p50", "p95", "p99"),
    "ttfb": ("p50", "p95", "p99"),
    "connect": ("mean",),
    "lag": ("p99",),
}

Step = Mapping[str, Any]


def requests(level: Level) -> Table | None:
    """Return one row a named request of a level, where there are several."""
    steps = _several(level)
    return Table(_COLUMNS, tuple(map(_cells, steps))) if steps else None


def sockets_of_requests(level: Level) -> Table | None:
    """Return the times that Locust does not know, one row a named request that has some."""
    found = [step for step in level.get("steps") or () if _time(step, "service")]
    if not found or not is_of_locust(level):
        return None
    columns = [f"{name} {stat}" for name, stats in _OF_SOCKETS.items() for stat in stats]
    rows = tuple(
        (
            step["name"],
            *(cell(_time(step, n), s) for n, stats in _OF_SOCKETS.items() for s in stats),
        )
        for step in found
    )
    return Table((_REQUEST, *columns), rows)


def streams_of_requests(level: Level) -> Table | None:
    """Return what streams one row a named request, where there are several and some stream."""
    steps = [step for step in _several(level) if not step.get("event")]
    columns, rows = _streamed(steps)
    named = tuple((step["name"], *cells) for step, cells in zip(steps, rows, strict=True))
    return Table((_REQUEST, *columns), named) if columns else None


def failed_events(levels: Sequence[Level]) -> Table | None:
    """Return one row an event of which a locustfile told that it failed."""
    steps = [step for level in levels for step in level.get("steps") or () if step.get("event")]
    rows = tuple(
        (step["name"], f"{failed(step):,}", f"{step['counts']['attempted']:,}")
        for step in steps
        if failed(step)
    )
    columns = (say("event"), say("failed"), say("of"))
    return Table(columns, rows) if rows else None


def requests_of_levels(result: Mapping[str, Any]) -> Table | None:
    """Return one row a named request of each level, of the round whose rate is the median."""
    found = _steps_of_levels(result)
    rows = tuple((at, *_cells(step)) for at, step in found)
    columns = (heading(noun_of(result["levels"])), *_COLUMNS)
    return Table(columns, rows, frozenset({1})) if rows else None


def streams_of_requests_of_levels(result: Mapping[str, Any]) -> Table | None:
    """Return what streams one row a named request of each level, as `requests_of_levels` does."""
    found = _steps_of_levels(result)
    columns, rows = _streamed([step for _, step in found])
    named = tuple((at, step["name"], *row) for (at, step), row in zip(found, rows, strict=True))
    names = (heading(noun_of(result["levels"])), _REQUEST, *columns)
    return Table(names, named, frozenset({1})) if columns else None


def _several(level: Level) -> Sequence[Step]:
    steps = level.get("steps") or ()
    return steps if len(steps) > 1 or events_of(level) else ()


def _steps_of_levels(result: Mapping[str, Any]) -> list[tuple[str, Step]]:
    found = []
    for concurrency, rounds in by_concurrency(result["levels"]).items():
        ordered = sorted(usable(rounds), key=lambda level: level["ok_per_s"])
        steps = _several(ordered[(len(ordered) - 1) // 2])
        found += [(f"{concurrency:,}", step) for step in steps]
    return found


def _streamed(steps: Sequence[Step]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    return side_by_side([Streams.of([step]) for step in steps])


def _time(step: Step, name: str) -> Mapping[str, Any]:
    return (step.get("latency") or {}).get(f"{name}_ms") or {}


def _cells(step: Step) -> tuple[str, ...]:
    response = _time(step, "response")
    return (
        say("{name} (event)", name=step["name"]) if step.get("event") else step["name"],
        show_rate(step.get("ok_per_s")),
        f"{step['counts']['attempted']:,}",
        *(cell(response, stat) for stat in ("p50", "p95", "p99")),
        f"{sum(step['counts']['errors'].values()):,}",
    )
