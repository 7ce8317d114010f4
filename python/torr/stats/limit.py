"""Whether a comparison lies beyond a limit: `--fail-if 'p99 > +10%'`.

Failed is only what is certain: the interval of 90 % lies wholly beyond the limit, so that either
side of it has an error of 5 %. Where it reaches across, or there is none, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torr.stats.judgement import LEAST_ROUNDS
from torr.stats.metric import Metric

if TYPE_CHECKING:
    from torr.model.change import Change


def judge(change: Change, verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of result.json's `fail_if`: one limit, for one verdict of its metric.

    `word` is failed, passed or not shown; `limit`, `value` and `interval` are changes in percent
    of the baseline, or in points.
    """
    entry = {
        "condition": change.text,
        "candidate": verdict["candidate"],
        "baseline": verdict["baseline"],
        "factors": verdict["factors"],
        "concurrency": verdict["concurrency"],
        "metric": change.key,
        "op": change.op,
        "limit": change.limit,
        "value": _change(change, _centre(verdict)),
        "interval": None,
        "n": verdict["n"],
    }
    why = _why_not(verdict)
    if why is not None:
        return {**entry, "word": "not shown", "reason": why}
    low, high = (_change(change, end) for end in verdict["inner_interval"])
    word = _word(change, low, high)
    return {**entry, "interval": [low, high], "word": word, "reason": _reason(change, low, high)}


def too_rare(
    change: Change,
    names: tuple[str, str],
    concurrency: int,
    factors: Mapping[str, Any] | None = None,
    *,
    of: str = "answers",
) -> dict[str, Any]:
    """Return an entry of a level whose trials have too few for a percentile: not shown.

    `names` are those of the baseline and the candidate; `of` is what there are too few of.
    """
    baseline, candidate = names
    return {
        "condition": change.text,
        "candidate": candidate,
        "baseline": baseline,
        "factors": dict(factors or {}),
        "concurrency": concurrency,
        "metric": change.key,
        "op": change.op,
        "limit": change.limit,
        "value": None,
        "interval": None,
        "n": 0,
        "word": "not shown",
        "reason": f"too few {of} in a trial for {Metric(change.key, change.name).label}",
    }


def _why_not(verdict: Mapping[str, Any]) -> str | None:
    if verdict.get("obstacle"):
        return str(verdict["obstacle"])
    if verdict["n"] < LEAST_ROUNDS:
        return f"it takes {LEAST_ROUNDS} trials of each side, there are {verdict['n']}"
    if verdict["inner_interval"] is None:
        return "its interval has no bound"
    return None


def _word(change: Change, low: float | None, high: float | None) -> str:
    """Ends that are None have no bound."""
    near, far = (high, low) if change.wants_little else (low, high)
    if near is not None and _holds(change, near):
        return "failed"
    return "passed" if far is not None and not _holds(change, far) else "not shown"


def _holds(change: Change, value: float) -> bool:
    return {
        "<": value < change.limit,
        "<=": value <= change.limit,
        ">": value > change.limit,
        ">=": value >= change.limit,
    }[change.op]


def _reason(change: Change, low: float | None, high: float | None) -> str:
    ends = ("no bound" if end is None else change.show_change(end) for end in (low, high))
    return f"the 90 % interval is {' to '.join(ends)}"


def _centre(verdict: Mapping[str, Any]) -> float | None:
    found: float | None = (
        verdict["ratio"] if verdict["ratio"] is not None else verdict["difference"]
    )
    return found


def _change(change: Change, value: float | None) -> float | None:
    if value is None or change.is_of_share:
        return value
    return 100 * (value - 1)
