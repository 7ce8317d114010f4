"""Display SLOs: a line per verdict, which begins with its word."""

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
        _show(verdict, _text(verdict), out)


def show_of_comparison(result: RunResult, out: Screen) -> None:
    """Print the SLOs of each candidate in each cell; if there are many, without the held ones."""
    verdicts = slos(result)
    if not verdicts:
        return
    out.line()
    shown = verdicts if len(verdicts) <= MOST else [x for x in verdicts if x[1].word != "held"]
    for place, verdict in shown[:MOST]:
        values = {"name": verdict.candidate or "", "place": place, "said": _text(verdict)}
        _show(verdict, say("{name} at {place}: {said}", **values), out)
    if len(shown) > MOST:
        out.line(say("and {n:,} more", n=len(shown) - MOST))
    held = len(verdicts) - len(shown)
    if held:
        count = say("{n:,} of {total:,}", n=held, total=len(verdicts))
        out.pair(word_text("held"), WORD_COLOURS["held"], count, WORD)


def _show(verdict: Verdict, text: str, out: Screen) -> None:
    word = str(verdict.word)
    out.pair(word_text(word), WORD_COLOURS[word], text, WORD)


def _text(verdict: Verdict) -> str:
    """Return a condition with the measured value, its interval, and the reason of the word."""
    condition = Condition.parse(str(verdict.condition))
    text: str = str(condition)
    if verdict.value is not None:
        text = say("{condition}, seen {value}", condition=text, value=condition.show(verdict.value))
        span = interval_of(verdict)
        if span is not None:
            text = say("{said}, 90 % interval {span}", said=text, span=span)
    if not verdict.reason:
        return text
    return say("{said} ({why})", said=text, why=verdict.reason)
