"""Clauses that the sentences of runs and ladders share: rates, conditions, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, say
from torr.report.data.wording import most_by
from torr.units import show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.model.condition import Condition
    from torr.results.capacity import Knee, Peak, SloCapacity
    from torr.results.result import RunResult
    from torr.results.series import LevelPoint
    from torr.results.verdict import Verdict

SHARED = say("(client and target share this machine)")


_CONDITIONS: dict[str, Callable[..., Text]] = {
    "<": lambda **what: say("{label} under {limit}", **what),
    "<=": lambda **what: say("{label} at most {limit}", **what),
    ">": lambda **what: say("{label} over {limit}", **what),
    ">=": lambda **what: say("{label} at least {limit}", **what),
}


def phrase(condition: Condition) -> str:
    """Return a condition in words: `p95 under 500 ms`, `success at least 99.9 %`."""
    return _CONDITIONS[condition.op](label=condition.label, limit=condition.show_limit())


def rate_of(claim: Peak | Knee | SloCapacity | LevelPoint) -> Text:
    """Return a rate of requests, marked where it is a lower bound."""
    rate = show_rate(claim.ok_per_s)
    if claim.at_least:
        return say("≥ {rate} requests/s {shared}", rate=rate, shared=SHARED)
    return say("{rate} requests/s", rate=rate)


def failed_there(point: LevelPoint | None, *, is_only: bool = False) -> str:
    """Return the failures of the level that a sentence speaks of, however few; `is_only` of all."""
    if point is None or point.success_rate is None or point.success_rate == 100:
        return ""
    share = show_percent(100 - point.success_rate)
    if is_only:
        return say("{share} failed", share=share)
    return say("{share} failed there", share=share)


def errors_of(result: RunResult) -> str:
    """Return how many failed and the commonest reason, where there were errors."""
    count = sum(level.counts.failed for level in result.levels)
    if not count:
        return ""
    return say(": {count:,} failed{most}", count=count, most=most_by(result.levels))


def value_or_reason(condition: Condition, verdict: Verdict) -> str:
    """Return the value that was judged; where it is not shown or missing, the reason."""
    reason = verdict.reason or ""
    if verdict.value is None or verdict.word == "not shown":
        return reason or say("no value")
    # A broken one may break by something else than its value, such as requests that were dropped.
    why = reason if verdict.word == "broken" else ""
    return chain("; ", [condition.show(verdict.value), why])
