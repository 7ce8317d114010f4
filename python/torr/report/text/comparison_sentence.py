"""The verdict of a comparison as one sentence that never says more than its verdicts do.

    go-gin is 12 % slower than go-net (9–15 %, 10 rounds) at 500 connections.
    go-gin is slower than go-net in 3 of 4 cells, most at 500 connections: 12 % (9–15 %); …

Candidates are judged against the baseline alone, so none is called the fastest of all: the first
one is farthest ahead of the baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, one_line, say
from torr.report.data import cell_names
from torr.report.data.comparison import Comparison
from torr.report.data.result_words import word_text
from torr.report.data.wording import because, first_text
from torr.report.data.wording import counted as number_of
from torr.report.text.comparison_clauses import (
    DIFFER,
    REST,
    WORDS,
    Seen,
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
    found = Comparison.of(result)
    said = [_nothing(found) or ""]
    if not said[0]:
        said = [*(_of_pair(found) if len(found.rivals) == 1 else _of_many(found)), _bounds(found)]
    end = say("ended early by {what}", what=result.ended_by) if result.ended_by else ""
    return one_line(say("{said}.", said=chain("; ", [*said, end])))


def _nothing(found: Comparison) -> Text | None:
    """Return why nothing can be compared; None where something can."""
    if not any(entry.trials for cell in found.cells for entry in cell.entries):
        return chain("; ", [say("Nothing was measured"), _first_failure(found)])
    if not found.rivals:
        return say("Nothing to compare: {name} is the only candidate", name=found.baseline)
    if not any(cell.base.trials for cell in found.cells):
        return say("Nothing to compare: {why}", why=_absent(found, found.baseline))
    seen = [(p, e) for p in found.cells if p.base.trials for e in p.rivals if e.trials]
    if not seen:
        absent = [_absent(found, name) for name in found.rivals]
        return say("Nothing to compare: {why}", why=cell_names.names(absent))
    if len(with_word(seen, "no verdict")) == len(seen):
        levels = [x for p, e in seen for side in (p.base, e) for x in side.trials.values()]
        why = because(first_text([reason for x in levels for reason in x.health.reasons]))
        return say("Claims nothing: the generator was the limit{why}", why=why)
    return None


def _of_pair(found: Comparison) -> list[str]:
    """Describe one candidate against the baseline."""
    name = found.rivals[0]
    seen = found.of_rival(name)
    if len(seen) > 1:
        return _in_cells(name, seen, found)
    cell, entry = seen[0]
    word = cell.standing(entry)
    more = fails_more(cell, entry)
    if word in DIFFER:
        said = say("{difference} at {place}", difference=differs(cell, entry), place=cell.words)
        return [chain("", [said, more])]
    if word == "same":
        return [chain("", [same(cell, entry), more])]
    said = say("Inconclusive at {place}: {why}", place=cell.words, why=undecided(cell, entry))
    return [chain("", [said, more])]


def _in_cells(name: str, seen: Seen, found: Comparison) -> list[str]:
    """Describe one candidate in many cells: its differences first, the commoner one before."""
    each = [(word, cells) for word in (*DIFFER, *REST) if (cells := with_word(seen, word))]
    each.sort(key=lambda part: -len(part[1]) if part[0] in DIFFER else 1)
    (first, cells), *others = each
    rest = [counted(word, other) for word, other in others]
    if first in DIFFER:
        said = counted(first, cells, len(seen), found.baseline)
        lead = say("{name} is {said}", name=name, said=said)
    else:
        said = counted(first, cells, len(seen))
        names = {"name": name, "baseline": found.baseline}
        lead = say("{name} against {baseline}: {said}", **names, said=said)
    return [lead, *rest, fails_in(seen)]


def _of_many(found: Comparison) -> list[str]:
    """Describe the candidate farthest ahead of the baseline, then all others by their word."""
    seen = {name: found.of_rival(name) for name in found.rivals}
    ahead = {name: with_word(cells, "better") for name, cells in seen.items()}
    lead = max(
        (name for name in ahead if ahead[name]),
        key=lambda name: (len(ahead[name]), max(map(size, ahead[name]))),
        default=None,
    )
    head = [_none_ahead(found)] if lead is None else _leads(found, lead, seen[lead], ahead[lead])
    return [*head, *_others(found, seen, lead)]


def _none_ahead(found: Comparison) -> Text:
    head = say(
        "No candidate of {n} is shown to be {faster} than {baseline}",
        n=len(found.names),
        faster=WORDS[found.primary.word("better")],
        baseline=found.baseline,
    )
    if len(found.cells) > 1:
        return head
    return say("{said} at {place}", said=head, place=found.cells[0].words)


def _leads(found: Comparison, lead: str, seen: Seen, ahead: Seen) -> list[str]:
    """Describe the candidate that is farthest ahead."""
    if len(found.cells) == 1:
        cell, entry = ahead[0]
        where = say("{difference} at {place}", difference=differs(cell, entry), place=cell.words)
        most = say("{said}, the most of {n} candidates", said=where, n=len(found.names))
        return [chain("", [most, fails_more(cell, entry)])]
    said = counted("better", ahead, len(found.cells), found.baseline)
    return [say("{name} is {said}", name=lead, said=said), fails_in(seen)]


def _others(found: Comparison, seen: Mapping[str, Seen], lead: str | None) -> Iterator[Text]:
    """Return the other candidates by word, in many cells with their counts."""
    for word in (*DIFFER, *REST):
        cells = {name: with_word(each, word) for name, each in seen.items()}
        names = [n for n in cells if cells[n] and not (word == "better" and n == lead)]
        if not names:
            continue
        is_one = len(found.cells) == 1
        each = [
            name if is_one else say("{name} in {n}", name=name, n=len(cells[name]))
            for name in names
        ]
        head = _HEADS.get(word) or word_text(found.primary.word(word))
        if word == "better":
            head = say("also {word}", word=head)
        more = to_settle([x for name in names for x in cells[name]]) if word == REST[1] else ""
        yield say("{word}: {names}{more}", word=head, names=cell_names.names(each), more=more)


def _bounds(found: Comparison) -> str:
    """Say that rates are lower bounds, where they are."""
    is_bound = any(entry.is_bound for cell in found.cells for entry in cell.entries)
    if not is_bound or not found.primary.is_rate:
        return ""
    return say("rates are lower bounds ({why})", why=SHARED)


def _absent(found: Comparison, name: str) -> Text:
    """Return why a candidate has no trial that could be compared."""
    who = say("{name}, the baseline,", name=name) if name == found.baseline else name
    own = [failure for failure in found.failures if failure.candidate == name]
    if not own:
        return say("{who} has no trial", who=who)
    said = {"trials": number_of(len(own), "trial"), "why": because(own[0].text)}
    return say("{who} failed in {trials}{why}", who=who, **said)


def _first_failure(found: Comparison) -> str:
    if not found.failures:
        return ""
    first = found.failures[0]
    said = {"trials": number_of(len(found.failures), "trial"), "name": first.candidate}
    failed = say("{trials} failed and the first was one of {name}", **said)
    return chain("", [failed, because(first.text)])
