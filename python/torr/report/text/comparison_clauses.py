"""Clauses about verdicts of a comparison: of one candidate in one cell, or of all its cells.

A clause describes one verdict, or counts verdicts and names the largest: nothing is averaged over
cells. There is no clause about two candidates that were not compared with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torr.messages.counts import counted as number_of
from torr.messages.say import Text, chain, say
from torr.report.data.comparison import CandidateCell, ComparisonCell
from torr.report.data.result_words import word_text
from torr.report.text import comparison_words as words
from torr.stats.metric import ERROR_RATE, OK_PER_S, Metric

if TYPE_CHECKING:
    from torr.results.verdict import Verdict

CellEntries = Sequence[tuple[ComparisonCell, CandidateCell]]
"""What one or several candidates did in some cells."""

DIFFER = ("better", "worse")
REST = ("same", "inconclusive", "no verdict", "failed", "no baseline", "not measured")

_PHRASES = {
    "same": say("the same"),
    "no verdict": say("without a verdict, since the generator was the limit,"),
    "no baseline": say("without a baseline"),
}
WORDS = {
    "better": say("better"),
    "worse": say("worse"),
    "faster": say("faster"),
    "slower": say("slower"),
}


def with_word(entries: CellEntries, word: str) -> CellEntries:
    """Return the cells in which a candidate has a standing."""
    return [(cell, entry) for cell, entry in entries if cell.standing(entry) == word]


def rounds_of(cell: ComparisonCell, entry: CandidateCell) -> Text:
    """Return how many rounds a verdict is of: `10 rounds`."""
    return number_of(cell.verdict(entry).n or 0, "round")


def differs(cell: ComparisonCell, entry: CandidateCell) -> Text:
    """Return a verdict that is better or worse: `b is 12 % slower than a (9–15 %, 10 rounds)`."""
    verdict = cell.verdict(entry)
    values = {
        "name": entry.name,
        "baseline": cell.baseline,
        "amount": _amount(cell, entry),
        "rounds": rounds_of(cell, entry),
    }
    span, faster = _span(verdict), _faster(cell, entry)
    if words.is_multiple(verdict):
        values |= {"span": span, "metric": cell.primary.label}
        return say("{name} has {amount} the {metric} of {baseline} ({span}, {rounds})", **values)
    if words.change(verdict):
        values |= {"span": span, "faster": faster}
        return say("{name} is {amount} {faster} than {baseline} ({span}, {rounds})", **values)
    return say("{name} is {faster} than {baseline} ({amount}, {rounds})", **values, faster=faster)


def _faster(cell: ComparisonCell, entry: CandidateCell) -> str:
    """Return the word of a difference, and its metric where that is not the usual one."""
    word = WORDS[cell.printed(entry)]
    if cell.primary.key == OK_PER_S:
        return word
    return say("{word} by {metric}", word=word, metric=cell.primary.label)


def same(cell: ComparisonCell, entry: CandidateCell) -> Text:
    """Return a verdict of sameness with its interval; of rates of 0, that neither answered."""
    verdict = cell.verdict(entry)
    values = {"name": entry.name, "baseline": cell.baseline, "place": cell.words}
    if cell.primary.is_rate and not verdict.value and not verdict.baseline_value:
        return say("Neither {name} nor {baseline} answered at {place}", **values)
    span, rounds = _span(verdict), rounds_of(cell, entry)
    values["span"] = say("{span}, {rounds}", span=span, rounds=rounds) if span else rounds
    if reason := cell.reason(entry):
        values["span"] = say("{said}, {reason}", said=values["span"], reason=reason)
    if cell.primary.key == OK_PER_S:
        return say("{name} and {baseline} are the same at {place} ({span})", **values)
    values["metric"] = cell.primary.label
    return say("{name} and {baseline} are the same by {metric} at {place} ({span})", **values)


def undecided(cell: ComparisonCell, entry: CandidateCell) -> Text:
    """Return what was seen of a difference, and why it is no verdict."""
    verdict = cell.verdict(entry)
    names = {"name": entry.name, "baseline": cell.baseline}
    clause = say("{name} against {baseline}", **names)
    ratio = words.ratio(verdict)
    if ratio != "–":
        values = {"ratio": ratio, "metric": cell.primary.label, **names}
        clause = say("{name} has {ratio} the {metric} of {baseline}", **values)
        if verdict.interval:
            clause = say("{said} ({seen})", said=clause, seen=words.interval(verdict))
    reason = cell.reason(entry)
    return chain("; ", [clause, reason or say("no reason was recorded")])


def counted(word: str, cells: CellEntries, total: int | None = None, than: str = "") -> Text:
    """Return in how many cells a word was found; of differences the largest, with its cell.

    `slower than a in 3 of 4 cells, most at 500 connections: 12 % (9–15 %)`
    """
    where = say("in {n}", n=len(cells))
    if total is not None:
        where = say("in {n} of {total} cells", n=len(cells), total=total)
    if word not in DIFFER:
        more = to_settle(cells) if word == "inconclusive" else ""
        what = _PHRASES.get(word) or word_text(word)
        return say("{what} {where}{more}", what=what, where=where, more=more)
    cell, entry = max(cells, key=size)
    faster = _faster(cell, entry)
    if than:
        faster = say("{faster} than {baseline}", faster=faster, baseline=than)
    values = {"faster": faster, "where": where, "place": cell.words}
    most = say("{faster} {where}, at {place}", **values)
    if len(cells) > 1:
        most = say("{faster} {where}, most at {place}", **values)
    amount, span = _amount(cell, entry), _span(cell.verdict(entry))
    if span:
        amount = say("{amount} ({span})", amount=amount, span=span)
    return say("{most}: {amount}", most=most, amount=amount)


def to_settle(cells: CellEntries) -> str:
    """Return how many more rounds would settle what is inconclusive, or the reason they share."""
    reasons = {cell.reason(entry) for cell, entry in cells}
    if len(reasons) == 1 and (reason := reasons.pop()):
        return say(" ({why})", why=reason)
    known = [n for cell, entry in cells if (n := cell.verdict(entry).more_rounds)]
    if not known:
        return ""
    span: str = f"{min(known):,}"
    if min(known) != max(known):
        span = say("{low:,} to {high:,}", low=min(known), high=max(known))
    if len(known) == len(cells):
        return say(" (about {rounds} more rounds would settle them)", rounds=span)
    return say(" (about {rounds} more rounds would settle {n} of them)", rounds=span, n=len(known))


def size(pair: tuple[ComparisonCell, CandidateCell]) -> float:
    """Return how large a difference is; where one side had nothing, none is larger."""
    cell, entry = pair
    verdict = cell.verdict(entry)
    if verdict.difference is not None:
        return abs(verdict.difference)
    return abs(math.log(verdict.ratio)) if verdict.ratio else math.inf


def fails_more(cell: ComparisonCell, entry: CandidateCell) -> str:
    """Return that a candidate fails more, where that was shown, and by how much."""
    verdict = entry.verdict(Metric(ERROR_RATE))
    if cell.primary.key == ERROR_RATE or verdict.word != "worse":
        return ""
    return say(", but fails more ({ratio})", ratio=words.ratio(verdict))


def fails_in(entries: CellEntries) -> str:
    """Return in how many cells a candidate was shown to fail more than the baseline."""
    failing = [cell for cell in entries if fails_more(*cell)]
    return say("it fails more in {n}", n=len(failing)) if failing else ""


def _amount(cell: ComparisonCell, entry: CandidateCell) -> str:
    """Return the size of a difference: `12 %`, `2.4 ×`, or both numbers where there is no ratio."""
    verdict, metric = cell.verdict(entry), cell.primary
    if words.is_multiple(verdict):
        return f"{verdict.ratio:.1f} ×"
    if verdict.difference is not None:
        return words.ratio(verdict)
    value, base = (words.value(metric, x) for x in (verdict.value, verdict.baseline_value))
    against = {"value": value, "baseline": base, "metric": metric.label}
    return words.change(verdict) or say("{value} against {baseline} {metric}", **against)


def _span(verdict: Verdict) -> str:
    """Return the interval in the words of the amount."""
    if words.is_multiple(verdict) or verdict.difference is not None:
        return words.interval(verdict)
    return words.change_interval(verdict)
