"""The result of `torr.once`: one response, with the bytes sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torr.model.grpc import GrpcCall
    from torr.results.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Answer:
    """One complete response; times are in milliseconds, None for phases that did not happen.

    `is_ok`: the status is an accepted one. `sent` has the bytes of the request. `headers` and
    `trailers` are pairs, in the order in which they were received. `body` is without chunked
    framing, but compressed as it was received. Of a call of gRPC, `grpc_status` has the name of the
    status, and `messages` the messages of the response as Python values; empty if they cannot be
    read.
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
    grpc_status: str | None = None
    messages: tuple[Any, ...] = ()

    @classmethod
    def of(cls, exchange: Exchange, call: GrpcCall | None = None) -> Answer:
        """Return the response of an exchange that was answered, perhaps that of a call."""
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
            grpc_status=None if call is None else _status_name(exchange),
            messages=() if call is None else _messages(exchange, call),
        )


def _status_name(exchange: Exchange) -> str | None:
    from torr.grpc.status import name_of, status_of

    status = status_of(exchange)
    return None if status is None else name_of(status.code)


def _messages(exchange: Exchange, call: GrpcCall) -> tuple[Any, ...]:
    from torr.grpc.decoding import shown_messages
    from torr.grpc.framing import FrameError

    try:
        return tuple(map(json.loads, shown_messages(exchange.body, call.show_response)))
    except FrameError:
        return ()
