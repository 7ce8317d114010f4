"""The result of `torr.once`: one response, with the bytes sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torr.results.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete response; times are in milliseconds, None for phases that did not happen.

    `is_ok`: the status is an accepted one. `sent` has the bytes of the request. `headers` and
    `trailers` are pairs, in the order in which they were received. `body` is without chunked
    framing, but compressed as it was received.
    """

    status: int
    is_ok: bool
    address: str
    sent: bytes
    headers: tuple[tuple[str, str], ...]
    body: bytes
    trailers: tuple[tuple[str, str], ...]
    connect_ms: float | None
    tls_ms: float | None
    ttfb_ms: float | None
    service_ms: float | None

    @classmethod
    def of(cls, exchange: Exchange) -> Answer:
        """Return the response of an exchange that was answered."""
        return cls(
            status=exchange.status or 0,
            is_ok=exchange.is_ok,
            address=exchange.address or "",
            sent=exchange.request,
            headers=() if exchange.head is None else tuple(exchange.head.fields),
            body=exchange.body,
            trailers=tuple(exchange.trailers),
            connect_ms=exchange.connect_ms,
            tls_ms=exchange.tls_ms,
            ttfb_ms=exchange.ttfb_ms,
            service_ms=exchange.service_ms,
        )
