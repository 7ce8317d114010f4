"""A profile as result.json has it: what was seen, or why nothing was, and what looking cost."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.errors import TorrError, UsageError
from torr.messages.message import Message, from_object

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.profile.stacks import Stacks
    from torr.results.profile import ProfiledLine


@dataclass(frozen=True, slots=True)
class Observation:
    """What a profiler found, or why it found nothing."""

    unit: str | None = None
    folded: str | None = None
    lines: tuple[ProfiledLine, ...] = ()
    failure: Message | None = None
    hint: Message | None = None

    @classmethod
    def of_error(cls, error: TorrError) -> Observation:
        """Return why nothing was found."""
        hint = None if error.hint is None else from_object(error.hint)
        return cls(failure=from_object(error.message), hint=hint)


def of_stacks(stacks: Stacks) -> Observation:
    """Return what was found as stacks."""
    return Observation(unit=stacks.unit, folded=stacks.fold())


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
