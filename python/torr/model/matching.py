"""How an answer of WebSocket finds the message that it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.json import PlanPart


@dataclass(frozen=True, slots=True)
class Matching(PlanPart):
    """By order, by the value of a key of JSON messages, or not at all: messages are one-way."""

    kind: Literal["order", "id", "none"] = "order"
    key: str = ""

    OPTIONAL = ("key",)

    @classmethod
    def parse(cls, text: str) -> Matching:
        """Read `order`, `id:KEY` or `none`; raise UsageError."""
        kind, colon, key = text.partition(":")
        if kind == "id" and key:
            return cls("id", key)
        if kind in ("order", "none") and not colon:
            return cls("order" if kind == "order" else "none")
        raise UsageError(
            say("{text!r} is no way to match answers", text=text),
            say("write order, id:KEY or none"),
        )

    def __str__(self) -> str:
        """Return the text that is read as this."""
        return f"id:{self.key}" if self.kind == "id" else self.kind
