"""The axis of a comparison's picture: ratios on a log scale, or differences in percentage points.

Positions are logarithms of ratios, so that a half is as far from 1 as a double. It holds every
estimate and interval; a round far outside of them stands at the edge, so that it squeezes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.report.data.axis import WIDEN, WIDEST, Axis, limits
from torr.verdicts.judgement import DELTA, MARGIN_POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
    from torr.results.verdict import Verdict

_RATIOS = (
    *(1, 0.5, 2, 0.1, 10, 0.2, 5, 0.9, 1.1, 0.8, 1.25, 0.95, 1.05, 1.5, 0.7, 3, 0.98, 1.02, 0.99),
    *(1.01, 0.6, 0.05, 20, 0.02, 50, 0.01, 100),
)
_TICK = 0.46
"""Inches that a tick's words need."""


@dataclass(frozen=True)
class Scale(Axis):
    """From numbers to positions; `is_share` says points, not ratios.

    Numbers up to `half` from no difference are the same for people.
    """

    is_share: bool = False
    half: float = math.log1p(DELTA)

    @classmethod
    def of(cls, comparison: Comparison) -> Self | None:
        """Return the axis that all cells share; None where no trial has a number."""
        is_share = comparison.primary.is_share
        half = _half_of_shares(comparison) if is_share else math.log1p(DELTA)
        plain = cls((0, 1), is_share, half)
        rounds = [at for p in comparison.cells for e in p.entries for _, at in plain.rounds(p, e)]
        if not rounds:
            return None
        certain = list(_certain(comparison, plain))
        needed = [*certain, *(1.5 * end for end in plain.margin)]
        widest = math.inf if is_share else WIDEST
        widen = WIDEN if certain else math.inf
        bounds = (-widest, widest)
        return cls(limits(needed, rounds, bounds=bounds, widen=widen), is_share, half)

    @property
    def margin(self) -> tuple[float, float]:
        """Between which positions numbers are the same for people."""
        return -self.half, self.half

    def position(self, value: float) -> float:
        """Return where a ratio, or a difference in points, stands."""
        if self.is_share:
            return value
        return math.log(value) if value > 0 else -math.inf

    def between(self, before: float, after: float) -> float:
        """Return where a candidate's number stands from the baseline's."""
        if self.is_share or before == after:
            return after - before if self.is_share else 0.0
        return self.position(after / before) if before > 0 else math.inf

    def rounds(self, cell: ComparisonCell, entry: CandidateCell) -> list[tuple[int, float]]:
        """Return each round with its position; the baseline's are around their own median."""
        if entry.name != cell.baseline:
            pairs = cell.pairs(entry, cell.primary)
            return [(number, self.between(*both)) for number, both in pairs.items()]
        middle = entry.median(cell.primary)
        values = entry.values(cell.primary)
        return [] if middle is None else [(n, self.between(middle, v)) for n, v in values.items()]

    def ticks(self, inches: float) -> tuple[list[float], list[str]]:
        """Return positions and words of as many ticks as an axis of so many inches has room for."""
        low, high = self.limits
        least = (high - low) * _TICK / inches
        shown: list[float] = []
        for at, _ in self.marks():
            if all(abs(at - other) >= least for other in shown):
                shown.append(at)
        return sorted(shown), [self._written(at) for at in sorted(shown)]

    def marks(self) -> list[tuple[float, str]]:
        """Return every tick on the axis with its words, those first that matter most."""
        low, high = self.limits
        positions = [v if self.is_share else self.position(v) for v in self._candidates()]
        return [(at, self._written(at)) for at in positions if low <= at <= high]

    def _candidates(self) -> Sequence[float]:
        if not self.is_share:
            return _RATIOS
        step = 10 ** math.floor(math.log10(max(map(abs, self.limits))))
        return [0.0, *(sign * step * n for n in (1, 2, 5, 0.5) for sign in (1, -1))]

    def _written(self, position: float) -> str:
        if self.is_share:
            return f"{position:+g}".replace("-", "−") if position else "0"
        return f"{float(f'{math.exp(position):.4g}'):g}x"


def _half_of_shares(comparison: Comparison) -> float:
    """Return the narrowest margin of shares of all cells: it depends on the baseline's share."""
    verdicts = (cell.verdict(entry) for cell in comparison.cells for entry in cell.entries)
    return min((v.margin for v in verdicts if v.margin is not None), default=MARGIN_POINTS)


def ends(verdict: Verdict, scale: Scale) -> tuple[float, float] | None:
    """Return the positions of a verdict's interval; an end without a bound is infinite."""
    if verdict.interval is None or verdict.obstacle:
        return None
    low, high = verdict.interval
    return (
        -math.inf if low is None else scale.position(low),
        math.inf if high is None else scale.position(high),
    )


def centre(verdict: Verdict, scale: Scale) -> float | None:
    """Return the position of a verdict's estimate; None where it has none, or may have none."""
    if verdict.obstacle:
        return None
    value = verdict.difference if scale.is_share else verdict.ratio
    return None if value is None else scale.position(value)


def _certain(comparison: Comparison, scale: Scale) -> Iterator[float]:
    """Return the positions that the axis must hold: estimates and ends of intervals."""
    for cell in comparison.cells:
        for entry in cell.entries:
            verdict = cell.verdict(entry)
            positions = [centre(verdict, scale), *(ends(verdict, scale) or ())]
            yield from (at for at in positions if at is not None and math.isfinite(at))
