"""A limit on what changed between two sides: `p99 > +10%`, `ok/s < -5%`, `errors > +0.5 points`.

The grammar is that of conditions, with another VALUE: a signed percentage of the baseline, or,
for shares of attempts, signed percentage points, since 10 % more than no errors is no errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.condition import METRICS, Condition

_HINT = say("write it as 'p99 > +10%', 'ok/s < -5%' or 'errors > +0.5 points'")
_PERCENT = re.compile(r"([+-]\d+(?:\.\d+)?)\s*%", re.ASCII)
_POINTS = re.compile(r"([+-]\d+(?:\.\d+)?)\s*points?", re.ASCII)


@dataclass(frozen=True)
class Change(Condition):
    """A parsed limit of a change; `limit` is percent of the baseline, or points of a share."""

    @classmethod
    def parse(cls, text: str) -> Change:
        """Read one limit of a change; raise UsageError that says what was not understood."""
        change = cls.parse_with(text, _signed, _HINT)
        if change.unit == "":
            raise UsageError(
                say("{text!r}: {metric} may be none", text=text.strip(), metric=change.metric),
                say("write errors"),
            )
        if change.is_of_share and change.stat is not None:
            raise UsageError(
                say("{text!r}: a limit of change applies to all errors", text=text.strip()),
                say("write errors"),
            )
        return change

    @property
    def is_of_share(self) -> bool:
        """Return whether the limit is in percentage points."""
        return self.unit == "%"

    @property
    def key(self) -> str:
        """Return the path of its number in result.json, as comparisons name metrics."""
        if self.unit == "ms":
            return f"{self.metric}_ms.{(self.stat or '').replace('.', '_')}"
        if self.unit == "%":
            names = {"success": "success_rate", "errors": "error_rate", "goodput": "goodput_rate"}
            return names[self.metric]
        return self.metric.replace("/s", "_per_s")

    def show_change(self, change: float) -> str:
        """Write a change for people: `+10.0 %`, `-0.50 points`."""
        return f"{change:+.2f} points" if self.is_of_share else f"{change:+.1f} %"


def _signed(metric: str, text: str) -> float:
    is_share = METRICS[metric] == "%"
    match = (_POINTS if is_share else _PERCENT).fullmatch(text)
    if match is None:
        kind = "signed percentage points" if is_share else "a signed percentage"
        raise UsageError(
            say(
                "{text!r} is not {kind}: a change of {metric} must be one",
                text=text,
                kind=kind,
                metric=metric,
            ),
            _HINT,
        )
    return float(match[1])
