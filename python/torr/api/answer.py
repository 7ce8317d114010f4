"""The result of `torr.once`: one answer, with the bytes sent and received."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.model.json import JsonObject


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete answer; times are in milliseconds, None for phases that did not happen.

    `is_ok`: the status is an accepted one. `sent` and `received` are the bytes on the wire: bodies
    are chunked or compressed as they were transferred.
    """

    status: int
    is_ok: bool
    address: str
    sent: bytes
    received: bytes
    connect_ms: float | None
    tls_ms: float | None
    ttfb_ms: float | None
    service_ms: float | None

    @classmethod
    def of(cls, exchange: JsonObject) -> Answer:
        """Return the answer of an exchange, given in the form of the engine."""
        names = ("connect_ms", "tls_ms", "ttfb_ms", "service_ms")
        times = {name: exchange.get(name) for name in names}
        return cls(
            status=exchange["status"],
            is_ok=exchange["class"] == "ok",
            address=exchange["address"],
            sent=base64.b64decode(exchange["request"]),
            received=base64.b64decode(exchange["response"]),
            **times,
        )
