"""Users who give up before their response is complete."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.pace import Think

_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s+after\s+(.+?)\s*", re.ASCII)
_TOKENS = re.compile(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s+tokens?", re.ASCII)
_HINT = say(
    "write '10% after 2s', '10% after 1s-3s', '10% after lognormal:2s,0.6' or '10% after 20 tokens'"
)


@dataclass(frozen=True, slots=True)
class Cancellation(PlanPart):
    """The share of attempts whose users give up, and when: after a time, or after texts.

    A time is counted from the start of the attempt. Servers send a token a text as a rule.
    """

    share: float
    time: Think | None = None
    texts: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        require(
            0 < self.share <= 1, say("the share of users who give up is not within 0 and 100 %")
        )
        if self.texts is not None:
            low, high = self.texts
            require(1 <= low <= high, say("users give up after 1 token or more"), _HINT)

    @classmethod
    def parse(cls, text: str) -> Cancellation:
        """Read `10% after 2s` or `10% after 5-20 tokens`; raise UsageError."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise UsageError(
                say(
                    "{text!r} is not a share of users, and a time or a number of tokens", text=text
                ),
                _HINT,
            )
        share, after = float(form[1]) / 100, form[2]
        tokens = _TOKENS.fullmatch(after)
        if tokens is None:
            return cls(share, time=Think.parse(after))
        return cls(share, texts=(int(tokens[1]), int(tokens[2] or tokens[1])))

    def as_json(self) -> JsonObject:
        """Return the `cancel` of the engine's group."""
        if self.texts is not None:
            after: JsonObject = {"kind": "texts", "from": self.texts[0], "to": self.texts[1]}
        else:
            after = {"kind": "time", "time": (self.time or Think()).as_json()}
        return {"share": self.share, "after": after}
