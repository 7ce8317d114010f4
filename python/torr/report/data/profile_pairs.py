"""The profiles of a result, each with the comparable one of the baseline.

Two profiles are set beside each other where the same tool looked at the same kind of thing, under
the same load: shares of anything else differ for reasons of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.profile.stacks import Stacks
from torr.report.data.comparison import Comparison

if TYPE_CHECKING:
    from torr.results.profile import Profile
    from torr.results.result import RunResult


@dataclass(frozen=True)
class ProfilePair:
    """A profile that came to something: its stacks, and the baseline's, where there are some.

    `beside` is the name of that baseline.
    """

    profile: Profile
    stacks: Stacks
    beside: str | None = None
    before: Stacks | None = None


def profile_pairs(result: RunResult) -> list[ProfilePair]:
    """Return every profile that has stacks, in the order of the result."""
    profiles = [profile for profile in result.profiles if profile.folded]
    baseline = _baseline(result) if len(profiles) > 1 else None
    firsts = {_like(x): x for x in reversed(profiles) if baseline and x.candidate == baseline}
    return [_pair(profile, firsts.get(_like(profile)), baseline) for profile in profiles]


def _pair(profile: Profile, first: Profile | None, baseline: str | None) -> ProfilePair:
    if first is None or profile.candidate in (None, baseline):
        return ProfilePair(profile, _stacks(profile))
    return ProfilePair(profile, _stacks(profile), baseline, _stacks(first))


def _stacks(profile: Profile) -> Stacks:
    return Stacks.folded(profile.folded or "", profile.unit or "")


def _baseline(result: RunResult) -> str | None:
    """Return the side or candidate beside which the others are shown; None for other kinds."""
    if result.kind == "diff":
        return result.series[0].name
    return Comparison.of(result).baseline if result.kind == "compare" else None


def _like(profile: Profile) -> tuple[object, ...]:
    """Return the properties that two profiles must share to be compared."""
    factors = tuple(sorted((key, str(x)) for key, x in profile.factors.items()))
    return profile.tool, profile.kind, profile.concurrency, factors
