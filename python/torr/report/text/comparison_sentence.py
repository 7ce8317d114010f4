"""The verdict of a comparison as one sentence that never says more than its verdicts do.

    go-gin is 12 % slower than go-net (9–15 %, 10 rounds) at 500 connections.
    go-gin is slower than go-net in 3 of 4 cells, most at 500 connections: 12 % (9–15 %); …

Candidates are judged against the baseline alone, so none is called the fastest of all: the first
one is farthest ahead of the baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted as number_of
from torr.messages.say import Text, chain, one_line, say
from torr.report.data import cell_names
from torr.report.data.comparison import Comparison
from torr.report.data.result_words import word_text
from torr.report.data.wording import because, first_text
from torr.report.text.comparison_clauses import (
    DIFFER,
    REST,
    WORDS,
    CellEntries,
    counted,
    differs,
    fails_in,
    fails_more,
    same,
    size,
    to_settle,
    undecided,
    with_word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torr.results.result import RunResult

SHARED = say("client and target share this machine")

_HEADS = {
    "same": say("the same"),
    "no verdict": say("no verdict, since the generator was the limit"),
    "no baseline": say("without a baseline"),
}


def verdict(result: RunResult) -> Text:
    """Return what was found."""
    comparison = Comparison.of(result)
    clauses = [_nothing(comparison) or ""]
    if not clauses[0]:
        clauses = [
            *(_of_pair(comparison) if len(comparison.rivals) == 1 else _of_many(comparison)),
            _bounds(comparison),
        ]
    end = say("ended early by {what}", what=result.ended_by) if result.ended_by else ""
    return one_line(say("{said}.", said=chain("; ", [*clauses, end])))


def _nothing(comparison: Comparison) -> Text | None:
    """Return why nothing can be compared; None where something can."""
    if not any(entry.trials for cell in comparison.cells for entry in cell.entries):
        return chain("; ", [say("Nothing was measured"), _first_failure(comparison)])
    if not comparison.rivals:
        return say("Nothing to compare: {name} is the only candidate", name=comparison.baseline)
    if not any(cell.base.trials for cell in comparison.cells):
        return say("Nothing to compare: {why}", why=_absent(comparison, comparison.baseline))
    entries = [(p, e) for p in comparison.cells if p.base.trials for e in p.rivals if e.trials]
    if not entries:
        absent = [_absent(comparison, name) for name in comparison.rivals]
        return say("Nothing to compare: {why}", why=cell_names.names(absent))
    if len(with_word(entries, "no verdict")) == len(entries):
        levels = [x for p, e in entries for side in (p.base, e) for x in side.trials.values()]
        why = because(first_text([reason for x in levels for reason in x.health.reasons]))
        return say("Claims nothing: the generator was the limit{why}", why=why)
    return None


def _of_pair(comparison: Comparison) -> list[str]:
    """Describe one candidate against the baseline."""
    name = comparison.rivals[0]
    entries = comparison.of_rival(name)
    if len(entries) > 1:
        return _in_cells(name, entries, comparison)
    cell, entry = entries[0]
    word = cell.standing(entry)
    more = fails_more(cell, entry)
    if word in DIFFER:
        clause = say("{difference} at {place}", difference=differs(cell, entry), place=cell.words)
        return [chain("", [clause, more])]
    if word == "same":
        return [chain("", [same(cell, entry), more])]
    clause = say("Inconclusive at {place}: {why}", place=cell.words, why=undecided(cell, entry))
    return [chain("", [clause, more])]


def _in_cells(name: str, entries: CellEntries, comparison: Comparison) -> list[str]:
    """Describe one candidate in many cells: its differences first, the commoner one before."""
    groups = [(word, cells) for word in (*DIFFER, *REST) if (cells := with_word(entries, word))]
    groups.sort(key=lambda part: -len(part[1]) if part[0] in DIFFER else 1)
    (first, cells), *others = groups
    rest = [counted(word, other) for word, other in others]
    if first in DIFFER:
        clause = counted(first, cells, len(entries), comparison.baseline)
        lead = say("{name} is {said}", name=name, said=clause)
    else:
        clause = counted(first, cells, len(entries))
        names = {"name": name, "baseline": comparison.baseline}
        lead = say("{name} against {baseline}: {said}", **names, said=clause)
    return [lead, *rest, fails_in(entries)]


def _of_many(comparison: Comparison) -> list[str]:
    """Describe the candidate farthest ahead of the baseline, then all others by their word."""
    entries = {name: comparison.of_rival(name) for name in comparison.rivals}
    ahead = {name: with_word(cells, "better") for name, cells in entries.items()}
    lead = max(
        (name for name in ahead if ahead[name]),
        key=lambda name: (len(ahead[name]), max(map(size, ahead[name]))),
        default=None,
    )
    head = (
        [_none_ahead(comparison)]
        if lead is None
        else _leads(comparison, lead, entries[lead], ahead[lead])
    )
    return [*head, *_others(comparison, entries, lead)]


def _none_ahead(comparison: Comparison) -> Text:
    head = say(
        "No candidate of {n} is shown to be {faster} than {baseline}",
        n=len(comparison.names),
        faster=WORDS[comparison.primary.word("better")],
        baseline=comparison.baseline,
    )
    if len(comparison.cells) > 1:
        return head
    return say("{said} at {place}", said=head, place=comparison.cells[0].words)


def _leads(
    comparison: Comparison, lead: str, entries: CellEntries, ahead: CellEntries
) -> list[str]:
    """Describe the candidate that is farthest ahead."""
    if len(comparison.cells) == 1:
        cell, entry = ahead[0]
        where = say("{difference} at {place}", difference=differs(cell, entry), place=cell.words)
        most = say("{said}, the most of {n} candidates", said=where, n=len(comparison.names))
        return [chain("", [most, fails_more(cell, entry)])]
    clause = counted("better", ahead, len(comparison.cells), comparison.baseline)
    return [say("{name} is {said}", name=lead, said=clause), fails_in(entries)]


def _others(
    comparison: Comparison, entries: Mapping[str, CellEntries], lead: str | None
) -> Iterator[Text]:
    """Return the other candidates by word, in many cells with their counts."""
    for word in (*DIFFER, *REST):
        cells = {name: with_word(labels, word) for name, labels in entries.items()}
        names = [n for n in cells if cells[n] and not (word == "better" and n == lead)]
        if not names:
            continue
        is_one = len(comparison.cells) == 1
        labels = [
            name if is_one else say("{name} in {n}", name=name, n=len(cells[name]))
            for name in names
        ]
        head = _HEADS.get(word) or word_text(comparison.primary.word(word))
        if word == "better":
            head = say("also {word}", word=head)
        more = to_settle([x for name in names for x in cells[name]]) if word == REST[1] else ""
        yield say("{word}: {names}{more}", word=head, names=cell_names.names(labels), more=more)


def _bounds(comparison: Comparison) -> str:
    """Say that rates are lower bounds, where they are."""
    is_bound = any(entry.is_bound for cell in comparison.cells for entry in cell.entries)
    if not is_bound or not comparison.primary.is_rate:
        return ""
    return say("rates are lower bounds ({why})", why=SHARED)


def _absent(comparison: Comparison, name: str) -> Text:
    """Return why a candidate has no trial that could be compared."""
    who = say("{name}, the baseline,", name=name) if name == comparison.baseline else name
    own = [failure for failure in comparison.failures if failure.candidate == name]
    if not own:
        return say("{who} has no trial", who=who)
    values = {"trials": number_of(len(own), "trial"), "why": because(own[0].text)}
    return say("{who} failed in {trials}{why}", who=who, **values)


def _first_failure(comparison: Comparison) -> str:
    if not comparison.failures:
        return ""
    first = comparison.failures[0]
    values = {"trials": number_of(len(comparison.failures), "trial"), "name": first.candidate}
    failed = say("{trials} failed and the first was one of {name}", **values)
    return chain("", [failed, because(first.text)])
