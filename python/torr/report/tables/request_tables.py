"""Tables of named requests: of one level, and of every level of a ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.wording import heading
from torr.report.tables.stream_tables import Streams, add_streams
from torr.report.tables.table import Table, TableBuilder, time_cell, usable
from torr.results.base import Statistics
from torr.stats.series import by_position, noun_of
from torr.units import show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.level import Level, NamedRequest
    from torr.results.result import RunResult

    LevelRequest = tuple[str, NamedRequest]

_REQUEST = say("request")
# Times of the sockets below Locust's requests, which its response times do not have.
_SOCKET_TIMES = (
    *("service p50", "service p95", "service p99"),
    *("ttfb p50", "ttfb p95", "ttfb p99", "connect mean", "scheduling_lag p99"),
)


def requests(level: Level) -> Table | None:
    """Return one row a named request of a level, where there are several."""
    return _requests(TableBuilder(("", request) for request in _several(level)))


def sockets_of_requests(level: Level) -> Table | None:
    """Return the times that Locust does not know, one row a named request that has some."""
    if not level.is_of_locust:
        return None
    table = TableBuilder(step for step in level.requests if step.latency.service_ms)
    table.text(_REQUEST, lambda request: request.name)
    for name in _SOCKET_TIMES:
        _socket_time(table, name)
    return table.build()


def streams_of_requests(level: Level) -> Table | None:
    """Return one row a named request that streams, where a level has several requests."""
    return _streams(TableBuilder(("", step) for step in _several(level) if not step.event))


def failed_events(levels: Sequence[Level]) -> Table | None:
    """Return one row an event that a locustfile reported as failed."""
    steps = (step for level in levels for step in level.requests if step.event)
    table = TableBuilder(step for step in steps if step.counts.failed)
    table.text(say("event"), lambda event: event.name)
    table.number(say("failed"), lambda event: f"{event.counts.failed:,}")
    table.number(say("of"), lambda event: f"{event.counts.attempted:,}")
    return table.build()


def requests_of_levels(result: RunResult) -> Table | None:
    """Return one row a named request of each level, of the round whose rate is the median."""
    return _requests(_by_level(result))


def streams_of_requests_of_levels(result: RunResult) -> Table | None:
    """Return one row a named request of each level, with what it streamed."""
    return _streams(_by_level(result))


def _several(level: Level) -> Sequence[NamedRequest]:
    """Return the named requests, if there are several; of a trace, those for which it has rows."""
    requests = level.requests
    if level.trace:
        requests = [request for request in requests if request.counts.attempted]
    return requests if len(requests) > 1 or level.event_count else ()


def _by_level(result: RunResult) -> TableBuilder[LevelRequest]:
    """Return a table with a row for each request of each level, and the column of levels."""
    requests = []
    for position, rounds in by_position(result.levels).items():
        ordered = sorted(usable(rounds), key=lambda level: level.ok_per_s)
        several = _several(ordered[(len(ordered) - 1) // 2])
        requests += [(f"{position:,}", request) for request in several]
    table = TableBuilder(requests)
    table.number(heading(noun_of(result.levels)), lambda row: row[0])
    return table


def _requests(table: TableBuilder[LevelRequest]) -> Table | None:
    """Add the columns of requests."""
    table.text(_REQUEST, _name)
    table.number("ok/s", lambda row: show_rate(row[1].ok_per_s))
    table.number(say("attempts"), lambda row: f"{row[1].counts.attempted:,}")
    table.number("p50", lambda row: time_cell(row[1].latency.response, "p50"))
    table.number("p95", lambda row: time_cell(row[1].latency.response, "p95"))
    table.number("p99", lambda row: time_cell(row[1].latency.response, "p99"))
    table.number(say("errors"), lambda row: f"{row[1].counts.failed:,}")
    return table.build()


def _streams(table: TableBuilder[LevelRequest]) -> Table | None:
    """Add the columns of requests that stream; None where none does."""
    table.text(_REQUEST, lambda row: row[1].name)
    if any(_prompt_tokens(row[1]) for row in table.items):
        table.number(say("prompt tokens"), lambda row: _prompt_tokens(row[1]) or "–")
    if any(_cached(row[1]) for row in table.items):
        table.number(say("cached"), lambda row: _cached(row[1]) or "–")
    has_streams = add_streams(table, lambda row: Streams.of_request(row[1]))
    return table.build() if has_streams else None


def _prompt_tokens(request: NamedRequest) -> str:
    """Return the tokens of a prompt on average: those of turns show how the context grows."""
    stream = request.stream
    counted = request.counts.ok - stream.tokens_unreported if stream else 0
    if stream is None or not stream.tokens_in or counted < 1:
        return ""
    return f"{stream.tokens_in / counted:,.0f}"


def _cached(request: NamedRequest) -> str:
    """Return the percentage of prompt tokens that the server found in a cache."""
    stream = request.stream
    if stream is None or not stream.tokens_cached or not stream.tokens_in:
        return ""
    # A server may report anything.
    return show_percent(min(100.0, 100 * stream.tokens_cached / stream.tokens_in))


def _socket_time(table: TableBuilder[NamedRequest], name: str) -> None:
    metric, stat = name.split()
    table.number(
        name,
        lambda step: time_cell(step.latency.time(f"{metric}_ms") or Statistics(n=0), stat),
    )


def _name(row: LevelRequest) -> str:
    request = row[1]
    return say("{name} (event)", name=request.name) if request.event else request.name
