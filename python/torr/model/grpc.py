"""A call of gRPC: how its messages are sent, and their bytes where templates are in them.

A call without templates has its framed messages as the body of its request. One with templates has
parts, which the engine fills and joins for each request. This module knows nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from torr.errors import require
from torr.messages.say import say
from torr.model.json import JsonObject, PlanPart
from torr.model.secret_names import REDACTED
from torr.model.secrets import known_secrets, redacted_text

NumberKind = Literal[
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "bool",
    "fixed32",
    "sfixed32",
    "fixed64",
    "sfixed64",
    "float",
    "double",
]
"""How a number is written."""


@dataclass(frozen=True, slots=True)
class BytesPart(PlanPart):
    """Bytes that are the same in each message."""

    base64: bytes

    KIND = "bytes"


@dataclass(frozen=True, slots=True)
class TextPart(PlanPart):
    """The UTF-8 of a text, after its templates are filled."""

    text: str

    KIND = "text"


@dataclass(frozen=True, slots=True)
class NumberPart(PlanPart):
    """A number, which the filled text is read as."""

    text: str
    kind: NumberKind

    KIND = "number"

    def as_json(self) -> JsonObject:
        """Return the part of the engine's plan, in which `kind` is that of the part."""
        return {"kind": self.KIND, "text": self.text, "as": self.kind}


@dataclass(frozen=True, slots=True)
class NestedPart(PlanPart):
    """Parts behind their length."""

    parts: tuple[MessagePart, ...]

    KIND = "nested"


MessagePart = BytesPart | TextPart | NumberPart | NestedPart
MessageParts = tuple[MessagePart, ...]


def texts_of(parts: MessageParts) -> list[str]:
    """Return the texts in parts that may be templates, in order."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, NestedPart):
            texts += texts_of(part.parts)
        elif not isinstance(part, BytesPart):
            texts.append(part.text)
    return texts


@dataclass(frozen=True, slots=True)
class Together(PlanPart):
    """All messages are sent at once."""

    KIND = "together"


@dataclass(frozen=True, slots=True)
class Alternate(PlanPart):
    """Each message but the first is sent when a message of the response came."""

    KIND = "alternate"


@dataclass(frozen=True, slots=True)
class Paced(PlanPart):
    """A message is sent `interval_ns` after the one before it."""

    interval_ns: int

    KIND = "paced"

    def __post_init__(self) -> None:
        """Check the time."""
        require(self.interval_ns > 0, say("the message interval must be longer than 0"))


Sending = Together | Alternate | Paced

ShowMessage = Callable[[bytes], str]
"""Returns a message as JSON."""


@dataclass(frozen=True, slots=True)
class GrpcCall(PlanPart):
    """A call of `method`, such as `shop.Cart/Add`; `messages` are parts where templates are filled.

    `json` has the messages as the user wrote them. `show_request` and `show_response` return a
    message as JSON.
    """

    method: str
    json: str
    show_request: ShowMessage = field(repr=False, compare=False)
    show_response: ShowMessage = field(repr=False, compare=False)
    request_stream: bool = False
    response_stream: bool = False
    sending: Sending = field(default_factory=Together)
    messages: tuple[MessageParts, ...] | None = None

    MEMBERS = ("response_stream", "sending", "messages")

    def templates(self) -> list[str]:
        """Return the texts of its messages that may be templates."""
        return [text for parts in self.messages or () for text in texts_of(parts)]

    @property
    def measures_messages(self) -> bool:
        """Return whether the time from each message to its answer is measured."""
        return not isinstance(self.sending, Together)

    @property
    def has_secrets(self) -> bool:
        """Return whether a field of its messages has the name, or the form, of a secret."""
        return redacted_text(self.json) != self.json or bool(known_secrets([self.json]))

    def redacted(self) -> GrpcCall:
        """Return the call without the bytes of messages that contain secrets.

        A secret in a message has no name before it, so that the whole message is covered.
        """
        if not self.has_secrets:
            return self
        covered = ((BytesPart(REDACTED.encode()),),) * len(self.messages or ())
        messages = None if self.messages is None else covered
        return replace(self, json=redacted_text(self.json), messages=messages)
