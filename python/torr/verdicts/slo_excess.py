"""How far a number is beyond the limit of an SLO, as a logarithm, so that trials can be averaged.

    times, rates, counts      ln(number / limit), or its negative where the number must be high
    shares of attempts        the same of the part that must be small: of failures for `success`

0 is at the limit, 0.1 is 10 % beyond it, and a negative excess is within it. What is far from the
limit has FAR: a share of 0 % failures has no logarithm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.model.condition import Condition

FAR = 10.0
"""The largest excess: e¹⁰ times the limit."""


def excess_of(condition: Condition, value: float) -> float:
    """Return the excess of a number."""
    sign, number, limit = _turned(condition, value)
    if number <= 0 or limit <= 0:
        return -FAR if condition.is_met_by(value) else FAR
    return max(-FAR, min(FAR, sign * math.log(number / limit)))


def value_at(condition: Condition, excess: float) -> float:
    """Return the number that has an excess; its own number for what `excess_of` returned."""
    sign, _, limit = _turned(condition, condition.limit)
    number = limit * math.exp(sign * excess)
    return 100 - number if _is_turned(condition) else number


def small_part(condition: Condition, value: float) -> tuple[float, float]:
    """Return the part of a share that must be small, and its limit, in percent."""
    _, part, limit = _turned(condition, value)
    return part, limit


def _turned(condition: Condition, value: float) -> tuple[float, float, float]:
    """Return the sign of an excess, and the number and limit whose ratio it is."""
    if _is_turned(condition):
        return 1.0, 100 - value, 100 - condition.limit
    return (1.0 if condition.wants_little else -1.0), value, condition.limit


def _is_turned(condition: Condition) -> bool:
    """Return whether a share has to be large: the rest of it has to be small."""
    return condition.unit == "%" and not condition.wants_little
