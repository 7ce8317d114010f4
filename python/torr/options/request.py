"""Options of requests: what is sent, and which answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.definition import REQUEST, SAID_BY_PLAN, Front, many, option, switch

if TYPE_CHECKING:
    from torr.model.check import BodyCheck, Capture, JsonCheck, Spans
    from torr.model.request import Header


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What is sent; a request of a file may have values of its own."""

    group: ClassVar[str] = REQUEST

    method: str | None = option(
        "-m/--method", readers.METHOD, "method [GET; POST with a body]", fronts=SAID_BY_PLAN
    )
    headers: tuple[Header, ...] = many(
        "-H/--header", readers.HEADER, "a header (repeatable)", plural=True
    )
    body: bytes | None = option(
        "-b/--body", readers.CONTENT, "the body as it is", fronts=SAID_BY_PLAN
    )
    json_body: bytes | None = option(
        "--json-body", readers.CONTENT, "a JSON body, with content-type", fronts=SAID_BY_PLAN
    )
    basic_auth: Header | None = option(
        "--basic-auth", readers.CREDENTIALS, "as this user", rare=True
    )
    requests_file: str | None = option(
        "--requests-file",
        readers.FILE,
        "send these: vegeta's http or JSON, HAR",
        fronts=SAID_BY_PLAN,
    )
    weights: tuple[int, ...] | None = option(
        "--weights",
        readers.WEIGHTS,
        "how often each request, e.g. 8,1,1 [in turn]",
        rare=True,
        fronts=SAID_BY_PLAN,
    )
    steps: bool = switch(
        "--steps", "each user sends them in order, then anew", rare=True, fronts=SAID_BY_PLAN
    )
    data: str | None = option(
        "--data",
        readers.FILE,
        "rows for {{row.NAME}}: CSV with a header, JSON lines",
        rare=True,
        fronts=SAID_BY_PLAN,
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
        fronts=SAID_BY_PLAN,
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
        "--once", "send one, say what came back (-v: both sides)", fronts=Front.COMMAND_LINE
    )
    verbose: bool = switch(
        "-v/--verbose", "with --once: print both sides", rare=True, fronts=Front.COMMAND_LINE
    )
