"""What `compare_functions` says of functions whose difference is known: none, and 10 %.

A function against itself is a coin that should not speak. Chance is drawn besides from real rounds
by exchanging the two sides of some of them, which changes nothing where both are the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING

import msgspec

from micro.functions import FUNCTIONS
from micro.row import Effort, Finding
from torr.micro.comparing import compare_functions
from torr.micro.subject import Subject
from truth.comparing import exchanged, spoken

if TYPE_CHECKING:
    from torr.results.level import Level

SAME_BAR = "≤ 15 of 200 comparisons say better or worse"
SLOWER_BAR = "found in ≥ 9 of 10 comparisons of 10 rounds where the sd within a round is ≤ 5 %"

_ALL, _MOST = 200, 15
_FOUND, _OF = 9, 10
_ROUNDS = 10
_MOST_SD = 5.0
_MANY = 1_000
# Of these alone the rounds are kept to draw from: what lies in memory makes the collector slow.
_KEPT = 40

_SHARE = 0.10
_TURNS = 400
_COUNT = 500
_LOOKS = 200


def same_twice(effort: Effort) -> Finding:
    """How often one of two same functions is called better or worse; each of the five in turn."""
    words: Counter[str] = Counter()
    kept: list[list[Level]] = []
    timed = list(FUNCTIONS.values())
    for number in range(effort.same):
        one = timed[number % len(timed)]
        subject = Subject(one.call)
        found = compare_functions(
            {"a": subject, "b": subject}, one.count // 2, _ROUNDS, seed=number
        )
        words[found.word()] += 1
        kept += [found.levels] if len(kept) < _KEPT else []
    chance = random.Random(1)  # noqa: S311 - a draw that can be repeated
    drawn = [spoken(exchanged(chance.choice(kept), chance)) for _ in range(_MANY)]
    count = had_a_word(words, drawn)
    said = [
        f"{count} of {_ALL} ({effort.same} measured)",
        " ".join(f"{n} {word}" for word, n in sorted(words.items())),
        f"{100 * sum(drawn) / _MANY:.1f} % of {_MANY:,} drawn by exchanging sides of real rounds",
    ]
    kept_words = {"words": dict(words), "drawn": sum(drawn), "of_drawn": _MANY}
    return Finding(count <= _MOST, said, kept_words)


def had_a_word(words: Mapping[str, int], drawn: Sequence[bool]) -> int:
    """How many of 200 comparisons had one; those that were not measured are drawn."""
    measured = sum(words.values())
    return words.get("better", 0) + words.get("worse", 0) + sum(drawn[: _ALL - measured])


def slower(effort: Effort) -> Finding:
    """Comparisons with a function that does about a tenth more; by how much more is measured."""
    turns = _turns_of(1 + _SHARE)
    base, more = _turning(_TURNS), _turning(turns)
    true = median(_ratios(base, more))
    subjects = {"base": Subject(base), "more": Subject(more)}
    found = []
    for number in range(effort.slower):
        compared = compare_functions(subjects, _COUNT, _ROUNDS, seed=number)
        found.append(next(v for v in compared.verdicts if v.metric == "ok_per_s"))
    sds = [100 * (one.spread or 0.0) for one in found]
    within, words = judged([str(one.word) for one in found], median(sds))
    ratio = median(1 / one.ratio for one in found if one.ratio)
    words = [*words, f"slower by {100 * (ratio - 1):.1f} % (truly {100 * (true - 1):.1f} %)"]
    wanted = [str(one.more_rounds) for one in found if one.more_rounds]
    if wanted:
        words.append(f"more rounds wanted {' '.join(wanted)}")
    kept = {
        "true_ratio": true,
        "ratio": ratio,
        "sd_percent": sds,
        "verdicts": msgspec.to_builtins(found),
    }
    return Finding(within, words, kept)


def judged(words: Sequence[str], sd: float) -> tuple[bool | None, list[str]]:
    """Whether enough of them found it; nothing is shown where rounds spread too far for that.

    A word for the wrong side is beyond the bar whatever the spread.
    """
    hits, wrong = words.count("worse"), words.count("better")
    said = [f"found in {hits} of {len(words)}", f"sd within a round {sd:.1f} %"]
    if wrong:
        return False, [*said, f"**the wrong side in {wrong}**"]
    if hits * _OF >= _FOUND * len(words):
        return True, said
    return (False, said) if sd <= _MOST_SD else (None, [*said, "which is too far"])


def _turns_of(ratio: float) -> int:
    """How many turns make the function slower by this, seen from half as many turns again."""
    beyond = _TURNS // 2
    slope = (median(_ratios(_turning(_TURNS), _turning(_TURNS + beyond))) - 1) / beyond
    return _TURNS + round((ratio - 1) / slope)


def _turning(turns: int) -> Callable[[], int]:
    """Plain Python that takes its time."""

    def work() -> int:
        total = 0
        for number in range(turns):
            total += number * number % 7
        return total

    return work


def _ratios(base: Callable[[], object], more: Callable[[], object]) -> list[float]:
    """How many times as long the second takes, by looks that alternate, without torr."""
    looks = [(_look(base), _look(more)) for _ in range(_LOOKS)]
    return [after / before for before, after in looks]


def _look(call: Callable[[], object]) -> int:
    began = perf_counter_ns()
    for _ in range(10):
        call()
    return perf_counter_ns() - began
