"""The history of a name: a sentence, and a table with a row a run.

Each row has a word for the change, or the reason why there is none. Where the history has a
baseline, the sentence compares the newest run with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.message import Message
from torr.messages.say import chain, say, say_count
from torr.report.data.diff import show_bounded
from torr.report.data.result_words import word_text
from torr.report.tables.table import Table
from torr.stats.metric import OK_PER_S, Metric
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from torr.results.history import Ledger, LedgerEntry, RunChange

_NOTHING = "–"
CHANGES = ("before", "best", "baseline")
_ADVICE = {
    "history.generator_limit": say("give it more cores (--workers), or another machine"),
    "history.cut_short": say("let the next one run to its end"),
    "history.starved": say("measure for longer, or with fewer users"),
}
"""Advice where a run claims nothing, by the code of its reason."""
_SHOWN = ("faster", "slower", "better", "worse")
LISTS = ("ok_per_s_range", "p95_ms_range")


def sentence(ledger: Ledger) -> str:
    """Say how the newest run stands to the baseline; without one, which run is the best."""
    if not ledger.entries:
        return _of_none(ledger)
    if ledger.baseline is None:
        return _of_best(ledger, ledger.entries)
    return _of_newest(ledger, ledger.baseline)


def table(ledger: Ledger) -> Table:
    """Return one row a run, in the order of the session."""
    last = () if ledger.baseline is None else (say("to the baseline"),)
    columns = (
        *(say("run"), say("when (UTC)"), say("note"), say("load"), say("trials")),
        *("ok/s", "p95", say("success"), say("to the one before"), say("to the best so far")),
        *last,
    )
    which = CHANGES if last else CHANGES[:-1]
    rows = tuple(_cells(entry, which) for entry in ledger.entries)
    return Table(columns, rows, frozenset({1, 2, 3, 8, 9, 10}), frozenset({2}))


def _what(ledger: Ledger) -> str:
    if not ledger.request:
        return str(ledger.name)
    return say("{request} of {name}", request=ledger.request, name=ledger.name or "")


def _of_none(ledger: Ledger) -> str:
    """Say that there is no run, or that no run of the name is one that a history shows."""
    if not ledger.others:
        return say("The store has no run of {what}.", what=_what(ledger))
    return say(
        "The store has runs of {what}, but none that matches; comparisons, diffs and functions have"
        " no ledger.",
        what=_what(ledger),
    )


def _of_claimless(ledger: Ledger, newest: LedgerEntry) -> str:
    reason = newest.reason or Message("")
    advice = _ADVICE.get(reason.code)
    return say(
        "No run of {what} claims anything. The newest, {run}: {why}{more}.",
        what=_what(ledger),
        run=_run(newest),
        why=reason,
        more="" if advice is None else say("; {advice}", advice=advice),
    )


def _of_best(ledger: Ledger, entries: Sequence[LedgerEntry]) -> str:
    best = next((entry for entry in entries if entry.is_best), None)
    if best is None:
        return _of_claimless(ledger, entries[-1])
    return say(
        "{count} of {what}: {run} is the best, {value}{more}{doubt}.",
        count=say_count(len(entries), "{n:,} run", "{n:,} runs"),
        what=_what(ledger),
        run=_run(best),
        value=_value(best),
        more=_to_the_first(entries, best),
        doubt=_doubt(entries, best),
    )


def _to_the_first(entries: Sequence[LedgerEntry], best: LedgerEntry) -> str:
    """Return how the best run compares with the first, by the metric of both."""
    first = next(entry for entry in entries if entry.metric is not None)
    if first is best or first.metric != best.metric or not first.value or best.value is None:
        return ""
    ratio = show_bounded(best.value / first.value, (first.value_at_least, best.value_at_least))
    return say(", {ratio} the first", ratio=ratio)


def _doubt(entries: Sequence[LedgerEntry], best: LedgerEntry) -> str:
    """Return why the best run is not shown to be better than another, if it is not."""
    later = entries[entries.index(best) + 1 :]
    changes = [entry.best for entry in (best, *later) if entry.best is not None]
    for change in changes:
        if change.word not in _SHOWN:
            return say(" ({why})", why=_word(change))
    return ""


def _of_newest(ledger: Ledger, baseline: LedgerEntry) -> str:
    """Describe the newest run, which may be the baseline itself; both may claim nothing."""
    newest = ledger.entries[-1]
    known = {"run": _run(newest), "what": _what(ledger)}
    if newest.reason:
        why = newest.reason
        return say("The newest of {what}, {run}, claims nothing: {why}.", why=why, **known)
    value = _value(newest)
    if newest.run == baseline.run:
        return say(
            "The newest of {what}, {run}, is the baseline itself: {value}.", value=value, **known
        )
    change, other = newest.baseline, _run(baseline)
    if change is None:
        return say(
            "The newest of {what}, {run}, has {value}; the baseline, {other}, claims nothing"
            " there: {why}.",
            value=value,
            other=other,
            why=baseline.reason or "",
            **known,
        )
    return say(
        "The newest of {what}, {run}, has {value}, {ratio} the baseline's, {other}: {word}.",
        value=value,
        ratio=show_bounded(change.ratio, change.bounds),
        other=other,
        word=_word(change),
        **known,
    )


def _run(entry: LedgerEntry) -> str:
    if not entry.note:
        return say("run {n}", n=entry.run)
    return say("run {n} ({note})", n=entry.run, note=entry.note)


def _cells(entry: LedgerEntry, which: Sequence[str]) -> tuple[str, ...]:
    numbers: tuple[str, ...]
    if entry.reason:
        # The reason takes the column of the first change; the others are empty.
        rest = (_NOTHING,) * (len(which) - 1)
        numbers = (_NOTHING, _NOTHING, _NOTHING, entry.reason, *rest)
    else:
        numbers = (
            _rate(entry),
            _bounded(show_ms(entry.p95_ms), entry.p95_at_least),
            show_percent(entry.success_rate),
            *(_change(getattr(entry, key)) for key in which),
        )
    when = str(entry.started)[:16].replace("T", " ")
    trials = f"{entry.trials}" if entry.trials else _NOTHING
    return (f"{entry.run}", when, entry.note or "", _load(entry), trials, *numbers)


def _value(entry: LedgerEntry) -> str:
    """Return the number by which a run is compared: `54.1 ok/s`, or `p99 60 ms` in an open loop."""
    metric = Metric(entry.metric or OK_PER_S)
    if metric.is_rate or entry.value is None:
        return say("{rate} ok/s", rate=_rate(entry))
    return chain(" ", [metric.label, _bounded(show_ms(entry.value), entry.value_at_least)])


def _rate(entry: LedgerEntry) -> str:
    return _bounded(show_rate(entry.ok_per_s), entry.at_least)


def _bounded(number: str, at_least: bool) -> str:
    return f"≥ {number}" if at_least else number


def _load(entry: LedgerEntry) -> str:
    if entry.concurrency is None:
        return _NOTHING
    if entry.rate is not None:
        return f"{show_rate(entry.rate)}/s"
    return counted(entry.concurrency, entry.noun)


def _change(change: RunChange | None) -> str:
    """Return a ratio and its word, or why there is no word."""
    if change is None:
        return _NOTHING
    return chain(" ", [_ratio(change), _word(change)])


def _ratio(change: RunChange) -> str:
    """Return the change as a multiple, of p99 in an open loop."""
    metric = Metric(change.metric)
    ratio = show_bounded(change.ratio, change.bounds)
    return chain(" ", ["" if metric.is_rate else metric.label, ratio])


def _word(change: RunChange) -> str:
    """Return the word, or why there is none."""
    reason = change.reason
    if not change.word and reason is not None and reason.code == "history.another_load":
        return say("another load")
    return word_text(change.word or reason or "")
