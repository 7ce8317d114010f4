"""The tuning ledger as people read it: a sentence, and a row a run, as table, Markdown and CSV.

Whether a change is more than noise is said in each row: by a word, or by why there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torr.report import csv, markdown_parts
from torr.report.cells import Table
from torr.report.diff import show_ratio
from torr.stats.metric import Metric
from torr.units import show_count, show_ms, show_percent, show_rate

Json = Mapping[str, Any]

COLUMNS = (
    *("run", "when (UTC)", "note", "load", "trials"),
    *("ok/s", "p95", "success", "to the one before", "to the best so far"),
)
_NOTHING = "–"
_CHANGES = ("before", "best")


def sentence(ledger: Json) -> str:
    """Say which run is the best, and how far from the first it is."""
    entries: Sequence[Json] = ledger["entries"]
    best = next((entry for entry in entries if entry["is_best"]), None)
    what = " of ".join(word for word in (ledger["request"], ledger["name"]) if word)
    if best is None:
        return f"No run of {what} is kept."
    note = f" ({best['note']})" if best["note"] else ""
    first = next(entry for entry in entries if entry["ok_per_s"] is not None)
    count = show_count(len(entries), "run")
    text = f"{count} of {what}: run {best['run']}{note} is the best, {_rate(best)} ok/s"
    if first is best or not first["ok_per_s"]:
        return f"{text}."
    return f"{text}, {best['ok_per_s'] / first['ok_per_s']:.2f} × the first."


def table(ledger: Json) -> Table:
    """Return one row a run, in the order of the session."""
    rows = tuple(map(_cells, ledger["entries"]))
    return Table(COLUMNS, rows, frozenset({1, 2, 3, 8, 9}), frozenset({2}))


def markdown(ledger: Json) -> str:
    """Return sentence and table, to paste into a ticket."""
    said = f"**{markdown_parts.plain(sentence(ledger))}**"
    return f"{said}\n\n{markdown_parts.table(table(ledger))}\n"


def comma_separated(ledger: Json) -> str:
    """Return one row a run with every number under its name in the JSON."""
    entries = ledger["entries"]
    # A change that there is none of has no columns, and not an empty one of its own.
    known = [
        {k: x for k, x in entry.items() if x is not None or k not in _CHANGES} for entry in entries
    ]
    return csv.text(known)


def _cells(entry: Json) -> tuple[str, ...]:
    if entry["reason"]:
        numbers = (_NOTHING, _NOTHING, _NOTHING, entry["reason"], _NOTHING)
    else:
        numbers = (
            _rate(entry),
            show_ms(entry["p95_ms"]),
            show_percent(entry["success_rate"]),
            _change(entry["before"]),
            _change(entry["best"]),
        )
    when = str(entry["started"])[:16].replace("T", " ")
    trials = f"{entry['trials']}" if entry["trials"] else _NOTHING
    return (f"{entry['run']}", when, entry["note"] or "", _load(entry), trials, *numbers)


def _rate(entry: Json) -> str:
    return f"{'≥ ' if entry['at_least'] else ''}{show_rate(entry['ok_per_s'])}"


def _load(entry: Json) -> str:
    if entry["concurrency"] is None:
        return _NOTHING
    if entry["rate"] is not None:
        return f"{show_rate(entry['rate'])}/s"
    return show_count(entry["concurrency"], entry["noun"])


def _change(change: Json | None) -> str:
    """A ratio and its word, or why there is no word."""
    if change is None:
        return _NOTHING
    metric = Metric(change["metric"])
    what = "" if metric.is_rate else f"{metric.label} "
    why = (change["reason"] or "").partition(":")[0]
    return f"{what}{show_ratio(change)} {change['word'] or why}"
