"""Requests from URLs, a requests file and options, each with a distinct name.

An option is for every request; a file overrides it for its requests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr import __version__
from torr.errors import UsageError, require
from torr.messages.say import say, say_count
from torr.model.json_input import parse_json
from torr.model.request import Request
from torr.model.stream import Limit, Stream
from torr.model.template import for_json
from torr.model.url import Url, is_websocket
from torr.options.definition import refuse, require_for
from torr.planning.apis.table import APIS
from torr.planning.chat import chat_requests, check_chat, token_header
from torr.planning.grpc import GrpcPlanner, check_calls
from torr.planning.request_mix import RequestMix
from torr.planning.websocket import SWITCHED, check_websocket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.check import Spans
    from torr.model.condition import Condition
    from torr.model.request import Header
    from torr.options.measure import MeasureOptions
    from torr.options.request import RequestOptions
    from torr.options.stream import StreamOptions
    from torr.sources.entry import Entry

MS_NS = 1_000_000
DEFAULT_STATUSES = ((200, 399),)
STREAM_STATUSES = ((200, 299),)
_SET_BY_FILES = ("method", "body", "json_body", "captures")


def request_mix_of(options: MeasureOptions) -> RequestMix:
    """Return the requests of a load; raise UsageError that names the flag, or file and line."""
    check_chat(options.request, options.stream, options.trace)
    mix = _mix_of(options)
    requests = tuple(with_options(request, options) for request in mix.requests)
    check_streams(requests, options.stream)
    check_calls(requests, options.grpc)
    check_websocket(requests, options)
    slos = options.result.slos
    return replace(
        mix,
        requests=tuple(with_limits(request, slos) for request in _distinctly_named(requests)),
        weights=_weights(mix, options.request.weights),
        in_steps=mix.in_steps or options.request.steps,
    )


def _mix_of(options: MeasureOptions) -> RequestMix:
    """Return the requests of a chat, a file or URLs, without the options of all requests."""
    if options.stream.chat is not None:
        refuse(options.grpc, "grpc", what="--chat")
        return chat_requests(options, options.stream.chat)
    if options.request.requests_file is not None:
        return _of_file(Path(options.request.requests_file), options)
    verb = "run" if options.ladder is None else "ladder"
    require(
        bool(options.urls),
        say("URL is missing"),
        say("torr {verb} http://localhost:8080/", verb=verb),
    )
    return RequestMix(tuple(_of_urls(options)))


def _of_urls(options: MeasureOptions) -> list[Request]:
    options_of_request = options.request
    called, calls = options.grpc.grpc, GrpcPlanner(options)
    is_message = any(is_websocket(url) for url in options.urls)
    body, headers = _body(options_of_request, is_message=is_message, is_call=called is not None)
    require(
        not options_of_request.captures or len(options.urls) == 1 or options_of_request.steps,
        say("--capture: there are several requests, and the one to capture from is ambiguous"),
        say(
            "add --steps to capture from the first request, or write the capture into a"
            " --requests-file"
        ),
    )
    has_no_method = body is None or is_message
    method = options_of_request.method or ("GET" if has_no_method else "POST")
    requests = [
        Request(
            url=url,
            method=method,
            headers=headers,
            body=body,
            captures=() if number else options_of_request.captures,
            template=False if options_of_request.verbatim else None,
            timeout_ns=options_of_request.timeout_ns,
            accept_statuses=options_of_request.expect_status
            or _statuses(url, options.stream.stream),
        )
        for number, url in enumerate(options.urls)
    ]
    return requests if called is None else [calls.call(request, called) for request in requests]


def _of_file(path: Path, options: MeasureOptions) -> RequestMix:
    """Return the requests of a file; the URL, if any, is the base of its relative URLs."""
    urls = options.urls
    hint = say("leave one out: the file has the requests")
    refuse(options.request, *_SET_BY_FILES, what="--requests-file", hint=hint)
    refuse(options.grpc, "grpc", what="--requests-file", hint=hint)
    require(
        len(urls) <= 1,
        say("--requests-file and several URLs are given"),
        say("give one URL, or none"),
    )
    from torr.sources.requests import read_requests

    file = read_requests(path)
    note = say_count(
        file.left_out,
        "{path}: {n:,} entry is not http, left out",
        "{path}: {n:,} entries are not http, left out",
        path=path,
    )
    notes = (note,) if file.left_out else ()
    base = Url.parse(urls[0], messages=True) if urls else None
    require(
        base is None or any(_is_relative(entry) for entry in file.entries),
        say(
            "{urls} is given, but every request of {path} has a URL of its own",
            urls="".join(urls),
            path=path,
        ),
        say("leave the URL out, or write paths such as /items into the file"),
    )
    calls = GrpcPlanner(options)
    requests = tuple(request_of(entry, base, options, calls) for entry in file.entries)
    weights = [entry.weight for entry in file.entries]
    if all(weight is None for weight in weights):
        return RequestMix(requests, notes=notes)
    filled = tuple(1 if weight is None else weight for weight in weights)
    return RequestMix(requests, filled, notes=notes)


def request_of(
    entry: Entry, base: Url | None, options: MeasureOptions, calls: GrpcPlanner
) -> Request:
    """Return the request of an entry of a file; raise FileError."""
    from torr.sources.entry import errors_at

    defaults = options.request
    missing = [
        header
        for header in _body(defaults, is_call=entry.grpc is not None)[1]
        if not any(header[0].lower() == name.lower() for name, _ in entry.headers)
    ]
    with errors_at(entry.path, entry.line):
        if _is_relative(entry) and base is None:
            raise UsageError(
                say("{url} is not a complete URL", url=entry.url),
                say("give torr the URL of the server, too"),
            )
        url = base.at(entry.url) if base is not None and _is_relative(entry) else entry.url
        request = Request(
            url=url,
            method="GET" if is_websocket(url) and not entry.has_method else entry.method,
            headers=(*entry.headers, *missing),
            body=_body_of(entry, verbatim=defaults.verbatim),
            name=entry.name,
            captures=entry.captures,
            template=False if defaults.verbatim else None,
            timeout_ns=entry.timeout_ns or defaults.timeout_ns,
            accept_statuses=entry.accept_statuses
            or defaults.expect_status
            or _statuses(url, entry.stream or options.stream.stream),
            expect_body=entry.expect_body,
            expect_json=entry.expect_json,
            stream=entry.stream,
        )
        if entry.grpc is not None:
            request = calls.call(request, entry.grpc, entry.name)
        request.expressions()  # raises here, where file and line can be named
        return request


def _body_of(entry: Entry, *, verbatim: bool) -> bytes | None:
    """Return the body of an entry; in one of JSON, values of templates are quoted."""
    if entry.body is None or not entry.is_json or verbatim or entry.grpc is not None:
        return entry.body
    return for_json(entry.body.decode()).encode()


def _statuses(url: str, stream: object) -> Spans:
    """Return the default of accepted statuses; for a stream, those with a body."""
    if is_websocket(url):
        return SWITCHED
    return DEFAULT_STATUSES if stream is None else STREAM_STATUSES


def _is_relative(entry: Entry) -> bool:
    return entry.url.startswith("/")


def with_options(request: Request, options: MeasureOptions) -> Request:
    """Return the request with the options of all requests."""
    shared = options.request
    missing = [
        header for header in token_header(options.stream) if not request.has_header(header[0])
    ]
    return replace(
        replace(request, headers=(*request.headers, *missing)).with_default_headers(__version__),
        stream=_stream(request.stream, options),
        expect_body=(*request.expect_body, *shared.expect_body),
        expect_json=(*request.expect_json, *shared.expect_json),
        compressed=shared.compressed,
    )


def check_streams(requests: Sequence[Request], options: StreamOptions) -> None:
    """Refuse options of streams where no response is one."""
    require(
        not options.aliases or options.counted_from != "intended",
        say(
            "--alias and --from intended are both given: those tools measure from the"
            " moment of sending"
        ),
        say("leave one out"),
    )
    if any(request.stream for request in requests):
        return
    times = ("idle_timeout_ns", "counted_from")
    others = ("aliases", "tokenizer")
    if any(request.grpc for request in requests):
        what = say("a method whose response is a stream")
        require_for(options, *times, *others, what=what, hint=say("leave it out for this method"))
        return
    require_for(options, *times, what="--stream", hint=say("add --stream sse"))
    require_for(options, *others, what="--stream", hint=say("add --stream openai"))


def _stream(stream: Stream | None, measured: MeasureOptions) -> Stream | None:
    """Return how a response streams: a file overrides the flags."""
    options, in_comparison = measured.stream, measured.round is not None
    of_chat = APIS[options.chat].dialect if options.chat else None
    dialect = stream.dialect if stream else of_chat or options.stream
    if dialect is None:
        return None
    return Stream(
        dialect=dialect,
        idle_timeout_ns=(stream.idle_timeout_ns if stream else None) or options.idle_timeout_ns,
        from_intended=options.counted_from == "intended",
        aliases=options.aliases,
        output_tokens=None if options.output_tokens is None else options.output_tokens.constant,
        # A comparison has no verdict on tokens, and does not count them.
        keep_text=options.tokenizer is not None and not in_comparison,
    )


def with_limits(request: Request, slos: Sequence[Condition]) -> Request:
    """Return the request, after it got its final name, with the limits of a good response."""
    if request.stream is None:
        return request
    return replace(request, limits=limits_of(request.name, slos))


def limits_of(name: str, slos: Sequence[Condition]) -> tuple[Limit, ...]:
    """Return the limits of a good response: every SLO of latency, whatever its percentile."""
    matching = [slo for slo in slos if slo.name in (None, name)]
    return tuple(
        Limit(slo.metric, round(slo.limit * MS_NS), slo.op == "<=")
        for slo in matching
        if slo.unit == "ms" and slo.wants_little
    )


def _weights(mix: RequestMix, weights: tuple[int, ...] | None) -> tuple[int, ...]:
    if weights is None:
        return mix.weights
    require(
        not mix.weights,
        say("--weights and weights in the file are both given"),
        say("leave one out"),
    )
    count = len(mix.requests)
    require(
        len(weights) == count,
        say("--weights: {count} weights for {count_2} requests", count=len(weights), count_2=count),
        say("give each request one, in order: --weights 8,1,1"),
    )
    return weights


def _distinctly_named(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Return the requests with distinct names: with their address, otherwise with a number."""
    counts = Counter(request.name for request in requests)
    endpoints = {request.endpoint for request in requests}
    renamed: list[Request] = []
    taken: set[str] = set()
    # The last number of each name: all up to it are taken.
    numbers: Counter[str] = Counter()
    for request in requests:
        name, url = request.name, request.parsed_url
        if counts[name] > 1 and len(endpoints) > 1 and name == request.name_of(url):
            name = request.name_of(url, url.address)
        unique = name
        while unique in taken:
            numbers[name] += 1
            unique = f"{name} #{numbers[name] + 1}"
        taken.add(unique)
        renamed.append(replace(request, name=unique))
    return tuple(renamed)


def _body(
    options: RequestOptions, *, is_message: bool = False, is_call: bool = False
) -> tuple[bytes | None, tuple[Header, ...]]:
    """Return the body and the headers; a message of WebSocket or gRPC has no content-type."""
    headers = options.headers
    if options.basic_auth is not None:
        headers = (*headers, options.basic_auth)
    plain, document = options.body, options.json_body
    if document is None:
        return plain, headers
    if plain is not None:
        raise UsageError(say("-b/--body and --json-body are both given"), say("give one body"))
    if is_call:
        return document, headers
    try:
        parse_json(document)
    except ValueError as error:
        raise UsageError(
            say("--json-body: {error}", error=error), say("use -b to send any text")
        ) from error
    if not is_message and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("content-type", "application/json"))
    return document, headers
