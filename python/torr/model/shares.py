"""Division of a whole number in proportion to shares, by the largest remainders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence


def dealt(total: int, shares: Sequence[int]) -> list[int]:
    """Return `total` divided by shares (Hamilton's method); the first of equal remainders wins."""
    sum_of_shares = sum(shares)
    counts = [total * share // sum_of_shares for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda i: -(total * shares[i] % sum_of_shares))
    for i in by_remainder[: total - sum(counts)]:
        counts[i] += 1
    return counts


def dealt_to_each(
    total: int, shares: Sequence[int], noun: str, flag: str, parts: str = "endpoints"
) -> list[int]:
    """Return `total` divided by shares, at least 1 each; raise UsageError where it is too small."""
    require(
        total >= len(shares),
        say(
            "{total} {noun} for {count} {parts}: each needs one",
            total=total,
            noun=noun,
            count=len(shares),
            parts=parts,
        ),
        say("give {flag} at least {count}", flag=flag, count=len(shares)),
    )
    counts = dealt(total, shares)
    for i, count in enumerate(counts):
        if count == 0:
            counts[i] = 1
            counts[counts.index(max(counts))] -= 1
    return counts
