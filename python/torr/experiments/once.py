"""One request, sent once: its exchange, or the error that says why there is no response."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr import engine
from torr.errors import NothingMeasuredError, require
from torr.grpc.status import OK
from torr.messages.message import Message
from torr.messages.say import chain, say
from torr.model.feed import RowFeed
from torr.model.pace import Closed
from torr.model.plan import Count
from torr.model.rows import Rows
from torr.model.source import Source

if TYPE_CHECKING:
    from torr.grpc.status import GrpcStatus
    from torr.model.plan import Plan
    from torr.model.request import Request
    from torr.results.exchange import Exchange


_NOT_ALLOWED = (401, 403)


def send_for_answer(plan: Plan) -> Exchange:
    """Send one request and return the exchange; raise NothingMeasuredError without an answer."""
    exchange = send_once(plan)
    require_answer(plan, exchange)
    return exchange


def first_alone(plan: Plan) -> Plan:
    """Return a plan of the first request alone; that of a feed has the values of the first row."""
    first, group = plan.requests[0], plan.groups[0]
    if not isinstance(group.data, RowFeed):
        return replace(plan, groups=(replace(group, source=Source.of(first)),))
    row = next(group.data.open())[0]
    # A session that begins remembers nothing.
    if first.remember is not None and first.body is not None:
        memory = f"{{{{{first.remember.name}}}}}".encode()
        first = replace(first, body=first.body.replace(memory, b""), captures=(), remember=None)
    data = Rows(group.data.columns, (tuple(row.cells),))
    group = replace(group, source=Source.of(first), data=data, pace=Closed(1))
    return replace(plan, groups=(group,), stop=Count(1))


def send_once(plan: Plan) -> Exchange:
    """Send one request and return the exchange."""
    count = len(plan.requests)
    require(
        count == 1,
        say("--once sends one request, and {count} are given", count=count),
        say("give one URL"),
    )
    return engine.once(plan)


def require_answer(plan: Plan, exchange: Exchange) -> None:
    """Raise NothingMeasuredError unless a complete response came."""
    if not exchange.is_answered:
        request = plan.requests[0]
        reason = exchange.reason or exchange.error_class
        text = missing_socket(request.unix_socket) or Message(exchange.detail, f"reason.{reason}")
        url = written_url(request.url, request.unix_socket)
        raise NothingMeasuredError(
            chain(": ", [url, reason, text]),
            say("tried once, at {address}", address=exchange.address or say("no address")),
        )


def require_success(request: Request, exchange: Exchange) -> None:
    """Raise NothingMeasuredError if the response has another status or body than was asked for."""
    if exchange.error_class == "status" and request.is_message:
        hint = say("check the URL, and that the server speaks WebSocket there")
        if exchange.status in _NOT_ALLOWED:
            hint = say("the server may need a header: -H 'Authorization: …' or -H 'Origin: …'")
        raise NothingMeasuredError(
            say("the server refused the handshake with status {status}", status=exchange.status),
            hint,
        )
    if exchange.error_class == "status":
        raise NothingMeasuredError(
            say("status {status} counts as failed", status=exchange.status),
            say("check the URL, or accept it: --expect-status {status}", status=exchange.status),
        )
    if exchange.error_class == "check":
        raise NothingMeasuredError(say("the response fails {check}", check=exchange.reason))


def require_ok(status: GrpcStatus | None, request: Request, exchange: Exchange) -> None:
    """Raise NothingMeasuredError if a call of gRPC did not end with OK, or as it should."""
    if status is None:
        raise NothingMeasuredError(
            say("the response has no grpc-status"),
            say("check that the server speaks gRPC at this port"),
        )
    if status.code != OK:
        raise NothingMeasuredError(say("the call ended with {status}", status=status.text))
    require_success(request, exchange)


def written_url(url: str, socket: str | None) -> str:
    """Return a URL as the user wrote it: torr writes `http://localhost` for a Unix socket."""
    return url if socket is None else f"unix:{socket}:{url.removeprefix('http://localhost')}"


def missing_socket(socket: str | None) -> str | None:
    """Return the message for a Unix socket that does not exist, None for others."""
    is_missing = socket is not None and not Path(socket).exists()
    return say("{path} does not exist", path=socket) if is_missing else None
