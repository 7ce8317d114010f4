"""What a comparison found, as one sentence that never says more than its verdicts do.

    go-gin is 12 % slower than go-net (9–15 %, 10 rounds) at 500 connections.
    go-gin is slower than go-net in 3 of 4 cells, most at 500 connections: 12 % (9–15 %); …

Candidates are judged against the baseline alone, so no one is called the fastest of all: who leads
is farthest ahead of the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torr.report import comparison_words as words
from torr.report.comparison import Comparison
from torr.report.comparison_clauses import (
    DIFFER,
    REST,
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
from torr.report.wording import because, first_text, join
from torr.units import show_count

Result = Mapping[str, Any]

SHARED = "client and target share this machine"

_HEADS = {
    "same": "the same",
    "no verdict": "no verdict, since the generator was the limit",
    "no baseline": "without a baseline",
}


def verdict(result: Result) -> str:
    """Return what was found."""
    found = Comparison.of(result)
    said = _nothing(found)
    if said is None:
        said = _of_pair(found) if len(found.rivals) == 1 else _of_many(found)
        said += _bounds(found)
    ended_by = result.get("ended_by")
    whole = f"{said}; ended early by {ended_by}." if ended_by else f"{said}."
    return " ".join(whole.split())


def _nothing(found: Comparison) -> str | None:
    """Why nothing can be compared; None where something can."""
    if not any(entry.trials for place in found.places for entry in place.entries):
        return f"Nothing was measured{_first_failure(found)}"
    if not found.rivals:
        return f"Nothing to compare: {found.baseline} is the only candidate"
    if not any(place.base.trials for place in found.places):
        return f"Nothing to compare: {_absent(found, found.baseline)}"
    seen = [(p, e) for p in found.places if p.base.trials for e in p.rivals if e.trials]
    if not seen:
        absent = [_absent(found, name) for name in found.rivals]
        return f"Nothing to compare: {words.names(absent)}"
    if len(with_word(seen, "no verdict")) == len(seen):
        levels = [x for p, e in seen for side in (p.base, e) for x in side.trials.values()]
        reasons = [r for x in levels for r in (x.get("health") or {}).get("reasons") or ()]
        return f"Claims nothing: the generator was the limit{because(first_text(reasons))}"
    return None


def _of_pair(found: Comparison) -> str:
    """One candidate against the baseline."""
    name = found.rivals[0]
    seen = found.of_rival(name)
    if len(seen) > 1:
        return _in_cells(name, seen, found)
    place, entry = seen[0]
    word = place.standing(entry)
    if word in DIFFER:
        return f"{differs(place, entry)} at {place.words}{fails_more(place, entry)}"
    if word == "same":
        return f"{same(place, entry)}{fails_more(place, entry)}"
    return f"Inconclusive at {place.words}: {undecided(place, entry)}{fails_more(place, entry)}"


def _in_cells(name: str, seen: Seen, found: Comparison) -> str:
    """One candidate in many cells: its differences first, the commoner direction before."""
    each = [(word, cells) for word in (*DIFFER, *REST) if (cells := with_word(seen, word))]
    each.sort(key=lambda part: -len(part[1]) if part[0] in DIFFER else 1)
    (first, cells), *others = each
    total = f" of {len(seen)} cells"
    rest = [counted(word, other) for word, other in others]
    if first in DIFFER:
        lead = f"{name} is {counted(first, cells, total, f' than {found.baseline}')}"
    else:
        lead = f"{name} against {found.baseline}: {counted(first, cells, total)}"
    return f"{'; '.join([lead, *rest])}{fails_in(seen)}"


def _of_many(found: Comparison) -> str:
    """Several candidates: who is farthest ahead of the baseline, then all others by their word."""
    seen = {name: found.of_rival(name) for name in found.rivals}
    ahead = {name: with_word(cells, "better") for name, cells in seen.items()}
    lead = max(
        (name for name in ahead if ahead[name]),
        key=lambda name: (len(ahead[name]), max(map(size, ahead[name]))),
        default=None,
    )
    head = _none_ahead(found) if lead is None else _leads(found, lead, seen[lead], ahead[lead])
    return "; ".join([head, *_others(found, seen, lead)])


def _none_ahead(found: Comparison) -> str:
    faster = found.primary.word("better")
    head = f"No candidate of {len(found.names)} is shown to be {faster} than {found.baseline}"
    return f"{head} at {found.places[0].words}" if len(found.places) == 1 else head


def _leads(found: Comparison, lead: str, seen: Seen, ahead: Seen) -> str:
    """What is said of the candidate that is farthest ahead."""
    if len(found.places) == 1:
        place, entry = ahead[0]
        most = f"the most of {len(found.names)} candidates"
        return f"{differs(place, entry)} at {place.words}, {most}{fails_more(place, entry)}"
    total, than = f" of {len(found.places)} cells", f" than {found.baseline}"
    return f"{lead} is {counted('better', ahead, total, than)}{fails_in(seen)}"


def _others(found: Comparison, seen: Mapping[str, Seen], lead: str | None) -> Iterator[str]:
    """What is left to say: names by word in one cell, names with their counts in many."""
    for word in (*DIFFER, *REST):
        cells = {name: with_word(each, word) for name, each in seen.items()}
        names = [n for n in cells if cells[n] and not (word == "better" and n == lead)]
        if not names:
            continue
        is_one = len(found.places) == 1
        each = [name if is_one else f"{name} in {len(cells[name])}" for name in names]
        head = _HEADS.get(word) or found.primary.word(word)
        more = to_settle([x for name in names for x in cells[name]]) if word == REST[1] else ""
        also = "also " if word == "better" else ""
        yield f"{also}{head}: {words.names(each)}{more}"


def _bounds(found: Comparison) -> str:
    """Where rates are lower bounds, so is what is built on them."""
    is_bound = any(entry.is_bound for place in found.places for entry in place.entries)
    return f"; rates are lower bounds ({SHARED})" if is_bound and found.primary.is_rate else ""


def _absent(found: Comparison, name: str) -> str:
    """Why a candidate has no trial that could be compared."""
    who = f"{name}, the baseline," if name == found.baseline else name
    own = [failure for failure in found.failures if failure.get("candidate") == name]
    if not own:
        return f"{who} has no trial"
    times = show_count(len(own), "trial")
    return f"{who} failed in {times}{because(own[0].get('text'))}"


def _first_failure(found: Comparison) -> str:
    if not found.failures:
        return ""
    first = found.failures[0]
    failed = f"{show_count(len(found.failures), 'trial')} failed"
    who = join([failed, f"the first was one of {first.get('candidate')}"])
    return f"; {who}{because(first.get('text'))}"
