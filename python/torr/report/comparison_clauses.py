"""Clauses of what a comparison found: of one candidate in one cell, or of the cells with one word.

Each says what one verdict says, or counts verdicts and names the largest: nothing is averaged over
cells, and nothing is said of candidates between whom nothing was judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torr.report import comparison_words as words
from torr.report.comparison import Entry, Place
from torr.stats.metric import ERROR_RATE, OK_PER_S, Metric
from torr.units import show_count

Seen = Sequence[tuple[Place, Entry]]
"""What one or several candidates did in some cells."""

DIFFER = ("better", "worse")
REST = ("same", "inconclusive", "no verdict", "failed", "no baseline", "not measured")

_PHRASES = {
    "same": "the same",
    "no verdict": "without a verdict, since the generator was the limit,",
    "no baseline": "without a baseline",
}


def with_word(seen: Seen, word: str) -> Seen:
    """Return the cells in which a candidate has a standing."""
    return [(place, entry) for place, entry in seen if place.standing(entry) == word]


def rounds_of(place: Place, entry: Entry) -> str:
    """Return how many rounds a verdict is of: `10 rounds`."""
    return show_count(_verdict(place, entry).get("n") or 0, "round")


def differs(place: Place, entry: Entry) -> str:
    """Return a verdict that is better or worse: `b is 12 % slower than a (9–15 %, 10 rounds)`."""
    verdict, metric = _verdict(place, entry), place.primary
    amount, span, rounds = _amount(place, entry), _span(verdict), rounds_of(place, entry)
    by = "" if metric.key == OK_PER_S else f" by {metric.label}"
    if words.is_multiple(verdict):
        said = f"{entry.name} has {amount} the {metric.label} of {place.baseline}"
        return f"{said} ({span}, {rounds})"
    if words.change(verdict):
        said = f"{entry.name} is {amount} {place.printed(entry)}{by} than {place.baseline}"
        return f"{said} ({span}, {rounds})"
    said = f"{entry.name} is {place.printed(entry)}{by} than {place.baseline}"
    return f"{said} ({amount}, {rounds})"


def same(place: Place, entry: Entry) -> str:
    """Return a verdict of sameness with its interval; of rates of 0, that nobody answered."""
    verdict = _verdict(place, entry)
    if place.primary.is_rate and not verdict.get("value") and not verdict.get("baseline_value"):
        return f"Neither {entry.name} nor {place.baseline} answered at {place.words}"
    parts = (_span(verdict), rounds_of(place, entry), place.reason(entry))
    span = ", ".join(part for part in parts if part)
    by = "" if place.primary.key == OK_PER_S else f" by {place.primary.label}"
    return f"{entry.name} and {place.baseline} are the same{by} at {place.words} ({span})"


def undecided(place: Place, entry: Entry) -> str:
    """Return what was seen of a difference, and why it is no verdict."""
    verdict = _verdict(place, entry)
    said = f"{entry.name} against {place.baseline}"
    if verdict.get("ratio") is not None or verdict.get("difference") is not None:
        seen = f" ({words.interval(verdict)})" if verdict.get("interval") else ""
        label = place.primary.label
        said = f"{entry.name} has {words.ratio(verdict)} the {label} of {place.baseline}{seen}"
    return f"{said}; {place.reason(entry) or 'no reason was kept'}"


def counted(word: str, cells: Seen, total: str = "", than: str = "") -> str:
    """Return in how many cells a word was found; of differences the largest, with its place.

    `slower than a in 3 of 4 cells, most at 500 connections: 12 % (9–15 %)`
    """
    count = f"in {len(cells)}{total}"
    if word not in DIFFER:
        more = to_settle(cells) if word == "inconclusive" else ""
        return f"{_PHRASES.get(word, word)} {count}{more}"
    place, entry = max(cells, key=size)
    span = _span(_verdict(place, entry))
    most = "most at" if len(cells) > 1 else "at"
    by = "" if place.primary.key == OK_PER_S else f" by {place.primary.label}"
    said = f"{place.printed(entry)}{by}{than} {count}, {most} {place.words}"
    return f"{said}: {_amount(place, entry)}{f' ({span})' if span else ''}"


def to_settle(cells: Seen) -> str:
    """Return how many more rounds would settle what is inconclusive, or the reason they share."""
    reasons = {place.reason(entry) for place, entry in cells}
    if len(reasons) == 1 and (reason := reasons.pop()):
        return f" ({reason})"
    known = [n for place, entry in cells if (n := _verdict(place, entry).get("more_rounds"))]
    if not known:
        return ""
    span = f"{min(known):,}" if min(known) == max(known) else f"{min(known):,} to {max(known):,}"
    which = "them" if len(known) == len(cells) else f"{len(known)} of them"
    return f" (about {span} more rounds would settle {which})"


def size(cell: tuple[Place, Entry]) -> float:
    """Return how large a difference is; where one side had nothing, none is larger."""
    verdict = _verdict(*cell)
    if verdict.get("difference") is not None:
        return abs(float(verdict["difference"]))
    ratio = verdict.get("ratio")
    return abs(math.log(ratio)) if ratio else math.inf


def fails_more(place: Place, entry: Entry) -> str:
    """Return that a candidate fails more, where that was shown, and by how much."""
    verdict = entry.verdicts.get(Metric(ERROR_RATE)) or {}
    if place.primary.key == ERROR_RATE or verdict.get("word") != "worse":
        return ""
    return f", but fails more ({words.ratio(verdict)})"


def fails_in(seen: Seen) -> str:
    """Return in how many cells a candidate was shown to fail more than the baseline."""
    found = [cell for cell in seen if fails_more(*cell)]
    return f"; it fails more in {len(found)}" if found else ""


def _verdict(place: Place, entry: Entry) -> Mapping[str, Any]:
    return place.verdict(entry) or {}


def _amount(place: Place, entry: Entry) -> str:
    """How much: `12 %`, `2.4 ×`, or both numbers where there is no ratio."""
    verdict, metric = _verdict(place, entry), place.primary
    if words.is_multiple(verdict):
        return f"{verdict['ratio']:.1f} ×"
    if verdict.get("difference") is not None:
        return words.ratio(verdict)
    sides = (words.value(metric, verdict.get(key)) for key in ("value", "baseline_value"))
    return words.change(verdict) or f"{' against '.join(sides)} {metric.label}"


def _span(verdict: Mapping[str, Any]) -> str:
    """The interval in the words of the amount."""
    if words.is_multiple(verdict) or verdict.get("difference") is not None:
        return words.interval(verdict)
    return words.change_interval(verdict)
