"""Display a diff: the changes at each level, and a row for each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.diff import noun, show_ratio
from torr.report.data.wording import heading
from torr.report.tables import verdict_table
from torr.report.tables.level_table import rows_of_diff, spreads
from torr.stats.metric import OF_ALL_STREAMS, OF_STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torr.cli.screen import Screen
    from torr.report.tables.table import Table
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


# A terminal has no room for the numbers of both sides, which are in result.json and the page.
NOT_OF_VERDICTS = ("spread", "p")
LEAST_OF_VERDICTS = ("n", "more")
WHY = "why"
# A shorter part of a reason is of no use.
LEAST_WHY = 30
SPREADS = say("spread of ok/s")
TESTED_TOGETHER = say(
    "Some verdicts are inconclusive although their intervals exclude 1: torr tests the secondary "
    "metrics together, so each needs stronger evidence. `more` is how many more rounds could be "
    "enough."
)


def show(result: RunResult, out: Screen) -> None:
    """Print the changes and their verdicts, if there are any."""
    names = {
        "ok_per_s": "ok/s",
        "service_ms.mean": say("mean time"),
        "response_ms.p95": "p95",
        "success_rate": say("success"),
    }
    of_streams = {metric.key: metric.label for metric in (*OF_STREAMS, *OF_ALL_STREAMS)}
    rows = rows_of_diff(result)
    columns, cells = _changes(result, rows, names)
    spread_cells = [spreads(row["ok_per_s"]) for row in rows.values()]
    if _is_known(spread_cells):
        columns = (*columns, SPREADS)
        cells = [(*row, spread) for row, spread in zip(cells, spread_cells, strict=True)]
    out.line()
    out.table(out.columns(columns, cells).fitting(out.width, (SPREADS,)))
    columns, cells = _changes(result, rows, of_streams)
    if len(columns) > 1:
        out.line()
        out.table(out.columns(columns, cells))
    _show_verdicts(verdict_table.verdicts(result), out)
    if any(map(_looks_decided, result.verdicts)):
        out.line(TESTED_TOGETHER, "dim")


def _changes(
    result: RunResult,
    rows: Mapping[Position, Mapping[str, Verdict]],
    names: Mapping[str, str],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the columns and cells of the changes of these metrics, by level.

    Metrics that no level has are left out, such as p95 for .dat files.
    """
    metrics = [m for m in names if any(_change(row.get(m)) != "–" for row in rows.values())]
    columns = (heading(noun(result)), *(names[metric] for metric in metrics))
    return columns, [
        (f"{at:,}", *(_change(row.get(m)) for m in metrics)) for at, row in rows.items()
    ]


def _show_verdicts(content: Table | None, out: Screen) -> None:
    """Print a row for each verdict with a word; the reason is shortened to the width."""
    if content is None:
        return
    at = content.columns.index("change")
    whole = out.columns(content.columns, content.rows, content.words)
    for name in (*content.columns[at - 2 : at], *NOT_OF_VERDICTS):
        whole = whole.without(name)
    has_room = whole.room_for(WHY, out.width) >= LEAST_WHY
    shown = whole.shortened(WHY, out.width, LEAST_WHY) if has_room else whole.without(WHY)
    out.line()
    out.table(shown.fitting(out.width, LEAST_OF_VERDICTS))


def _looks_decided(verdict: Verdict) -> bool:
    """Return whether a verdict is inconclusive although its interval is on one side of 1."""
    if verdict.word != "inconclusive" or verdict.interval is None:
        return False
    low, high = verdict.interval
    is_above = low is not None and low > 1
    is_below = high is not None and high < 1
    return verdict.ratio is not None and not verdict.reason and (is_above or is_below)


def _is_known(cells: Iterable[str]) -> bool:
    """Return whether one of the cells has a number."""
    return any(any(map(str.isdigit, cell)) for cell in cells)


def _change(verdict: Verdict | None) -> str:
    if verdict is None:
        return "–"
    if verdict.ratio is not None:
        return show_ratio(verdict)
    difference = verdict.difference
    return "–" if difference is None else say("{points:+.2f} points", points=difference)
