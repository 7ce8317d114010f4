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
    """Return the line of the causes; none where the numbers show none."""
    texts = [cause.text for cause in result.serving]
    return {say("cause"): chain("; ", texts)} if texts else {}
