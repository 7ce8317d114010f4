"""The least capacity with which a ladder passes, as ok responses per second or as users."""

from __future__ import annotations

from dataclasses import dataclass

from torr.errors import UsageError
from torr.messages.say import say
from torr.units import parse_count, parse_rate

_HINT = say("write '5000 ok/s' or '200 users'")
_USERS = ("users", "user", "connections", "connection")


@dataclass(frozen=True, slots=True)
class LeastCapacity:
    """A lower limit of the capacity under the SLOs, or of the peak where there is no SLO."""

    text: str
    ok_per_s: float | None = None
    users: int | None = None

    @classmethod
    def parse(cls, text: str) -> LeastCapacity:
        """Read `5000 ok/s` or `200 users`; raise UsageError."""
        number, _, unit = text.strip().partition(" ")
        unit = unit.strip()
        if unit == "ok/s":
            return cls(text.strip(), ok_per_s=parse_rate(number))
        if unit in _USERS:
            return cls(text.strip(), users=parse_count(number))
        raise UsageError(say("{text!r} is not a capacity", text=text), _HINT)

    def __str__(self) -> str:
        return self.text
