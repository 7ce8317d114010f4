"""The word of a comparison: better, worse, same or inconclusive, and why.

Tests run in a fixed order, and the first that applies gives the word. `inconclusive` has a reason:
an obstacle, or an estimate of how many rounds would settle it. A missing difference is not `same`:
sameness is shown by an interval that lies within the margin (two one-sided tests, Schuirmann 1987).
A share of attempts that is shown to differ is never `same`, however small the difference is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_count
from torr.stats.estimate import ALPHA

if TYPE_CHECKING:
    from torr.results.verdict import ComparisonWord

Interval = tuple[float, float]

_BELOW = message("comparison.below_margin", "real, below the margin")

LEAST_ROUNDS = 6
DELTA = 0.03
"""Ratios from 1/(1 + δ) to 1 + δ are the same in practice."""
MARGIN_POINTS = 0.1
"""Shares of attempts that differ by more percentage points are never the same."""
LEAST_MARGIN_POINTS = 0.01
MARGIN_OF_SHARES = 0.1
"""Differences up to this part of the rarer outcome of the baseline are the same."""
MOST_APART_POINTS = 1.0
"""Times of ok responses are not compared where error rates differ by more points."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The statistics of one candidate, baseline and metric, on the scale of their comparison.

    The scale is the logarithm of the ratio, or percentage points. `inner` is the interval of
    1 − 2·alpha, by which sameness is shown; `spread` is the standard deviation of the differences.
    `obstacle` is a reason that forbids any claim. `none_seen` is the highest rate, in percent, that
    0 failures on both sides allow; None where there were failures or they are not compared.
    `is_share` says that percentages of attempts are compared.
    """

    count: int
    family: int
    centre: float
    inner: Interval
    spread: float | None
    p_adjusted: float
    margin: float
    more_is_better: bool
    alpha: float = ALPHA
    obstacle: Message | None = None
    none_seen: float | None = None
    is_paired: bool = True
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The word, its reason, and the estimated number of further rounds that would settle it."""

    word: ComparisonWord
    reason: Message | None = None
    more_rounds: int | None = None


def judge(evidence: Evidence) -> Judgement:
    """Return the word: of too little evidence, the same, a difference, or inconclusive."""
    return (
        _obstacle(evidence)
        or _too_few(evidence)
        or _none_seen(evidence)
        or _same(evidence)
        or _different(evidence)
        or _inconclusive(evidence)
    )


def least_rounds(family: int, alpha: float = ALPHA) -> int:
    """Return the fewest rounds that can decide a comparison of a family of this size.

    The smallest p of n rounds is 2/2ⁿ; Holm multiplies the smallest of m by m.
    """
    return max(LEAST_ROUNDS, math.ceil(1 + math.log2(max(1, family) / alpha) - 1e-9))


def margin_of_shares(baseline: float | None) -> float:
    """Return the difference from the baseline's share up to which shares are the same, in points.

    A tenth of the rarer outcome: 1.1 % of errors are the same as 1.0 %, and 0.09 % are not the same
    as none.
    """
    rarer = 0.0 if baseline is None else min(baseline, 100 - baseline)
    return min(MARGIN_POINTS, max(LEAST_MARGIN_POINTS, MARGIN_OF_SHARES * rarer))


def least_difference(spread: float, rounds: int, alpha: float = ALPHA) -> float:
    """Return the smallest difference that so many rounds show at this spread, at 80 % power.

    A normal approximation with the efficiency of ranks (1.05), for one test.
    """
    normal = NormalDist()
    factor = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(0.8)
    return factor * spread * math.sqrt(1.05 / rounds)


def rounds_to_settle(centre: float, spread: float, margin: float) -> int | None:
    """Return an estimate of the rounds that would settle it at this spread; None if none would.

    The smaller of the rounds that show a difference as large as `centre` and those that show
    sameness, at 80 % power (1.05 for ranks, 2.8 = 1.96 + 0.84, 2.93 = 1.64 + 1.29).
    """
    tests = [(2.8, abs(centre)), (2.93, margin - abs(centre))]
    needed = [1.05 * (factor * spread / effect) ** 2 for factor, effect in tests if effect > 0]
    finite = [rounds for rounds in needed if math.isfinite(rounds)]
    return math.ceil(min(finite)) if finite else None


def _obstacle(e: Evidence) -> Judgement | None:
    return None if e.obstacle is None else Judgement("inconclusive", e.obstacle)


def _too_few(e: Evidence) -> Judgement | None:
    needed = least_rounds(e.family, e.alpha)
    if e.count >= needed:
        return None
    count = _count(e)
    why = message("comparison.too_few", "{seen}, {needed} are needed", seen=count, needed=needed)
    if e.count >= LEAST_ROUNDS:
        why = message(
            "comparison.too_few_for_family",
            "{seen} cannot decide any of {family} comparisons: {needed} are needed",
            seen=count,
            family=e.family,
            needed=needed,
        )
    return Judgement("inconclusive", why, max(needed, _estimate(e) or 0) - e.count)


def _count(e: Evidence) -> Message:
    if e.is_paired:
        return message_count("count.rounds", e.count, "{n:,} round", "{n:,} rounds")
    return message_count("count.trials", e.count, "{n:,} trial", "{n:,} trials")


def _none_seen(e: Evidence) -> Judgement | None:
    """Judge two sides without failures: n attempts allow a rate of 3/n (rule of three)."""
    if e.none_seen is None:
        return None
    why = message("comparison.none_seen", "none seen, ≤ {most:.2g} % (3/n)", most=e.none_seen)
    return Judgement("same" if e.none_seen <= MARGIN_POINTS else "inconclusive", why)


def _same(e: Evidence) -> Judgement | None:
    if not _is_within_margin(e) or (e.is_share and _is_real(e)):
        return None
    return Judgement("same", _BELOW if _is_real(e) else None)


def _different(e: Evidence) -> Judgement | None:
    if not _is_real(e) or e.centre == 0:
        return None
    is_better = (e.centre > 0) == e.more_is_better
    return Judgement("better" if is_better else "worse", _BELOW if _is_within_margin(e) else None)


def _is_within_margin(e: Evidence) -> bool:
    return -e.margin <= e.inner[0] and e.inner[1] <= e.margin


def _is_real(e: Evidence) -> bool:
    return e.p_adjusted <= e.alpha


def _inconclusive(e: Evidence) -> Judgement:
    estimate = _estimate(e)
    if estimate is None:
        why = message("comparison.open", "neither a difference nor equality is shown")
        return Judgement("inconclusive", why)
    more = max(1, estimate - e.count)
    return Judgement("inconclusive", _settled_by(e, e.count + more), more)


def _settled_by(e: Evidence, n: int) -> Message:
    if e.is_paired:
        return message("comparison.rounds_settle", "about {n} rounds would settle it", n=n)
    return message("comparison.trials_settle", "about {n} trials would settle it", n=n)


def _estimate(e: Evidence) -> int | None:
    if e.spread is None or not math.isfinite(e.spread) or not math.isfinite(e.centre):
        return None
    return rounds_to_settle(e.centre, e.spread, e.margin)
