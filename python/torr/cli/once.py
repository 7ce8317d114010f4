"""`torr run --once`: send one request and print its exchange."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from torr import units
from torr.cli.streams import echo, printed, show_notes
from torr.experiments.once import require_answer, require_ok, require_success, send_once
from torr.grpc.decoding import shown_messages
from torr.grpc.framing import FrameError
from torr.grpc.status import status_of
from torr.messages.say import Text, chain, render, say
from torr.model.outside import Outside
from torr.model.printable import safe_text
from torr.planning.plan import plan_of
from torr.planning.secrets import secrets_of_plan

if TYPE_CHECKING:
    from torr.model.grpc import GrpcCall, ShowMessage
    from torr.model.request import Request
    from torr.options.measure import MeasureOptions
    from torr.results.exchange import Exchange, Fields


_MOST_SHOWN = 200  # characters of a body


def once(options: MeasureOptions) -> None:
    """Send one request and print its response; raise an error if it did not succeed."""
    planned = plan_of(options)
    show_notes(planned.notes)
    plan = planned.plan
    exchange = send_once(plan)
    call = plan.requests[0].grpc
    outside = Outside().with_secrets(secrets_of_plan(plan))
    # Without a connection the request was not sent, and is not printed.
    if exchange.error_class not in {"connect", "tls", "dns"}:
        if options.once.verbose:
            click.echo(_sent(exchange.request, outside, call))
            click.echo(_received(exchange, outside, call))
        elif call is not None:
            _print_messages(call, exchange, outside)
    require_answer(plan, exchange)
    if call is not None:
        status = status_of(exchange)
        echo(_summary(exchange, None if status is None else status.label))
        require_ok(status, plan.requests[0], exchange)
        return
    echo(_summary(exchange))
    if exchange.reason == "check.json":
        echo(_json_that_differs(plan.requests[0], exchange))
    require_success(plan.requests[0], exchange)


def _print_messages(call: GrpcCall, exchange: Exchange, outside: Outside) -> None:
    """Print the messages of request and response as JSON."""
    body = exchange.request.partition(b"\r\n\r\n")[2]
    for text in (
        *_messages(body, call.show_request),
        *_messages(exchange.body, call.show_response),
    ):
        click.echo(outside.text(text))


def _messages(body: bytes, show: ShowMessage) -> list[str]:
    """Return the messages in a body as JSON; an error in their place if it cannot be read."""
    try:
        return shown_messages(body, show)
    except FrameError as error:
        return [f"({error})"]


def _sent(request: bytes, outside: Outside, call: GrpcCall | None) -> str:
    """Return a request as text without secrets."""
    head, _, body = request.partition(b"\r\n\r\n")
    lines = _marked("> ", head.decode("latin-1"), outside)
    show = None if call is None else call.show_request
    return "\n".join([*lines, ">", *_body(body, outside, show)]) + "\n"


def _received(exchange: Exchange, outside: Outside, call: GrpcCall | None) -> str:
    """Return a response as text without secrets."""
    head = exchange.head
    if head is None:
        return "\n".join(_marked("< ", exchange.excerpt.decode("latin-1"), outside)) + "\n"
    status = f"HTTP/{head.version} {head.status} {head.reason}".rstrip()
    lines = _marked("< ", "\r\n".join([status, *_fields(head.fields)]), outside)
    trailers = "\r\n".join(_fields(exchange.trailers))
    behind = _marked("< ", trailers, outside) if trailers else []
    show = None if call is None else call.show_response
    return "\n".join([*lines, "<", *_body(exchange.body, outside, show), *behind]) + "\n"


def _fields(fields: Fields) -> list[str]:
    return [f"{name}: {value}" for name, value in fields]


def _marked(mark: str, text: str, outside: Outside) -> list[str]:
    return [mark + line for line in outside.text(text).split("\r\n")]


def _body(body: bytes, outside: Outside, show: ShowMessage | None = None) -> list[str]:
    """Return a body as text; the messages of a call as JSON."""
    if show is not None:
        return [outside.text(text) for text in _messages(body, show)]
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return [render(say("({n:,} bytes that are not text)", n=len(body)), printed.language)]
    return [outside.text(text)] if text else []


def _json_that_differs(request: Request, exchange: Exchange) -> Text:
    """Return the values that were expected in the JSON body, and the beginning of the body."""
    checks = request.redacted().expect_json
    expected = [f"{check.path} = {json.dumps(check.value, ensure_ascii=False)}" for check in checks]
    body = exchange.body.decode("utf-8", "replace")
    return say(
        "expected {expected}; the body is {body}",
        expected=chain(", ", expected),
        body=safe_text(body[:_MOST_SHOWN]) or say("empty"),
    )


def _summary(exchange: Exchange, status: str | None = None) -> str:
    """Return how an exchange ended and its times; `status` is that of a call of gRPC."""
    times = [
        chain(" ", [name, units.show_ms(time)])
        for name, time in (
            (say("connect"), exchange.connect_ms),
            ("TLS", exchange.tls_ms),
            (say("first byte"), exchange.ttfb_ms),
            (say("whole response"), exchange.service_ms),
        )
        if time is not None
    ]
    marks = {
        "check": say(" ({why})", why=exchange.reason),
        "status": say(" ({why})", why=say("not accepted")),
    }
    return say(
        "{status}{failed} from {address}: {times}",
        status=status or exchange.status,
        failed="" if status else marks.get(exchange.error_class, ""),
        address=exchange.address,
        times=chain(", ", times),
    )
