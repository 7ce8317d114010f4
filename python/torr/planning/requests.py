"""From URLs, a requests file and flags to requests, each with a name of its own.

A flag is for every request; what a file says of a request goes before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr import __version__
from torr.errors import UsageError, require
from torr.model.json_input import parse_json
from torr.model.request import Request
from torr.model.stream import Limit, Stream
from torr.model.template import for_json
from torr.model.url import Url
from torr.planning.chat import chat_requests, check_flags, token_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.check import Spans
    from torr.model.condition import Condition
    from torr.model.rows import Rows
    from torr.sources.entry import Entry

Flags = dict[str, Any]

MS_NS = 1_000_000
DEFAULT_STATUSES = ((200, 399),)
STREAM_STATUSES = ((200, 299),)
_SAID_BY_FILES = {
    "method": "-m/--method",
    "body": "-b/--body",
    "json_body": "--json-body",
    "capture": "--capture",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests in order, and their weights, if any were given; of a chat also what is said.

    `goes_on` when each user sends them in order.
    """

    requests: tuple[Request, ...]
    weights: tuple[int, ...] = ()
    rows: Rows | None = None
    goes_on: bool = False


def asked_of(urls: Sequence[str], flags: Flags) -> Asked:
    """What is to be sent; raises UsageError that names the flag, or file and line."""
    check_flags(flags)
    path = flags["requests_file"]
    if flags["chat"] is not None:
        requests, rows = chat_requests(urls, flags)
        found = Asked(requests, rows=rows, goes_on=len(requests) > 1)
    elif path is None:
        require(bool(urls), "URL is missing", "torr run http://localhost:8080/")
        found = Asked(tuple(_of_urls(urls, flags)))
    else:
        found = _of_file(Path(path), urls, flags)
    requests = tuple(finished(request, flags) for request in found.requests)
    check_streams(requests, flags)
    goes_on = found.goes_on or flags["steps"]
    named = tuple(with_limits(request, flags) for request in _told_apart(requests))
    return Asked(named, _weights(found, flags), found.rows, goes_on)


def _of_urls(urls: Sequence[str], flags: Flags) -> list[Request]:
    body, headers = _body(flags)
    captures = flags["capture"]
    require(
        not captures or len(urls) == 1 or flags["steps"],
        "--capture: there are several requests, and it could be of any",
        "add --steps, whose first one it is of, or write it into a --requests-file",
    )
    method = flags["method"] or ("GET" if body is None else "POST")
    return [
        Request(
            url=url,
            method=method,
            headers=headers,
            body=body,
            captures=() if number else captures,
            template=False if flags["verbatim"] else None,
            timeout_ns=flags["timeout"],
            accept_statuses=flags["expect_status"] or _statuses(flags["stream"]),
        )
        for number, url in enumerate(urls)
    ]


def _of_file(path: Path, urls: Sequence[str], flags: Flags) -> Asked:
    """The requests of a file; the URL, if any, is where its relative URLs lead."""
    for name, says in _SAID_BY_FILES.items():
        given = flags[name] not in (None, ())
        hint = "the file says what is sent"
        require(not given, f"{says} and --requests-file are both given", hint)
    require(len(urls) <= 1, "--requests-file and several URLs are given", "give one URL, or none")
    from torr.sources.requests import read_requests

    found = read_requests(path)
    if found.left_out:
        few = "entry is" if found.left_out == 1 else "entries are"
        click.echo(f"note: {path}: {found.left_out:,} {few} not http, left out", err=True)
    base = Url.parse(urls[0]) if urls else None
    require(
        base is None or any(_is_relative(entry) for entry in found.entries),
        f"{''.join(urls)} is given, but every request of {path} has a URL of its own",
        "leave the URL out, or write paths such as /items into the file",
    )
    requests = tuple(request_of(entry, base, flags) for entry in found.entries)
    weights = [entry.weight for entry in found.entries]
    if all(weight is None for weight in weights):
        return Asked(requests)
    return Asked(requests, tuple(1 if weight is None else weight for weight in weights))


def request_of(entry: Entry, base: Url | None, flags: Flags) -> Request:
    """The request that an entry of a file says; raises FileError."""
    from torr.sources.entry import at

    missing = [
        header
        for header in _body(flags)[1]
        if not any(header[0].lower() == name.lower() for name, _ in entry.headers)
    ]
    with at(entry.path, entry.line):
        if _is_relative(entry) and base is None:
            raise UsageError(f"{entry.url} is no whole URL", "give torr the URL of the server, too")
        request = Request(
            url=base.at(entry.url) if base is not None and _is_relative(entry) else entry.url,
            method=entry.method,
            headers=(*entry.headers, *missing),
            body=_body_of(entry, flags),
            name=entry.name,
            captures=entry.captures,
            template=False if flags["verbatim"] else None,
            timeout_ns=entry.timeout_ns or flags["timeout"],
            accept_statuses=entry.accept_statuses
            or flags["expect_status"]
            or _statuses(entry.stream or flags["stream"]),
            expect_body=entry.expect_body,
            expect_json=entry.expect_json,
            stream=entry.stream,
        )
        request.expressions()  # here, where file and line can be named
        return request


