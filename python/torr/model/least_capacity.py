"""The least capacity with which a ladder passes: of ok responses, users or arrivals."""

from __future__ import annotations

from dataclasses import dataclass

from torr.errors import UsageError
from torr.messages.say import say
from torr.units import parse_count, parse_rate

_HINT = say("write '5000 ok/s', '200 users' or '200 arrivals/s'")
_USERS = ("users", "user", "connections", "connection")


@dataclass(frozen=True, slots=True)
class LeastCapacity:
    """A lower limit of the capacity under the SLOs, or of the peak where there is no SLO.

    It is a number of ok responses or, of the level itself, of users or arrivals.
    """

    text: str
    ok_per_s: float | None = None
    users: int | None = None
    arrivals_per_s: float | None = None

    @classmethod
    def parse(cls, text: str) -> LeastCapacity:
        """Read `5000 ok/s`, `200 users` or `200 arrivals/s`; raise UsageError."""
        number, _, unit = text.strip().partition(" ")
        unit = unit.strip()
        if unit == "ok/s":
            return cls(text.strip(), ok_per_s=parse_rate(number))
        if unit == "arrivals/s":
            return cls(text.strip(), arrivals_per_s=parse_rate(number))
        if unit in _USERS:
            return cls(text.strip(), users=parse_count(number))
        raise UsageError(say("{text!r} is not a capacity", text=text), _HINT)

    @property
    def position(self) -> float | None:
        """The level that must be reached; None if it is a number of ok responses."""
        return self.users if self.arrivals_per_s is None else self.arrivals_per_s

    def __str__(self) -> str:
        return self.text
