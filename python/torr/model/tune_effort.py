"""How much a tuning may measure: a number of trials, or a time."""

from __future__ import annotations

from dataclasses import dataclass

from torr.errors import UsageError
from torr.messages.say import say
from torr.units import SECOND_NS, format_duration, parse_count, parse_duration

MOST_TRIALS = 100_000


@dataclass(frozen=True, slots=True)
class TuneEffort:
    """A number of trials, or a time in nanoseconds; exactly one of both."""

    trials: int | None = None
    time_ns: int | None = None

    @classmethod
    def parse(cls, text: str) -> TuneEffort:
        """Read `240`, `2k` or `90m`; raise UsageError."""
        is_count = text.strip()[-1:].isdigit() or text.strip()[-1:] in "kM"
        effort = cls(trials=parse_count(text)) if is_count else cls(time_ns=parse_duration(text))
        if not (effort.trials or effort.time_ns):
            raise UsageError(say("a budget of nothing"), say("write 240, or a time such as 2h"))
        if (effort.trials or 0) > MOST_TRIALS:
            raise UsageError(say("a budget has at most {most:,} trials", most=MOST_TRIALS))
        return effort

    @property
    def seconds(self) -> float | None:
        """The time; None for a number of trials."""
        return None if self.time_ns is None else self.time_ns / SECOND_NS

    def __str__(self) -> str:
        """Return what `parse` reads."""
        return format_duration(self.time_ns) if self.time_ns else f"{self.trials}"

    def trials_of(self, seconds: float, uncounted: int = 0) -> int:
        """Return the number of trials, if each takes so many seconds.

        `uncounted` trials take of the time, and are not counted.
        """
        if self.trials is not None:
            return self.trials
        return max(0, int((self.seconds or 0.0) / seconds) - uncounted)
