"""The levels of a ladder's plateau, as words.

A plateau that lasts to the highest level is said to go on; one that a higher level fell off, or
above which a level claims nothing, has its levels named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.capacity import Peak
    from torr.results.position import Position
    from torr.stats.series import Series


def goes_on(peak: Peak, series: Series) -> bool:
    """Return whether every level above the plateau's first, of which there are some, is on it."""
    above = [p.position for p in series.shown if p.position > peak.position]
    return bool(above) and set(above) <= set(peak.plateau)


def spans(peak: Peak, series: Series) -> str:
    """Return the plateau's levels briefly: `200`, `4–16`, `4–16, 64`."""
    levels = [point.position for point in series.shown]
    return ", ".join(
        f"{run[0]:,}" if len(run) == 1 else f"{run[0]:,}–{run[-1]:,}"
        for run in _runs(levels, peak.plateau)
    )


def _runs(levels: Sequence[Position], plateau: Sequence[Position]) -> list[list[Position]]:
    """Return the plateau cut where a level between does not belong to it."""
    runs: list[list[Position]] = []
    before: Position | None = None
    for level in levels:
        if level in plateau:
            if before is not None and before in plateau:
                runs[-1].append(level)
            else:
                runs.append([level])
        before = level
    return runs
