"""What `torr compare` says of servers whose difference is known, and what a trial costs beside it.

The servers work for each response (`working.py`): the same, 5 % or 20 % more. A matrix of the same
server twice is a coin that should not speak; chance is drawn from real rounds by exchanging the
two sides of some of them, which changes nothing where both are the same.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from torr.verdicts.comparison import verdicts
from truth.matrices import compared, slower_by, verdict
from truth.row import Round, Value

if TYPE_CHECKING:
    from torr.results.level import Level
    from torr.results.result import RunResult

AA_BAR = "≤ 9 of 100 (20 real, 80 by exchanging sides of real rounds), 2,000 exchanged ≤ 6 %"
FIVE_BAR = "found in ≥ 8 of 10 matrices of 10 rounds of 5 s"
SETTLED_BAR = "found by --until settled, 40 rounds of 5 s at most"
TWENTY_BAR = "found in 10 of 10 matrices of 6 rounds of 5 s"

_TURNS = 20_000
_REAL, _ALL, _MANY = 20, 100, 2_000
_WORDS = ("better", "worse")


def same_twice(_seconds: int) -> Round:
    """How often one of two same servers is called better or worse."""
    real = [compared({"a": _TURNS, "b": _TURNS}, 10, 1) for _ in range(_REAL)]
    chance = random.Random(1)  # noqa: S311 - a draw that can be repeated
    drawn = [spoken(exchanged(chance.choice(real).levels, chance)) for _ in range(_MANY)]
    words = [verdict(one).word for one in real]
    found = sum(word in _WORDS for word in words) + sum(drawn[: _ALL - _REAL])
    aside = asides(real)
    return Round(
        {
            "of 100": Value(found, 0, 9),
            "% of 2,000": Value(100 * sum(drawn) / _MANY, 0, 6),
        },
        aside,
    )


def exchanged(levels: Sequence[Level], chance: random.Random) -> list[Level]:
    """The trials, in about half of whose rounds the candidates have changed their names."""
    rounds = {level.round for level in levels}
    turned = {number for number in rounds if chance.random() < 0.5}
    other = {"a": "b", "b": "a"}
    return [
        msgspec.structs.replace(level, candidate=other[level.candidate or ""])
        if level.round in turned
        else level
        for level in levels
    ]


def spoken(levels: Sequence[Level]) -> bool:
    """Whether the primary metric has a word for a difference."""
    return verdicts(levels, "a")[0].word in _WORDS


def slower(share: float, rounds: int, seconds: float, least: int, *words: str, of: int = 10) -> Any:  # noqa: ANN401
    """Matrices with a server that works so much more; at least so many `of` them must find it."""

    def measure(_seconds: int) -> Round:
        more = slower_by(share, _TURNS)
        both = {"base": _TURNS, "more": more}
        found = [compared(both, rounds, seconds, *words) for _ in range(of)]
        worse = sum(verdict(one).word == "worse" for one in found)
        ratio = statistics.median(verdict(one).ratio or 0.0 for one in found)
        known = 1 / (1 + share)
        values = {
            f"found of {of}": Value(worse, of, of - least),
            "ratio": Value(ratio, known, 0.01),
        }
        wanted = [verdict(one).more_rounds for one in found if verdict(one).more_rounds]
        aside = asides(found)
        aside["rounds"] = " ".join(str(verdict(one).n) for one in found)
        if wanted:
            aside["more rounds wanted"] = " ".join(map(str, wanted))
        return Round(values, aside)

    return measure


def asides(results: list[RunResult]) -> dict[str, float | str]:
    """The spread of differences within rounds, the words, and what the machine did."""
    found = [verdict(one) for one in results]
    levels = [level for one in results for level in one.levels]
    spreads = [one.spread for one in found if one.spread is not None]
    words = Counter(one.word for one in found)
    verdicts_of_health = Counter(level.health.verdict for level in levels)
    return {
        "sd within a round, %": round(100 * statistics.median(spreads), 2),
        "words": " ".join(f"{count} {word}" for word, count in words.items()),
        "health": " ".join(f"{count} {word}" for word, count in verdicts_of_health.items()),
        "failed trials": sum(len(one.failures) for one in results),
        "steal %": round(statistics.median(level.health.steal_rate or 0.0 for level in levels), 2),
        "monitor, % of a core": max(
            level.monitor.cost_rate or 0.0 for level in levels if level.monitor
        ),
    }
