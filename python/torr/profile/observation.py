"""The outcome of a profiler, for result.json: samples or a failure, and the profiler's cost."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.errors import TorrError, UsageError
from torr.messages.message import Message, from_object, message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.profile.stacks import Stacks
    from torr.results.profile import ProfiledLine


@dataclass(frozen=True, slots=True)
class Observation:
    """The samples of a profiler, or the reason why there are none."""

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


def stacks_observation(stacks: Stacks) -> Observation:
    """Return the observation of stacks."""
    return Observation(unit=stacks.unit, folded=stacks.fold())


def cost_rate(now: float | None, before: Sequence[float]) -> float | None:
    """Return by how many percent the profiler lowered the rate; None if a rate is unknown."""
    usual = median(before) if before else 0.0
    return 100 * (1 - now / usual) if usual and now is not None else None


def capture_errors(take: Callable[[], Stacks]) -> Stacks | TorrError:
    """Return the stacks or the error of a profiler, for use in a thread."""
    try:
        return take()
    except TorrError as error:
        return error
    except Exception as error:
        text = message(
            "profile.broken",
            "the profiler broke: {error}",
            error=f"{type(error).__name__}: {error}",
        )
        wrapped = UsageError(text)
        wrapped.__cause__ = error
        return wrapped
