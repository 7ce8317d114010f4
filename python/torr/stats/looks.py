"""`--until settled`: when to look at a comparison, and whether it goes on.

Looking after every round would find a difference in almost any A/A: the more looks, the more
chances. So there are three, each at a third of the error (Bonferroni); nothing is judged between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torr.stats.comparison import STANDARD, Procedure, verdicts
from torr.stats.judgement import ALPHA
from torr.stats.trials import Cell, by_cell

Level = Mapping[str, Any]

LOOKS = (10, 20, 40)
ALPHA_OF_A_LOOK = ALPHA / len(LOOKS)


def next_look(rounds: int) -> int | None:
    """Return the number of rounds at which is looked next; None after the last look."""
    return next((look for look in LOOKS if look > rounds), None)


def unsettled(
    levels: Sequence[Level], baseline: str, procedure: Procedure = STANDARD
) -> dict[Cell, int]:
    """Return the cells that go on, and how many rounds each then has when it is looked at again.

    A cell goes on while a candidate's primary metric is inconclusive there, more rounds can settle
    it, and there is a look left; one between two looks goes on to the next, unjudged.
    """
    found = verdicts(levels, baseline, replace(procedure, metrics=(), alpha=ALPHA_OF_A_LOOK))
    wanting = {Cell.of(v) for v in found if v["word"] == "inconclusive" and v["more_rounds"]}
    done = {cell: len(rounds) for cell, rounds in by_cell(levels).items()}
    going = {c: next_look(n) for c, n in done.items() if n not in LOOKS or c in wanting}
    return {cell: look for cell, look in going.items() if look is not None}
