"""Tables of verdicts: what each comparison found, how surely, and what it would still take.

Cells are words and rounded numbers; exact ones, and every trial, are in result.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data import diff
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder
from torr.report.text.comparison_words import DIGITS, interval, ratio
from torr.report.text.verdict_words import (
    coverage,
    is_comparison,
    metric_of,
    printed,
    show_number,
)
from torr.results.position import TRACE
from torr.stats.series import noun_of

if TYPE_CHECKING:
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def verdicts(result: RunResult) -> Table | None:
    """Return one row a verdict: the change with its interval, n, spread, p, the word and why.

    `more` is how many rounds more would settle it, an estimate.
    """
    table = TableBuilder(verdict for verdict in result.verdicts if is_comparison(verdict))
    if not table.items:
        return None
    first = table.items[0]
    candidates = {verdict.candidate for verdict in table.items}
    if len(candidates) > 1:
        table.text(say("candidate"), lambda verdict: verdict.candidate or "")
    names = dict.fromkeys(name for verdict in table.items for name in verdict.factors)
    for name in names:
        if name != "connections":
            _factor(table, name)
    if result.kind == "diff":
        table.number(heading(diff.noun(result)), lambda verdict: f"{verdict.position:,}")
    # The times of a trace are no number.
    elif noun_of(result.levels) != TRACE:
        table.number(heading("connection"), lambda verdict: f"{verdict.concurrency:,}")
    table.text(say("metric"), lambda verdict: metric_of(verdict).label)
    table.number(
        first.baseline or "",
        lambda verdict: show_number(metric_of(verdict), verdict.baseline_value),
    )
    table.number(
        say("candidate") if len(candidates) > 1 else first.candidate or "",
        lambda verdict: show_number(metric_of(verdict), verdict.value),
    )
    table.number(say("change"), lambda verdict: ratio(verdict, DIGITS))
    table.number(
        say("{share} interval", share=coverage(table.items)),
        lambda verdict: interval(verdict, DIGITS),
    )
    table.number("n", lambda verdict: f"{verdict.n}")
    table.number(say("spread"), _spread)
    table.number("p", lambda v: "–" if v.p_adjusted is None else f"{v.p_adjusted:.2g}")
    table.text(say("verdict"), lambda verdict: word_text(printed(verdict)))
    table.number(say("more"), lambda v: f"+{v.more_rounds}" if v.more_rounds else "–")
    table.text(say("why"), lambda verdict: verdict.reason or "", breaks=True)
    return table.build()


# A limit names what fails: "held" beside it could be read as the opposite.
_LIMIT_WORDS = {"broken": "failed", "held": "passed"}


def limits(result: RunResult) -> Table | None:
    """Return one row a limit and level of a diff."""
    table = TableBuilder(result.fail_if)
    table.number(heading(diff.noun(result)), lambda limit: f"{limit.position:,}")
    table.text(say("fails if"), lambda limit: limit.condition or "")
    table.text(say("verdict"), lambda x: word_text(_LIMIT_WORDS.get(x.word or "", x.word or "")))
    table.text(say("why"), lambda limit: limit.reason or "")
    return table.build()


def _factor(table: TableBuilder[Verdict], name: str) -> None:
    table.text(name, lambda verdict: str(verdict.factors.get(name, "–")))


def _spread(verdict: Verdict) -> str:
    spread = verdict.spread
    if spread is None:
        return "–"
    return f"{spread:.2f}" if metric_of(verdict).is_share else f"{100 * spread:.1f} %"
