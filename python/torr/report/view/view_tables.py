"""The tables of the page, in its order: those below the chart, then those that are folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import as_json, say
from torr.report.data.comparison import Comparison
from torr.report.data.tuning import Tuning
from torr.report.tables import comparison_facts as facts
from torr.report.tables import (
    comparison_tables,
    flame_table,
    function_tables,
    health_table,
    level_table,
    monitor_table,
    profiled_line_table,
    protocol_rows,
    request_tables,
    serving_table,
    slo_table,
    stream_tables,
    tuning_tables,
    verdict_table,
)
from torr.report.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.json import JsonObject
    from torr.results.result import RunResult

Titled = tuple[str, Table | None]


def tables(result: RunResult) -> list[JsonObject]:
    """Return every table that has rows.

    `words` are the columns of text, `names` those of them whose long names may break.
    """
    shown = [as_json_table(title, table) for title, table in first(result) if table]
    more = [as_json_table(title, table, is_folded=True) for title, table in folded(result) if table]
    return shown + more


def as_json_table(title: str, table: Table, *, is_folded: bool = False) -> JsonObject:
    """Return a table as the page takes it."""
    return {
        "title": as_json(title),
        "columns": [as_json(column) for column in table.columns],
        "rows": [[as_json(cell) for cell in row] for row in table.rows],
        "words": sorted(table.words),
        "names": sorted(table.names),
        "folded": is_folded,
    }


def first(result: RunResult) -> Iterator[Titled]:
    """Return the tables below the chart."""
    kinds = {
        "diff": _of_diff,
        "compare": _of_comparison,
        "tune": _of_tuning,
        "micro": function_tables.titled_tables,
    }
    if result.kind in kinds:
        yield from kinds[result.kind](result)
        return
    if len(result.levels) == 1:
        yield from of_level(result, say("Times of ok responses"))
    else:
        yield say("Levels: median of rounds"), level_table.levels(result)
        yield say("Streams: median of rounds"), stream_tables.streams_of_levels(result)
    yield say("Capacity"), level_table.capacity(result)
    yield say("LLM servers and GPUs"), serving_table.of_levels(result)
    yield say("Target and machine"), monitor_table.of_levels(result)
    if len(result.levels) == 1:
        yield say("SLOs"), slo_table.of_levels(result)


def folded(result: RunResult) -> Iterator[Titled]:
    """Return the tables that the page shows folded."""
    levels = result.levels
    if result.kind in {"diff", "micro"}:
        yield from flame_table.top_functions(result)
        yield from profiled_line_table.tables(result)
        return
    if result.kind == "compare":
        comparison = Comparison.of(result)
        yield say("Every verdict"), verdict_table.verdicts(result)
        yield say("Errors"), comparison_tables.of_errors(comparison)
        yield say("Candidates"), facts.candidates(comparison)
        yield say("Versions of the candidates"), facts.versions(comparison)
        yield say("Configuration"), facts.configuration(result)
    elif result.kind == "tune":
        title = say("The search: estimates without a verdict")
        yield title, tuning_tables.of_search(Tuning.of(result))
        yield say("Configuration"), tuning_tables.configuration(result)
    else:
        if len(levels) > 1:
            yield say("SLOs at every level"), slo_table.of_levels(result)
            yield say("Requests at every level"), request_tables.requests_of_levels(result)
            streamed = request_tables.streams_of_requests_of_levels(result)
            yield say("Streams of requests at every level"), streamed
            yield say("Configuration"), protocol_rows.configuration(result)
        yield say("Errors"), level_table.errors(result)
        yield (
            say("Events that the locustfile reported as failed"),
            request_tables.failed_events(levels),
        )
        yield say("Status codes"), level_table.statuses(result)
    yield from flame_table.top_functions(result)
    yield say("Metrics of endpoints"), monitor_table.of_endpoints(result)
    yield say("How each level was judged"), health_table.judged(levels)


def _of_diff(result: RunResult) -> Iterator[Titled]:
    yield say("Verdicts"), verdict_table.verdicts(result)
    yield say("Limits"), verdict_table.limits(result)
    yield say("Ratios"), level_table.ratios(result)
    yield say("Ratios of streams"), level_table.ratios_of_streams(result)


def _of_comparison(result: RunResult) -> Iterator[Titled]:
    comparison = Comparison.of(result)
    yield say("Verdicts"), comparison_tables.of_words(comparison)
    yield from comparison_tables.of_cells(comparison)
    yield say("LLM servers and GPUs"), serving_table.of_comparison(comparison)
    yield say("SLOs"), slo_table.of_comparison(result)
    yield say("Trials that failed"), comparison_tables.of_failures(comparison)
    yield say("Rounds discarded"), comparison_tables.of_discarded(comparison)


def _of_tuning(result: RunResult) -> Iterator[Titled]:
    tuning = Tuning.of(result)
    yield say("Finalists, in fresh rounds"), tuning_tables.of_finalists(tuning)
    yield say("Settings that are out"), tuning_tables.of_settings_out(tuning)
    yield say("Settings that were not tried"), tuning_tables.of_untried(tuning)


def of_level(result: RunResult, times: str) -> Iterator[Titled]:
    """Return the tables of a single level; `times` is the title of the first."""
    level = result.levels[0]
    yield times, level_table.times(level)
    yield say("Streams"), stream_tables.streams(level)
    is_of_messages = level.stream is not None and level.stream.is_of_messages
    yield say("Messages") if is_of_messages else say("Tokens"), stream_tables.tokens(level)
    yield say("Requests"), request_tables.requests(level)
    yield say("Sockets of requests"), request_tables.sockets_of_requests(level)
    yield say("Streams of requests"), request_tables.streams_of_requests(level)
    yield say("Throughput"), level_table.throughput(level, protocol_rows.protocol(result))
