"""Calls of gRPC: a request whose body is the JSON of messages becomes one with their bytes.

The types of messages come from `--proto`, `--descriptor-set`, or the server (`--reflection`), which
is asked by torr's own client before the load.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr import __version__
from torr.errors import UsageError, require
from torr.grpc.decoding import MessageReader
from torr.grpc.encoding import constant_bytes, encode_messages
from torr.grpc.framing import framed
from torr.grpc.method_name import method_name, service_of
from torr.messages.say import say
from torr.model.grpc import Alternate, GrpcCall, Paced, Together
from torr.model.pace import Closed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.model.stream import Stream
from torr.model.template import is_template
from torr.model.url import Url
from torr.options.definition import refuse, require_for
from torr.planning.chat import token_header
from torr.planning.transport import http_of_calls, transport_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.grpc.schema import Method, Schema
    from torr.model.grpc import Sending
    from torr.model.request import Header
    from torr.options.grpc import GrpcOptions
    from torr.options.measure import MeasureOptions
    from torr.results.exchange import Exchange

STATUSES = ((200, 200),)
_ANY_STATUS = ((100, 599),)
_LIKELY_STATUSES = (STATUSES, ((200, 399),))
_OF_SCHEMAS = ("proto_files", "descriptor_set", "reflection")
_MOST_DIGITS = 8
_MS_NS = 1_000_000
# Units of `grpc-timeout`, in nanoseconds, the finest first.
_UNITS = {
    "n": 1,
    "u": 1_000,
    "m": _MS_NS,
    "S": 1_000 * _MS_NS,
    "M": 60_000 * _MS_NS,
    "H": 3_600_000 * _MS_NS,
}


@dataclass(frozen=True, slots=True)
class GrpcPlanner:
    """The planner of the calls of a plan, which reads each schema once."""

    options: MeasureOptions
    _schemas: dict[tuple[str, ...], Schema] = field(default_factory=dict)

    def call(self, request: Request, called: str, name: str = "") -> Request:
        """Return the call of a method; raise UsageError.

        `request` has the server, the metadata, and messages as JSON; `name` is the user's, if any.
        """
        options = self.options
        _check(request, options)
        url = _server(request)
        method = self._schema(url, called, request).method(called)
        packs = options.grpc.grpc_gzip
        fills = not options.request.verbatim
        messages = encode_messages(method, request.body or b"", fills=fills)
        constants = [constant_bytes(parts) for parts in messages]
        is_constant = None not in constants
        require(
            is_constant or not packs,
            say("--grpc-gzip: torr does not compress messages with templates"),
            say("leave --grpc-gzip out, or write values without {{{{…}}}}"),
        )
        call = GrpcCall(
            method=method.name,
            json=(request.body or b"{}").decode(),
            show_request=MessageReader(method.request),
            show_response=MessageReader(method.response),
            request_stream=method.request_stream,
            response_stream=method.response_stream,
            sending=_sending(method, options.grpc),
            messages=None if is_constant else tuple(messages),
        )
        written = [constant for constant in constants if constant is not None]
        return replace(
            request,
            url=str(replace(url, target=f"/{method.name}")),
            method="POST",
            headers=_headers(request.headers, request.timeout_ns, packs=packs),
            body=framed(written, is_compressed=packs) if is_constant else None,
            accept_statuses=STATUSES,
            name=name or method.name,
            template=None if fills else False,
            stream=Stream("grpc") if method.response_stream else None,
            grpc=call,
        )

    def _schema(self, url: Url, called: str, request: Request) -> Schema:
        """Return the schema that has a method, or that should have it."""
        options = self.options.grpc
        service = service_of(method_name(called))
        key = (str(url), request.unix_socket or "", service) if options.reflection else ()
        if key not in self._schemas:
            self._schemas[key] = self._read_schema(url, service, request)
        return self._schemas[key]

    def _read_schema(self, url: Url, service: str, request: Request) -> Schema:
        options = self.options.grpc
        _check_schema(options)
        if options.proto_files:
            from torr.grpc.proto_files import read_proto_files

            return read_proto_files(options.proto_files, options.proto_paths)
        if options.descriptor_set is not None:
            from torr.grpc.schema import read_descriptor_set

            return read_descriptor_set(Path(options.descriptor_set))
        from torr.grpc.reflection import read_by_reflection

        address = url.address if request.unix_socket is None else f"unix:{request.unix_socket}"
        return read_by_reflection(address, service, _Asker(self.options, request, url).ask)


def check_calls(requests: Sequence[Request], options: GrpcOptions) -> None:
    """Refuse options of gRPC that no request of a load uses."""
    calls = [request.grpc for request in requests if request.grpc is not None]
    require_for(
        options,
        *(*_OF_SCHEMAS, "proto_paths", "grpc_gzip", "message_interval_ns", "send_together")
        if not calls
        else (),
        what="--grpc",
        hint=say("add --grpc package.Service/Method"),
    )
    require(
        not (options.message_interval_ns and options.send_together),
        say("--message-interval and --send-together are both given"),
        say("leave one out"),
    )
    require(
        not options.message_interval_ns or any(call.request_stream for call in calls),
        say("--message-interval: no method takes a stream of messages"),
        say("leave it out"),
    )
    require(
        not options.send_together
        or any(call.request_stream and call.response_stream for call in calls),
        say("--send-together: no method is bidirectional"),
        say("leave it out: other methods are sent all messages at once"),
    )


def _check(request: Request, options: MeasureOptions) -> None:
    """Refuse options that do not fit calls."""
    refuse(options.request, "method", "compressed", what="--grpc")
    refuse(options.stream, "stream", "aliases", "tokenizer", what="--grpc")
    of_bodies = options.request.expect_body or options.request.expect_json
    require(
        not (of_bodies or request.expect_body or request.expect_json),
        say("--expect-body and --expect-json do not fit a call of gRPC: its response is binary"),
        say("leave them out: a call is ok if its status is OK"),
    )
    require(
        all(capture.source == "header" for capture in request.captures),
        say("--capture: torr captures only headers from a call of gRPC"),
        say("write NAME=header:FIELD"),
    )
    require(request.stream is None, say("stream and grpc are both given"), say("leave stream out"))
    require(
        request.accept_statuses in _LIKELY_STATUSES,
        say("--expect-status does not fit a call of gRPC: its HTTP status is 200"),
        say("leave it out: a call is ok if its status is OK"),
    )


def _check_schema(options: GrpcOptions) -> None:
    """Refuse calls without a schema, and with several."""
    given = [name for name in _OF_SCHEMAS if getattr(options, name)]
    require(
        bool(given),
        say("--grpc: the types of the messages are not known"),
        say("add --proto FILE, --descriptor-set FILE or --reflection"),
    )
    if len(given) > 1:
        refuse(options, given[1], what=f"--{given[0].removesuffix('_files').replace('_', '-')}")
    if not options.proto_files:
        require_for(options, "proto_paths", what="--proto", hint=say("add --proto FILE"))


def _server(request: Request) -> Url:
    """Return the URL of the server of a call, which has no path."""
    url = Url.parse(request.url)
    require(
        url.target == "/",
        say("{url} has a path, and that of a call is its method", url=request.url),
        say("leave the path out"),
    )
    return url


def _sending(method: Method, options: GrpcOptions) -> Sending:
    """Return when the messages of a call are sent."""
    if not method.request_stream:
        return Together()
    if options.message_interval_ns is not None:
        return Paced(options.message_interval_ns)
    return Alternate() if method.response_stream and not options.send_together else Together()


def _headers(own: Sequence[Header], timeout_ns: int, *, packs: bool) -> tuple[Header, ...]:
    """Return the headers of a call; those of the user replace the others."""
    metadata = [_metadata(name.lower(), value) for name, value in own]
    names = {name for name, _ in metadata}
    defaults = [
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("grpc-timeout", _timeout(timeout_ns)),
        ("grpc-accept-encoding", "gzip" if packs else "identity"),
        *([("grpc-encoding", "gzip")] if packs else []),
        ("user-agent", f"torr/{__version__}"),
    ]
    return (*(header for header in defaults if header[0] not in names), *metadata)


def _metadata(name: str, value: str) -> Header:
    """Return a header; the value of a binary one, whose name ends in `-bin`, is base64."""
    if not name.endswith("-bin"):
        return name, value
    if is_template(value):
        raise UsageError(
            say("the header {name} is binary, and torr fills no templates in it", name=name),
            say("write a value without {{{{…}}}}"),
        )
    return name, base64.b64encode(value.encode()).decode().rstrip("=")


def _timeout(timeout_ns: int) -> str:
    """Return a time for `grpc-timeout`: in ms, or else as exactly as eight digits allow."""
    if timeout_ns % _MS_NS == 0 and len(f"{timeout_ns // _MS_NS}") <= _MOST_DIGITS:
        return f"{timeout_ns // _MS_NS}m"
    for unit, length_ns in _UNITS.items():
        number = -(-timeout_ns // length_ns)
        if len(f"{number}") <= _MOST_DIGITS:
            return f"{number}{unit}"
    return f"{'9' * _MOST_DIGITS}H"


@dataclass(frozen=True, slots=True)
class _Asker:
    """The client of reflection, with the connection options and the metadata of the calls."""

    options: MeasureOptions
    request: Request
    url: Url

    def ask(self, path: str, body: bytes) -> Exchange:
        """Return the exchange of a complete response; raise NothingMeasuredError without one."""
        from torr.experiments.once import send_for_answer

        request, connection = self.request, self.options.connection
        own = [header for header in request.headers if not is_template(header[1])]
        own += [h for h in token_header(self.options.stream) if not request.has_header(h[0])]
        question = Request(
            url=str(replace(self.url, target=path)),
            unix_socket=request.unix_socket,
            method="POST",
            headers=_headers(own, request.timeout_ns, packs=False),
            body=body,
            timeout_ns=request.timeout_ns,
            accept_statuses=_ANY_STATUS,
            template=False,
        )
        http = http_of_calls(connection, question.url)
        plan = Plan(
            groups=(Group(Closed(1), Source.of(question)),),
            stop=Count(1),
            transport=transport_of(
                replace(connection, http=http, streams=1, coalesce_ns=0), [question]
            ),
            warmup_ns=0,
        )
        return send_for_answer(plan)
