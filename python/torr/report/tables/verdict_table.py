"""Tables of verdicts: what each comparison found, how surely, and what it would still take.

Cells are words and rounded numbers; exact ones, and every trial, are in result.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.cells import Table
from torr.report.text.verdict_words import (
    coverage,
    is_comparison,
    metric_of,
    printed,
    show_change,
    show_interval,
    show_number,
)

if TYPE_CHECKING:
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def verdicts(result: RunResult) -> Table | None:
    """Return one row a verdict: the change with its interval, n, spread, p, the word and why.

    `more` is how many rounds more would settle it, an estimate.
    """
    found = [v for v in result.verdicts if is_comparison(v)]
    if not found:
        return None
    names = tuple(dict.fromkeys(key for v in found for key in v.factors if key != "connections"))
    has_several = len({v.candidate for v in found}) > 1
    rows = tuple(
        (
            *((v.candidate or "",) if has_several else ()),
            *(str(v.factors.get(name, "–")) for name in names),
            f"{v.concurrency:,}",
            metric_of(v).label,
            *(show_number(metric_of(v), x) for x in (v.baseline_value, v.value)),
            "–" if v.obstacle else show_change(v),
            "–" if v.obstacle else show_interval(v),
            f"{v.n}",
            _spread(v),
            "–" if v.p_adjusted is None else f"{v.p_adjusted:.2g}",
            word_text(printed(v)),
            f"+{v.more_rounds}" if v.more_rounds else "–",
            v.reason or "",
        )
        for v in found
    )
    a = found[0].baseline or ""
    b = say("candidate") if has_several else found[0].candidate or ""
    level = (*((say("candidate"),) if has_several else ()), *names, heading("connection"))
    columns = (
        *level,
        say("metric"),
        a,
        b,
        say("change"),
        say("{share} interval", share=coverage(found)),
        "n",
        say("spread"),
        "p",
        say("word"),
        say("more"),
        say("why"),
    )
    first = len(level)
    words = {*range(first - 1), first, len(columns) - 3, len(columns) - 1}
    return Table(columns, rows, frozenset(words), frozenset({len(columns) - 1}))


# A limit names what fails: "held" beside it could be read as the opposite.
_OF_LIMITS = {"broken": "failed", "held": "passed"}


def limits(result: RunResult) -> Table | None:
    """Return one row a limit and level of a diff."""
    rows = tuple(
        (
            f"{x.concurrency:,}",
            x.condition or "",
            word_text(_OF_LIMITS.get(x.word or "", x.word or "")),
            x.reason or "",
        )
        for x in result.fail_if
    )
    columns = (heading("connection"), say("fails if"), say("word"), say("why"))
    return Table(columns, rows, frozenset({1, 2, 3})) if rows else None


def _spread(verdict: Verdict) -> str:
    spread = verdict.spread
    if spread is None:
        return "–"
    return f"{spread:.2f}" if metric_of(verdict).is_share else f"{100 * spread:.1f} %"
