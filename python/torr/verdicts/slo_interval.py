"""The 90 % interval of the number that an SLO is judged by.

    five rounds or more    exact signed ranks of the rounds' numbers, as for budgets
    fewer                  from the lowest to the highest end of each round's own interval:
      a percentile         order statistics: the values of its histogram at the ranks between which
                           the percentile lies with a probability of 90 %, by n alone
      a mean               mean ± 1.645 · stdev / √n
      a share              Wilson's interval of the attempts that ended
      a rate               mean of the whole intervals ± 1.645 standard errors

A lower bound and a count have no interval. With fewer than five rounds a minimum, a maximum, and a
time or rate of a named request have none either, nor has a level without a histogram or with too
few intervals. `slo.py` judges the word.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING

from torr.stats import estimate
from torr.stats.histogram import Histogram
from torr.stats.standard_error import standard_error
from torr.verdicts import slo as slos

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.level import Level

Interval = tuple[float, float]

LEAST_ROUNDS = 5
"""The fewest rounds whose signed ranks leave an interval of 90 %."""
_LEAST_INTERVALS = 6
_Z = 1.645


def interval(slo: Condition, rounds: Sequence[Level]) -> Interval | None:
    """Return the interval over the rounds of one level; None where none is known."""
    by_round = [slos.judge(slo, level).value for level in rounds]
    values = [value for value in by_round if value is not None]
    if not values or slo.metric == "failures" or any(slos.is_bound(slo, x) for x in rounds):
        return None
    if len(values) >= LEAST_ROUNDS:
        return estimate.interval_of_rounds(values, slo.limit, is_share=slo.unit == "%")
    intervals = [
        _of_round(slo, x, value)
        for x, value in zip(rounds, by_round, strict=True)
        if value is not None
    ]
    known = [ends for ends in intervals if ends is not None]
    if len(known) < len(intervals):
        return None
    # Of an even number of rounds the median lies between two of them.
    return min(low for low, _ in known), max(high for _, high in known)


def lies_within(limit: float, ends: Interval | None) -> bool:
    """Return whether a limit lies within an interval, so that chance may decide the word."""
    return ends is not None and ends[0] < limit < ends[1]


def _of_round(slo: Condition, level: Level, value: float) -> Interval | None:
    """Return the interval of one round."""
    if slo.unit == "%":
        return _of_share(value, slos.ended(slo, level))
    if slo.name is not None:
        return None
    if slo.unit == "/s":
        return _of_rate(slo, level, value)
    ends = _of_time(slo, level, value)
    # A bin of the histogram contains several values.
    return None if ends is None else (min(ends[0], value), max(ends[1], value))


def _of_share(percent: float, count: int) -> Interval | None:
    """Wilson's interval (1927), which is one even where nothing or all failed."""
    if not count:
        return None
    share, spread = percent / 100, _Z * _Z / count
    middle = share + spread / 2
    half_width = math.sqrt(share * (1 - share) * spread + spread * spread / 4)
    low, high = ((middle + side * half_width) / (1 + spread) for side in (-1, 1))
    # Shares of 0 and 1 are ends of their intervals; rounding errors must not exclude them.
    return 100 * max(0.0, min(low, share)), 100 * min(1.0, max(high, share))


def _of_rate(slo: Condition, level: Level, value: float) -> Interval | None:
    """Return the interval of a level's rate, by the rates of its intervals."""
    longest = max((x.seconds for x in level.window), default=0.0)
    by_interval = [slos.judge(slo, x).value for x in level.window if x.seconds > 0.99 * longest]
    rates = [rate for rate in by_interval if rate is not None]
    if len(rates) < _LEAST_INTERVALS or len(rates) < len(by_interval):
        return None
    half_width = _Z * standard_error(rates)
    middle = fmean(rates)
    return max(0.0, min(value, middle - half_width)), max(value, middle + half_width)


def _of_time(slo: Condition, level: Level, value: float) -> Interval | None:
    stats = slos.stats_of(level, slo.metric)
    if slo.stat == "mean" and stats.stdev is not None and stats.n:
        half_width = _Z * stats.stdev / math.sqrt(stats.n)
        return max(0.0, value - half_width), value + half_width
    packed = level.histograms.get(slo.metric)
    if slo.stat is None or not slo.stat.startswith("p") or packed is None:
        return None
    return of_percentile(Histogram.read(packed), float(slo.stat[1:]) / 100)


def of_percentile(values: Histogram, share: float) -> Interval | None:
    """Return the order statistics, in milliseconds, around a percentile from 0 to 1.

    The number of values below it is binomial (Hahn and Meeker, Statistical Intervals, 1991, 5.2),
    approximated as normal: a percentile is only shown where ten values lie beyond it.
    """
    count = values.total()
    if not count:
        return None
    middle, half_width = count * share, _Z * math.sqrt(count * share * (1 - share))
    ranks = (math.floor(middle - half_width), math.ceil(middle + half_width) + 1)
    low, high = values.ranks(min(max(rank, 1), count) / count for rank in ranks)
    return low, high
