"""The number of attempts that it takes to show that few of them fail.

By the rule of three, n attempts without an error show at most 3/n errors, at 95 % (Hanley and
Lippman-Hand, JAMA 249, 1983): a limit of q is shown by n ≥ 3/q attempts. A broken limit needs no
such number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.model.condition import Condition

# In percent: 3 attempts for 100 % of errors, 300 for 1 %.
RULE_OF_THREE = 300


def claimed(condition: Condition, word: str | None) -> bool:
    """Return whether a word claims that there are few errors."""
    return (word == "held") == (condition.wants_little == (condition.metric == "errors"))


def attempts_needed(condition: Condition) -> int | None:
    """Return the fewest attempts that can show the limit; None where no number can."""
    limit = condition.limit
    # 100 - 99.9 is a little less than 0.1.
    allowed = limit if condition.metric == "errors" else round(100 - limit, 9)
    return math.ceil(round(RULE_OF_THREE / allowed, 6)) if allowed > 0 else None
