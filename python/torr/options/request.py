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
        "-m/--method", readers.METHOD, "method [GET; POST with a body]", scopes=SET_IN_PLAN_GROUPS
    )
    headers: tuple[Header, ...] = many(
        "-H/--header", readers.HEADER, "a header (repeatable)", plural=True
    )
    body: bytes | None = option(
        "-b/--body", readers.CONTENT, "the body as it is", scopes=SET_IN_PLAN_GROUPS
    )
    json_body: bytes | None = option(
        "--json-body", readers.CONTENT, "a JSON body, with content-type", scopes=SET_IN_PLAN_GROUPS
    )
    basic_auth: Header | None = option(
        "--basic-auth", readers.CREDENTIALS, "as this user", rare=True
    )
    requests_file: str | None = option(
        "--requests-file",
        readers.FILE,
        "send these: vegeta's http or JSON, HAR",
        scopes=SET_IN_PLAN_GROUPS,
    )
    weights: tuple[int, ...] | None = option(
        "--weights",
        readers.WEIGHTS,
        "how often each request, e.g. 8,1,1 [in turn]",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    steps: bool = switch(
        "--steps", "each user sends them in order, then anew", rare=True, scopes=SET_IN_PLAN_GROUPS
    )
    data: str | None = option(
        "--data",
        readers.FILE,
        "rows for {{row.NAME}}: CSV with a header, JSON lines",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    verbatim: bool = switch("--verbatim", "send {{…}} as it stands: fill nothing", rare=True)
    expect_status: Spans | None = option(
        "--expect-status", readers.STATUSES, "what counts as ok, e.g. 2xx,404 [200-399]"
    )
    expect_body: tuple[BodyCheck, ...] = many(
        "--expect-body", readers.BODY_CHECK, "what the body must contain (repeatable)", rare=True
    )
    expect_json: tuple[JsonCheck, ...] = many(
        "--expect-json",
        readers.JSON_CHECK,
        "what it must say, e.g. '$.status=ok' (repeatable)",
        rare=True,
    )
    captures: tuple[Capture, ...] = many(
        "--capture",
        readers.CAPTURE,
        "keep for {{NAME}}: json:$.id, header:X, regex:/(…)/",
        rare=True,
        scopes=SET_IN_PLAN_GROUPS,
    )
    compressed: bool = switch("--compressed", "ask for gzip or deflate", rare=True)
    timeout_ns: int = option(
        "--timeout", readers.SOME_DURATION, "later than that is an error [30s]", default="30s"
    )


@dataclass(frozen=True, slots=True)
class OnceOptions:
    """Whether one request is sent instead of a load."""

    group: ClassVar[str] = REQUEST

    once: bool = switch(
        "--once", "send one, say what came back (-v: both sides)", scopes=OptionScope.COMMAND_LINE
    )
    verbose: bool = switch(
        "-v/--verbose", "with --once: print both sides", rare=True, scopes=OptionScope.COMMAND_LINE
    )
