"""Options of requests: what is sent, and which answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.definition import REQUEST, SET_IN_PLAN_GROUPS, OptionScope, many, option, switch

if TYPE_CHECKING:
    from torr.model.check import BodyCheck, Capture, JsonCheck, Spans
    from torr.model.request import Header


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What is sent; a request of a file may have values of its own."""

    group: ClassVar[str] = REQUEST

    method: str | None = option(
        "-m/--method",
        readers.METHOD,
        "set the method [GET; POST with a body]",
        scopes=SET_IN_PLAN_GROUPS,
    )
    headers: tuple[Header, ...] = many(
        "-H/--header", readers.HEADER, "add a header (repeatable)", plural=True
    )
    body: bytes | None = option(
        "-b/--body", readers.CONTENT, "send this body", scopes=SET_IN_PLAN_GROUPS
    )
    json_body: bytes | None = option(
        "--json-body",
        readers.CONTENT,
        "send this JSON body and its content-type",
        scopes=SET_IN_PLAN_GROUPS,
    )
    basic_auth: Header | None = option(
        "--basic-auth", readers.CREDENTIALS, "authenticate by HTTP Basic", rare=True
    )
    requests_file: str | None = option(
        "--requests-file",
        readers.FILE,
        "send the requests in FILE: HAR, JSON or vegeta's",
        scopes=SET_IN_PLAN_GROUPS,
    )
    weights: tuple[int, ...] | None = option(
        "--weights",
        readers.WEIGHTS,
        "set each request's weight, e.g. 8,1,1 [in turn]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    steps: bool = switch(
        "--steps",
        "let each user send all requests in order, repeatedly",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    data: str | None = option(
        "--data",
        readers.FILE,
        "fill {{row.NAME}} from a CSV with header or JSON lines",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    verbatim: bool = switch("--verbatim", "send {{…}} as it is, without filling it in", rare=True)
    expect_status: Spans | None = option(
        "--expect-status", readers.STATUSES, "count these statuses as ok, e.g. 2xx,404 [200-399]"
    )
    expect_body: tuple[BodyCheck, ...] = many(
        "--expect-body",
        readers.BODY_CHECK,
        "require this text or regex in the body (repeatable)",
        rare=True,
    )
    expect_json: tuple[JsonCheck, ...] = many(
        "--expect-json",
        readers.JSON_CHECK,
        "require this JSON value: '$.status=ok' (repeatable)",
        rare=True,
    )
    captures: tuple[Capture, ...] = many(
        "--capture",
        readers.CAPTURE,
        "save as {{NAME}}: json:$.id, header:X, regex:/(…)/",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    compressed: bool = switch("--compressed", "request gzip or deflate compression", rare=True)
    timeout_ns: int = option(
        "--timeout",
        readers.SOME_DURATION,
        "fail a request that takes longer than TIME [30s]",
        default="30s",
    )


@dataclass(frozen=True, slots=True)
class OnceOptions:
    """Whether one request is sent instead of a load."""

    group: ClassVar[str] = REQUEST

    once: bool = switch(
        "--once", "send one request and print its result", scopes=OptionScope.COMMAND_LINE
    )
    verbose: bool = switch(
        "-v/--verbose",
        "with --once: print the request and the response",
        rare=True,
        scopes=OptionScope.COMMAND_LINE,
    )
