"""Display LLM servers and GPUs: a row for each level, and the causes that their numbers show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.tables.serving_table import LEAST_OF_SERVING, of_levels

if TYPE_CHECKING:
    from torr.cli.screen import Screen
    from torr.results.result import RunResult


def show(result: RunResult, out: Screen) -> None:
    """Print the table, if an LLM server or a GPU was monitored."""
    table = of_levels(result)
    if table is not None:
        out.table(out.columns(table.columns, table.rows).fitting(out.width, LEAST_OF_SERVING))
        out.line()


def causes(result: RunResult) -> dict[str, str]:
    """Return the lines of the causes and of users who gave up; none where nothing is known."""
    texts = {
        say("cause"): [cause.text for cause in result.serving],
        say("giving up"): [each.text for each in result.after_giving_up or ()],
    }
    return {name: chain("; ", each) for name, each in texts.items() if each}
