"""A profile as result.json has it: what was seen, or why nothing was, and what looking cost."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from torr.errors import TorrError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.profile.stacks import Stacks

Json = dict[str, Any]


def of_stacks(stacks: Stacks) -> Json:
    """Return what result.json says where there is a profile."""
    return {"unit": stacks.unit, "folded": stacks.fold(), "failure": None, "hint": None}


def failed(why: str, hint: str | None = None) -> Json:
    """Return what result.json says where there is no profile."""
    return {"unit": None, "folded": None, "failure": why, "hint": hint}


def cost_rate(now: float | None, before: Sequence[float]) -> float | None:
    """Return the percent of the rate that the profiler took; None where either is not known."""
    usual = median(before) if before else 0.0
    return 100 * (1 - now / usual) if usual and now is not None else None


def tried(take: Callable[[], Stacks]) -> Stacks | TorrError:
    """Return what a profiler came to, in a thread where nobody would see what it raises."""
    try:
        return take()
    except TorrError as error:
        return error
    except Exception as error:
        broke = UsageError(f"the profiler broke: {type(error).__name__}: {error}")
        broke.__cause__ = error
        return broke