def _body_of(entry: Entry, flags: Flags) -> bytes | None:
    """The body that a file says; what fills texts of JSON is quoted, unless nothing is filled."""
    if entry.body is None or not entry.is_json or flags["verbatim"]:
        return entry.body
    return for_json(entry.body.decode()).encode()


def _statuses(stream: object) -> Spans:
    """What counts as ok where nothing is said: of a stream not what has no body to stream."""
    return DEFAULT_STATUSES if stream is None else STREAM_STATUSES


def _is_relative(entry: Entry) -> bool:
    return entry.url.startswith("/")


def finished(request: Request, flags: Flags) -> Request:
    """The request with what is the same for all of them."""
    missing = [header for header in token_header(flags) if not request.has_header(header[0])]
    return replace(
        replace(request, headers=(*request.headers, *missing)).with_default_headers(__version__),
        stream=_stream(request.stream, flags),
        expect_body=(*request.expect_body, *flags["expect_body"]),
        expect_json=(*request.expect_json, *flags["expect_json"]),
        compressed=flags["compressed"],
    )


def check_streams(requests: Sequence[Request], flags: Flags) -> None:
    """Refuse what is said of streams where no answer is one."""
    require(
        not flags["aliases"] or flags["counted_from"] != "intended",
        "--alias and --from intended are both given: those tools count from the send",
        "leave one out",
    )
    if any(request.stream for request in requests):
        return
    require(flags["idle_timeout"] is None, "--idle-timeout needs --stream", "add --stream sse")
    require(flags["counted_from"] != "intended", "--from needs --stream", "add --stream sse")
    for name, long in (("aliases", "--alias"), ("tokenizer", "--tokenizer")):
        require(not flags[name], f"{long} needs --stream", "add --stream openai")


def _stream(own: Stream | None, flags: Flags) -> Stream | None:
    """How an answer streams: what a file says of it goes before what flags say of all."""
    dialect = own.dialect if own else flags["chat"] or flags["stream"]
    if dialect is None:
        return None
    return Stream(
        dialect=dialect,
        idle_timeout_ns=(own.idle_timeout_ns if own else None) or flags["idle_timeout"],
        from_intended=flags["counted_from"] == "intended",
        aliases=flags["aliases"],
        keep_text=flags["tokenizer"] is not None,
    )


def with_limits(request: Request, flags: Flags) -> Request:
    """The request under its last name, with what a good answer of it meets."""
    if request.stream is None:
        return request
    return replace(request, limits=limits_of(request.name, flags["slos"]))


def limits_of(name: str, slos: Sequence[Condition]) -> tuple[Limit, ...]:
    """What a good answer of a request meets: every SLO of latency, whatever its percentile."""
    about = [slo for slo in slos if slo.name in (None, name)]
    return tuple(
        Limit(slo.metric, round(slo.limit * MS_NS), slo.op == "<=")
        for slo in about
        if slo.unit == "ms" and slo.wants_little
    )


def _weights(found: Asked, flags: Flags) -> tuple[int, ...]:
    given: tuple[int, ...] | None = flags["weights"]
    if given is None:
        return found.weights
    require(not found.weights, "--weights and weights in the file are both given", "leave one out")
    count = len(found.requests)
    require(
        len(given) == count,
        f"--weights: {len(given)} for {count} request{'' if count == 1 else 's'}",
        "give each request one, in order: --weights 8,1,1",
    )
    return given


def _told_apart(requests: Sequence[Request]) -> tuple[Request, ...]:
    """The requests under different names: by where they go, else by number."""
    counts = Counter(request.name for request in requests)
    endpoints = {request.place.endpoint for request in requests}
    found: list[Request] = []
    taken: set[str] = set()
    # The last number of each name: all up to it are taken.
    numbers: Counter[str] = Counter()
    for request in requests:
        name, place = request.name, request.place
        if counts[name] > 1 and len(endpoints) > 1 and name == f"{request.method} {place.path}":
            name = f"{request.method} {place.place}{place.path}"
        free = name
        while free in taken:
            numbers[name] += 1
            free = f"{name} #{numbers[name] + 1}"
        taken.add(free)
        found.append(replace(request, name=free))
    return tuple(found)


def _body(flags: Flags) -> tuple[bytes | None, tuple[tuple[str, str], ...]]:
    headers = tuple(flags["headers"])
    if flags["basic_auth"] is not None:
        headers = (*headers, flags["basic_auth"])
    plain, document = flags["body"], flags["json_body"]
    if document is None:
        return plain, headers
    if plain is not None:
        raise UsageError("-b/--body and --json-body are both given", "give one body")
    try:
        parse_json(document)
    except ValueError as error:
        raise UsageError(f"--json-body: {error}", "-b sends any text") from error
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("content-type", "application/json"))
    return document, headers
