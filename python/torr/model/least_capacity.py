"""The capacity that a ladder must show to pass: so many ok answers a second, or so many users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import MissedError, UsageError
from torr.results.capacity import Capacity, SloCapacity
from torr.units import parse_count, parse_rate, show_rate

if TYPE_CHECKING:
    from torr.results.result import RunResult

_HINT = "write '5000 ok/s' or '200 users'"
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
        raise UsageError(f"{text!r} is not a capacity", _HINT)

    def __str__(self) -> str:
        return self.text

    def missed_by(self, result: RunResult) -> MissedError | None:
        """Return why a ladder does not show this capacity, or None if it does."""
        capacity = result.capacity or Capacity()
        name = "slo" if (result.experiment or {}).get("slos") else "peak"
        shown = capacity.slo if name == "slo" else capacity.peak
        asked = f"--min-capacity '{self}'"
        if shown is None:
            why = capacity.reasons.get(name) or "no level was measured"
            return MissedError(f"{asked}: not shown: {why}")
        reached = shown.ok_per_s if self.ok_per_s is not None else shown.concurrency
        limit = self.ok_per_s if self.ok_per_s is not None else self.users
        if limit is None or reached >= limit:
            return None
        place = f"{show_rate(shown.ok_per_s)} ok/s at {shown.concurrency:,} users"
        if isinstance(shown, SloCapacity) and shown.beyond is None:
            hint = "the ladder ended before the SLOs broke: give it higher --levels"
            return MissedError(f"{asked}: not shown: the highest level held, {place}", hint)
        return MissedError(f"{asked}: missed: {place}")
