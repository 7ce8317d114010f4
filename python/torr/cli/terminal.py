"""Print a result in the terminal: the verdict, how far to trust it, then the numbers.

Without a terminal or with NO_COLOR the lines are plain and at most 80 columns wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from torr.cli.display import comparison, diff, functions, ladder, profiles, run, tuning
from torr.cli.screen import Screen
from torr.report.text import sentence, trust

if TYPE_CHECKING:
    from torr.messages.say import Language
    from torr.results.result import RunResult

COLOURS = {"healthy": "green", "contended": "yellow", "generator-limited": "red"}


def show(
    result: RunResult,
    *,
    quiet: bool = False,
    console: Console | None = None,
    language: Language | None = None,
) -> None:
    """Print a result of any kind."""
    out = Screen(console or Console(highlight=False, soft_wrap=True), language or "en")
    out.line(sentence.verdict(result), "bold")
    if quiet:
        return
    if not sentence.is_measured(result):
        out.line(trust.trust(result))
        return
    out.line(trust.trust(result), COLOURS.get(trust.health(result), ""))
    displays = {
        "ladder": ladder.show,
        "diff": diff.show,
        "compare": comparison.show,
        "tune": tuning.show,
        "micro": functions.show,
    }
    displays.get(result.kind, run.show)(result, out)
    profiles.show(result, out)
