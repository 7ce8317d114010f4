"""Tables of verdicts: what each comparison found, how surely, and what it would still take.

Cells are words and rounded numbers; exact ones, and every trial, are in result.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.messages.told import told
from torr.report.tables.cells import Table
from torr.report.text.wording import heading
from torr.stats.judgement import ALPHA
from torr.stats.metric import Metric
from torr.units import show_factor, show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable

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
            told(printed(v)),
            f"+{v.more_rounds}" if v.more_rounds else "–",
            told(v.reason or ""),
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


def limits(result: RunResult) -> Table | None:
    """Return one row a limit and level of a diff."""
    rows = tuple(
        (f"{x.concurrency:,}", x.condition, told(x.word), told(x.reason or ""))
        for x in result.fail_if
    )
    columns = (heading("connection"), say("fails if"), say("word"), say("why"))
    return Table(columns, rows, frozenset({1, 2, 3})) if rows else None


def coverage(found: Iterable[Verdict]) -> str:
    """Return how surely intervals hold what they are about: `95 %`, or `98.3 %` of three looks."""
    alpha = max((verdict.alpha for verdict in found if verdict.alpha), default=ALPHA)
    return f"{100 * (1 - alpha):.3g} %"


def is_comparison(verdict: Verdict) -> bool:
    """Whether it is about a candidate and has a word: no SLO, and no mere ratio."""
    return verdict.baseline is not None and verdict.word is not None


def metric_of(verdict: Verdict) -> Metric:
    """Return what a verdict is about."""
    return Metric(verdict.metric, verdict.request)


def printed(verdict: Verdict) -> str:
    """Return the word as it is printed: faster or slower for times and rates."""
    return metric_of(verdict).word(verdict.word or "")


def show_number(metric: Metric, value: float | None) -> str:
    """Write a number of a metric with its unit."""
    if metric.is_time:
        return show_ms(value)
    if metric.is_share:
        return show_percent(value)
    if metric.key.endswith("_bytes"):
        return show_size(value)
    return f"{show_rate(value)} µs" if metric.key.endswith("_us_per_request") else show_rate(value)


def show_change(verdict: Verdict) -> str:
    """Write how the candidate differs: `1.05 ×`, `+0.20 points`; `–` where nothing says it."""
    if metric_of(verdict).is_share:
        difference = verdict.difference
        return "–" if difference is None else say("{points:+.2f} points", points=difference)
    return "–" if verdict.ratio is None else f"{show_factor(verdict.ratio, 3)} ×"


def show_interval(verdict: Verdict) -> str:
    """Write the interval: `1.02 – 1.08`; an end without a bound is `?`."""
    if verdict.interval is None:
        return "–"
    is_share = metric_of(verdict).is_share
    ends = ("?" if end is None else _end(end, is_share=is_share) for end in verdict.interval)
    return " – ".join(ends)


def _end(end: float, *, is_share: bool) -> str:
    return f"{end:+.2f}" if is_share else show_factor(end, 3)


def _spread(verdict: Verdict) -> str:
    spread = verdict.spread
    if spread is None:
        return "–"
    return f"{spread:.2f}" if metric_of(verdict).is_share else f"{100 * spread:.1f} %"
