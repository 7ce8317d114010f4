"""SLOs in the terminal: a line each, the word first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.model.condition import Condition
from torr.report.data.result_words import word_text
from torr.report.tables.slo_table import interval_of, slos

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cli.screen import Screen
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


WORD = 10  # the longest word of an SLO, and a space
WORD_COLOURS = {"held": "green", "broken": "red", "not shown": "yellow"}
MOST = 12


def show_of_run(verdicts: Sequence[Verdict], out: Screen) -> None:
    """Print the SLOs of one level."""
    if not verdicts:
        return
    out.line()
    for verdict in verdicts:
        _show(verdict, _worth(verdict), out)


def show_of_comparison(result: RunResult, out: Screen) -> None:
    """Print the SLOs of each candidate in each cell; of many only those that did not hold."""
    found = slos(result)
    if not found:
        return
    out.line()
    shown = found if len(found) <= MOST else [x for x in found if x[1].word != "held"]
    for place, verdict in shown[:MOST]:
        whose = {"name": verdict.candidate or "", "place": place, "said": _worth(verdict)}
        _show(verdict, say("{name} at {place}: {said}", **whose), out)
    left = len(shown) - MOST
    if left > 0:
        out.line(say("and {n:,} more", n=left))
    held = len(found) - len(shown)
    if held:
        seen = say("{n:,} of {total:,}", n=held, total=len(found))
        out.pair(word_text("held"), WORD_COLOURS["held"], seen, WORD)


def _show(verdict: Verdict, text: str, out: Screen) -> None:
    word = str(verdict.word)
    out.pair(word_text(word), WORD_COLOURS[word], text, WORD)


def _worth(verdict: Verdict) -> str:
    """A condition with what was seen of it, and why it has its word."""
    condition = Condition.parse(str(verdict.condition))
    said: str = str(condition)
    if verdict.value is not None:
        seen = condition.show(verdict.value)
        said = say("{condition}, seen {value}", condition=said, value=seen)
        span = interval_of(verdict)
        if span is not None:
            said = say("{said}, 90 % interval {span}", said=said, span=span)
    if not verdict.reason:
        return said
    return say("{said} ({why})", said=said, why=verdict.reason)
