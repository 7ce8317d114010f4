"""`--until settled`: when to look at a comparison, and whether it goes on.

Looking after every round would find a difference in almost any A/A: the more looks, the more
chances. So there are three, each at a third of the error (Bonferroni), and nothing is judged
between: the words of such a comparison are given at that third too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torr.stats.estimate import ALPHA
from torr.stats.trials import Cell
from torr.verdicts.comparison import STANDARD, Procedure, verdicts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from torr.results.level import Level

LOOKS = (10, 20, 40)
ALPHA_OF_A_LOOK = ALPHA / len(LOOKS)


def next_look(rounds: int) -> int | None:
    """Return the number of rounds at which is looked next; None after the last look."""
    return next((look for look in LOOKS if look > rounds), None)


def unsettled(
    levels: Sequence[Level],
    baseline: str,
    procedure: Procedure = STANDARD,
    *,
    look: int,
    gone: Collection[tuple[str, Cell]] = (),
) -> set[Cell]:
    """Return the cells that go on after a look at so many rounds; later ones are not looked at.

    A cell goes on while a candidate's primary metric is inconclusive there, more rounds can settle
    it, and there is a look left. `gone` are candidates that were given up in a cell: nothing there
    waits for them, and where the baseline is one of them, for nobody.
    """
    if next_look(look) is None:
        return set()
    seen = [level for level in levels if level.round <= look]
    found = verdicts(seen, baseline, replace(procedure, metrics=(), alpha=ALPHA_OF_A_LOOK))
    return {
        Cell.of(verdict)
        for verdict in found
        if verdict.word == "inconclusive"
        and verdict.more_rounds
        and not any((name, Cell.of(verdict)) in gone for name in (verdict.candidate, baseline))
    }
