"""A bounded axis of positions, and the points of single rounds on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.say import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.model.json import JsonObject

Limits = tuple[float, float]

WIDEST = math.log(1000)
WIDEN = 0.6
_PAD = 0.04


@dataclass(frozen=True)
class Axis:
    """An axis; `limits` are its first and last position."""

    limits: Limits

    def shown(self, position: float) -> float:
        """Return the nearest position on the axis."""
        return min(max(position, self.limits[0]), self.limits[1])

    def point(self, number: int, position: float, text: str) -> JsonObject:
        """Return a round as the page draws it; `beyond` is the side on which it lies outside."""
        shown = self.shown(position)
        beyond = 0 if shown == position else math.copysign(1, position - shown)
        return {"round": number, "at": shown, "beyond": int(beyond), "text": as_json(text)}


def limits(
    needed: Sequence[float], rounds: Iterable[float], *, bounds: Limits, widen: float = WIDEN
) -> Limits:
    """Return limits that hold all that is needed, and of the rounds those that lie nearby.

    Rounds widen the axis by at most `widen` times its needed width, and never beyond `bounds`:
    distant rounds do not squeeze the estimates.
    """
    low, high = min(needed), max(needed)
    reach = (high - low) * widen
    finite = [position for position in rounds if math.isfinite(position)]
    low = max(min([*finite, low]), low - reach, bounds[0])
    high = min(max([*finite, high]), high + reach, bounds[1])
    return padded(low, high)


def padded(low: float, high: float) -> Limits:
    """Return limits with a little room at both ends."""
    pad = _PAD * (high - low)
    return low - pad, high + pad
