"""The charts of LLM servers and GPUs over the levels of a ladder, with the medians of rounds.

The times of client, server and queue share a chart: their differences show where requests wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, as_json, say
from torr.report.tables.serving_table import serving_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.json import JsonObject
    from torr.report.tables.serving_table import ServingRow
    from torr.results.level import Level
    from torr.results.position import Position

_PANELS: tuple[tuple[Text, str, tuple[tuple[Text, str], ...]], ...] = (
    (
        say("Requests at the LLM server"),
        "rate",
        ((say("waiting"), "waiting_mean"), (say("running"), "running_mean")),
    ),
    (
        say("Caches of the LLM server, %"),
        "percent",
        (
            (say("KV cache max"), "kv_cache_max_rate"),
            (say("KV cache"), "kv_cache_mean_rate"),
            (say("prefix hits"), "prefix_hit_rate"),
        ),
    ),
    (
        say("Mean ttft of client and server, and time in the server's queue, ms"),
        "ms",
        ((say("ttft of server"), "ttft_ms"), (say("server queue"), "queue_ms")),
    ),
    (say("Generated tokens per joule"), "rate", ((say("tokens/J"), "tokens_per_j"),)),
)


def panels(levels: Sequence[Level], positions: Sequence[Position]) -> list[JsonObject]:
    """Return the charts of which some level has a value; values are in the order of the levels."""
    row_of = {row.position: row for row in serving_rows(levels)}
    rows = [row_of.get(position) for position in positions]
    made: list[JsonObject] = []
    for title, unit, quantities in _PANELS:
        lines = [_line(label, [_number(row, name) for row in rows]) for label, name in quantities]
        shown = [line for line in lines if _is_known(line)]
        if shown and unit == "ms":
            client = [None if row is None else row.client_ttft_ms for row in rows]
            shown.insert(0, _line(say("ttft of client"), client))
        if shown:
            made.append({"title": as_json(title), "unit": unit, "lines": shown})
    return made


def _number(row: ServingRow | None, name: str) -> float | None:
    number: float | None = None if row is None else getattr(row.usage, name)
    return number


def _line(label: Text, values: Sequence[float | None]) -> JsonObject:
    return {"label": as_json(label), "values": values}


def _is_known(line: JsonObject) -> bool:
    return any(value is not None for value in line["values"])
