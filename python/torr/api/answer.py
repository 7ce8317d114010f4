"""What `torr.once` gives: one answer, and both sides as they went over the wire."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete answer; times in milliseconds, None where there was nothing to time.

    `is_ok` says whether the status is one of those accepted. `sent` and `received` are the bytes of
    the wire: a chunked body is in its chunks, a compressed one compressed.
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
    def of(cls, found: dict[str, Any]) -> Answer:
        """The answer in what the engine found."""
        times = {key: found.get(key) for key in ("connect_ms", "tls_ms", "ttfb_ms", "service_ms")}
        return cls(
            status=found["status"],
            is_ok=found["class"] == "ok",
            address=found["address"],
            sent=base64.b64decode(found["request"]),
            received=base64.b64decode(found["response"]),
            **times,
        )
