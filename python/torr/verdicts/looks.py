"""`--until settled`: interim analyses of a comparison.

A test after every round would find a difference in almost any comparison of equal candidates. So
there are three looks, each with a third of the error (Bonferroni), and no judging between them; the
final verdicts have that error, too.
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
    """Return the number of rounds of the next look; None after the last one."""
    return next((look for look in LOOKS if look > rounds), None)


def unsettled(
    levels: Sequence[Level],
    baseline: str,
    procedure: Procedure = STANDARD,
    *,
    look: int,
    gone: Collection[tuple[str, Cell]] = (),
) -> set[Cell]:
    """Return the cells that go on after a look at `look` rounds; later rounds are ignored.

    A cell goes on while the primary metric of a candidate is inconclusive there, more rounds can
    settle it, and there is a look left. `gone` has candidates that were given up in a cell: they do
    not keep it going, and where the baseline was given up, the cell ends.
    """
    if next_look(look) is None:
        return set()
    rounds = [level for level in levels if level.round <= look]
    judged = verdicts(rounds, baseline, replace(procedure, metrics=(), alpha=ALPHA_OF_A_LOOK))
    return {
        Cell.of(verdict)
        for verdict in judged
        if verdict.word == "inconclusive"
        and verdict.more_rounds
        and not any((name, Cell.of(verdict)) in gone for name in (verdict.candidate, baseline))
    }
