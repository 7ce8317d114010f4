"""What trials show of an SLO, each by itself, and all of them together.

`slo.py` judges each trial; here its number becomes the ends between which its excess over the limit
lies (`slo_excess.py`):

    a number                                          both ends are its excess
    a number that is only known not to be lower       one end is its excess, the other infinite
    broken, and its number does not say so            both ends are +∞
    no number                                         −∞ and +∞

A number does not say that an SLO is broken where due requests were never sent, so that the times of
the others are lower bounds.

Together, the interval of the middle excess is that of signed ranks, its upper end from the upper
ends of trials and its lower end from the lower ones. Of a share of attempts the counts of all
trials are added up. Each end holds by itself with a probability of 1 − alpha.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.stats import signed_rank
from torr.stats.share_interval import attempts_needed, share_interval
from torr.verdicts import slo
from torr.verdicts.slo_excess import FAR, excess_of, small_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.messages.message import Message
    from torr.model.condition import Condition
    from torr.results.level import Level
    from torr.results.verdict import ConditionWord
    from torr.stats.signed_rank import Interval


@dataclass(frozen=True, slots=True)
class ShareCounts:
    """Of a share of attempts the part that must be small: its attempts, all, and its limit.

    The limit is in percent. Of `success` the part is the failures. `is_of_errors` says that it is.
    """

    some: float
    ended: int
    limit: float
    is_of_errors: bool = True


@dataclass(frozen=True, slots=True)
class SloEvidence:
    """What a trial shows of an SLO: the ends of its excess, and its counts if it is a share.

    `why` says why it has no number, or why its number does not count.
    """

    low: float = -math.inf
    high: float = math.inf
    share: ShareCounts | None = None
    why: Message | None = None

    @classmethod
    def exact(cls, excess: float) -> SloEvidence:
        """Return the evidence of a trial with this excess."""
        return cls(excess, excess)

    @property
    def excess(self) -> float:
        """The excess for a search, which claims nothing; 0 where the trial shows nothing."""
        known = [end for end in (self.low, self.high) if math.isfinite(end)]
        return known[0] if known else FAR if self.low > 0 else 0.0


@dataclass(frozen=True, slots=True)
class SloFinding:
    """What all trials show: the word, the interval of the excess, and a reason for the word."""

    word: ConditionWord
    interval: Interval = signed_rank.UNBOUNDED
    why: Message | None = None


def evidence_of(condition: Condition, level: Level) -> SloEvidence:
    """Return what a trial shows of an SLO."""
    verdict = slo.judge(condition, level)
    value, why = verdict.value, verdict.reason
    if verdict.word == "broken" and (value is None or condition.is_met_by(value)):
        return SloEvidence(math.inf, math.inf, why=why)
    if value is None or slo.is_excused(verdict):
        return SloEvidence(why=why)
    excess = excess_of(condition, value)
    if condition.unit == "%":
        part, limit = small_part(condition, value)
        ended = slo.ended(condition, level)
        is_of_errors = condition.metric in ("errors", "success")
        share = ShareCounts(round(part * ended / 100, 6), ended, limit, is_of_errors)
        return SloEvidence(excess, excess, share)
    if not slo.is_bound(condition, level):
        return SloEvidence.exact(excess)
    low, high = (excess, math.inf) if condition.wants_little else (-math.inf, excess)
    return SloEvidence(low, high, why=why)


def finding_of(trials: Sequence[SloEvidence], alpha: float) -> SloFinding:
    """Return what trials show together."""
    shares = [trial.share for trial in trials if trial.share is not None]
    interval = _of_shares(trials, shares, alpha) if shares else _of_numbers(trials, alpha)
    word = word_of(interval)
    return SloFinding(word, interval, _why(word, trials, shares, alpha))


def word_of(interval: Interval) -> ConditionWord:
    """Return whether an interval of excesses lies below the limit, above it, or on both sides."""
    low, high = interval
    if high < 0:
        return "held"
    return "broken" if low > 0 else "not shown"


def _of_numbers(trials: Sequence[SloEvidence], alpha: float) -> Interval:
    lows, highs = [trial.low for trial in trials], [trial.high for trial in trials]
    return signed_rank.interval(lows, 2 * alpha)[0], signed_rank.interval(highs, 2 * alpha)[1]


def _of_shares(
    trials: Iterable[SloEvidence], shares: Sequence[ShareCounts], alpha: float
) -> Interval:
    """Return the interval of the sum; without an upper end where a trial broke without a count."""
    low, high = share_interval([(each.some, each.ended) for each in shares], alpha)
    limit = shares[0].limit / 100
    is_open = any(trial.share is None and trial.low > 0 for trial in trials)
    return _log(low, limit), math.inf if is_open else _log(high, limit)


def _log(share: float, limit: float) -> float:
    if not share:
        return -math.inf
    return math.log(share / limit) if limit > 0 else math.inf


def _why(
    word: ConditionWord, trials: Iterable[SloEvidence], shares: Sequence[ShareCounts], alpha: float
) -> Message | None:
    """Return the most frequent reason of trials that do not show it, or that requests are few."""
    known = [x.why for x in trials if x.why is not None and (x.low > 0) == (word == "broken")]
    if word != "held" and known:
        (code, _), *_ = Counter(why.code for why in known).most_common(1)
        return next(why for why in known if why.code == code)
    if word != "not shown" or not shares or any(each.some for each in shares):
        return None
    limit = shares[0].limit / 100
    if not shares[0].is_of_errors:
        return None
    needed = attempts_needed(limit, alpha) if limit > 0 else None
    return slo.too_few(sum(each.ended for each in shares), 0, needed)
