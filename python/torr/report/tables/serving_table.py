"""The table of LLM servers and GPUs: a row for each level, and the same numbers in the terminal.

A comparison has a row for each candidate in each cell. Numbers are those of the measured window,
the medians where there are several rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, say
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder, median_of, usable
from torr.stats.series import by_position, noun_of
from torr.units import show_ms, show_percent, show_rate, show_size
from torr.verdicts.serving import median_usage, serving_usage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.report.data.comparison import Comparison
    from torr.results.level import Level
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.serving import ServingUsage

LEAST_OF_SERVING = (
    *("GPU memory max", "GPU in use", "power", "prefix hits", "tokens/J", "preempted"),
    *("running (max)", "tokens/s at server", "ttft of client", "KV cache (max)"),
)
"""The columns in the order in which a narrow terminal leaves them out."""


def show_watts(watts: float | None) -> str:
    """Write a power for people."""
    return "–" if watts is None else f"{show_rate(watts)} W"


def show_share(percent: float | None) -> str:
    """Write a percentage for people, with one digit."""
    return show_percent(None if percent is None else round(percent, 1))


_MEAN_AND_MAX: dict[str, str] = {
    "running_mean": "running_max",
    "waiting_mean": "waiting_max",
    "kv_cache_mean_rate": "kv_cache_max_rate",
}
_COLUMNS: tuple[tuple[Text, str, Callable[[float | None], str]], ...] = (
    (say("running (max)"), "running_mean", show_rate),
    (say("waiting (max)"), "waiting_mean", show_rate),
    (say("KV cache (max)"), "kv_cache_mean_rate", show_share),
    (say("preempted"), "preemptions", show_rate),
    (say("prefix hits"), "prefix_hit_rate", show_share),
    (say("server queue"), "queue_ms", show_ms),
    (say("ttft of server"), "ttft_ms", show_ms),
    (say("tokens/s at server"), "generated_tokens_per_s", show_rate),
    (say("GPU in use"), "gpu_mean_rate", show_share),
    (say("GPU memory max"), "gpu_memory_max_bytes", show_size),
    (say("power"), "power_w", show_watts),
    (say("tokens/J"), "tokens_per_j", show_rate),
)


@dataclass(frozen=True, slots=True)
class ServingRow:
    """A level: what the servers reported, and the mean TTFT of the client.

    Of a comparison it is the trials of a `candidate` in a `cell`.
    """

    position: Position
    usage: ServingUsage
    client_ttft_ms: float | None
    cell: str = ""
    candidate: str = ""


def of_levels(result: RunResult) -> Table | None:
    """Return one row a level, with the columns of which some level has a number."""
    rows = serving_rows(result.levels)
    table = TableBuilder(rows)
    table.number(heading(noun_of(result.levels)), lambda row: f"{row.position:,}")
    _numbers(table, rows)
    return table.build()


def of_comparison(comparison: Comparison) -> Table | None:
    """Return one row for each candidate in each cell, the medians of its trials."""
    rows = [
        replace(row, cell=cell.words, candidate=entry.name)
        for cell in comparison.cells
        for entry in cell.entries
        for row in serving_rows(list(entry.counted_trials.values()))
    ]
    table = TableBuilder(rows)
    if len(comparison.cells) > 1:
        table.text(say("cell"), lambda row: row.cell)
    table.text(say("candidate"), lambda row: row.candidate)
    _numbers(table, rows)
    return table.build()


def _numbers(table: TableBuilder[ServingRow], rows: Sequence[ServingRow]) -> None:
    """Add the columns of which some row has a number."""
    for title, name, show in _COLUMNS:
        if any(_number(row, name) is not None for row in rows):
            _column(table, title, name, show)
            if name == "ttft_ms":
                table.number(say("ttft of client"), lambda row: show_ms(row.client_ttft_ms))


def serving_rows(levels: Sequence[Level]) -> list[ServingRow]:
    """Return a row of each level at which an LLM server or a GPU was monitored, ascending."""
    rows: list[ServingRow] = []
    for position, rounds in by_position(levels).items():
        monitored = usable([level for level in rounds if serving_usage_of(level)])
        if monitored:
            usages = [usage for usage in map(serving_usage_of, monitored) if usage]
            client = median_of(map(_client_ttft, monitored))
            rows.append(ServingRow(position, median_usage(usages), client))
    return rows


def facts(level: Level) -> dict[str, str]:
    """Return the lines of one level for the terminal; those without a number are left out."""
    usage = serving_usage_of(level)
    if usage is None:
        return {}
    lines = {
        say("LLM server"): _requests(usage),
        say("its cache"): _cache(usage),
        say("its times"): _times(usage, _client_ttft(level)),
        say("its tokens"): _tokens(usage),
        "GPU": _gpu(usage),
    }
    return {name: text for name, text in lines.items() if text}


def _column(
    table: TableBuilder[ServingRow], title: Text, name: str, show: Callable[[float | None], str]
) -> None:
    def cell(row: ServingRow) -> str:
        text = show(_number(row, name))
        most = _MEAN_AND_MAX.get(name)
        return text if most is None or text == "–" else f"{text} ({show(_number(row, most))})"

    table.number(title, cell)


def _number(row: ServingRow, name: str) -> float | None:
    number: float | None = getattr(row.usage, name)
    return number


def _client_ttft(level: Level) -> float | None:
    time = level.stream.ttft_ms if level.stream else None
    return time.mean if time else None


def _requests(usage: ServingUsage) -> Text:
    words: list[str] = []
    if usage.running_mean is not None:
        values = {"n": show_rate(usage.running_mean), "most": show_rate(usage.running_max)}
        words.append(say("{n} requests running (at most {most})", **values))
    if usage.waiting_mean is not None:
        values = {"n": show_rate(usage.waiting_mean), "most": show_rate(usage.waiting_max)}
        words.append(say("{n} waiting (at most {most})", **values))
    if usage.preemptions is not None:
        words.append(say("{n} preempted", n=show_rate(usage.preemptions)))
    return chain(" · ", words)


def _cache(usage: ServingUsage) -> Text:
    words: list[str] = []
    if usage.kv_cache_mean_rate is not None:
        share, most = map(show_share, (usage.kv_cache_mean_rate, usage.kv_cache_max_rate))
        words.append(say("{share} of the KV cache in use (at most {most})", share=share, most=most))
    if usage.prefix_hit_rate is not None:
        share = show_share(usage.prefix_hit_rate)
        words.append(say("{share} of the prompts' tokens in the prefix cache", share=share))
    return chain(" · ", words)


def _times(usage: ServingUsage, client_ms: float | None) -> Text:
    words: list[str] = []
    if usage.queue_ms is not None:
        words.append(say("{time} in the queue", time=show_ms(usage.queue_ms)))
    if usage.ttft_ms is not None:
        times = {"server": show_ms(usage.ttft_ms), "client": show_ms(client_ms)}
        words.append(say("ttft {server} on average (client: {client})", **times))
    return chain(" · ", words)


def _tokens(usage: ServingUsage) -> Text:
    words: list[str] = []
    if usage.generated_tokens_per_s is not None:
        words.append(say("{rate}/s generated", rate=show_rate(usage.generated_tokens_per_s)))
    if usage.prompt_tokens_per_s is not None:
        words.append(say("{rate}/s of prompts", rate=show_rate(usage.prompt_tokens_per_s)))
    if usage.tokens_per_j is not None:
        words.append(say("{n} generated per joule", n=show_rate(usage.tokens_per_j)))
    return chain(" · ", words)


def _gpu(usage: ServingUsage) -> Text:
    words: list[str] = []
    if usage.gpu_mean_rate is not None:
        words.append(say("{share} of the time in use", share=show_share(usage.gpu_mean_rate)))
    if usage.power_w is not None:
        words.append(show_watts(usage.power_w))
    if usage.gpu_memory_max_bytes is not None:
        size = show_size(usage.gpu_memory_max_bytes)
        words.append(say("at most {size} of memory", size=size))
    return chain(" · ", words)
