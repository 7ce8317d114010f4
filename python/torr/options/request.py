"""Options of requests: what is asked, and what a right answer is."""

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
    """What is asked; each holds for every request that does not say it itself."""

    group: ClassVar[str] = REQUEST

    method: str | None = option(
        *("-m", "--method"),
        reader=readers.METHOD,
        fronts=SAID_BY_PLAN,
        help="method [GET; POST with a body]",
    )
    headers: tuple[Header, ...] = many(
        *("-H", "--header"),
        reader=readers.HEADER,
        plural=True,
        help="a header (repeatable)",
    )
    body: bytes | None = option(
        *("-b", "--body"),
        reader=readers.CONTENT,
        fronts=SAID_BY_PLAN,
        help="the body as it is",
    )
    json_body: bytes | None = option(
        "--json-body",
        reader=readers.CONTENT,
        fronts=SAID_BY_PLAN,
        help="a JSON body, with content-type",
    )
    basic_auth: Header | None = option(
        "--basic-auth",
        reader=readers.CREDENTIALS,
        rare=True,
        help="as this user",
    )
    requests_file: str | None = option(
        "--requests-file",
        reader=readers.FILE,
        fronts=SAID_BY_PLAN,
        help="send these: vegeta's http or JSON, HAR",
    )
    weights: tuple[int, ...] | None = option(
        "--weights",
        reader=readers.WEIGHTS,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="how often each request, e.g. 8,1,1 [in turn]",
    )
    steps: bool = switch(
        "--steps",
        rare=True,
        fronts=SAID_BY_PLAN,
        help="each user sends them in order, then anew",
    )
    data: str | None = option(
        "--data",
        reader=readers.FILE,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="rows for {{row.NAME}}: CSV with a header, JSON lines",
    )
    verbatim: bool = switch(
        "--verbatim",
        rare=True,
        help="send {{…}} as it stands: fill nothing",
    )
    expect_status: Spans | None = option(
        "--expect-status",
        reader=readers.STATUSES,
        help="what counts as ok, e.g. 2xx,404 [200-399]",
    )
    expect_body: tuple[BodyCheck, ...] = many(
        "--expect-body",
        reader=readers.BODY_CHECK,
        rare=True,
        help="what the body must contain (repeatable)",
    )
    expect_json: tuple[JsonCheck, ...] = many(
        "--expect-json",
        reader=readers.JSON_CHECK,
        rare=True,
        help="what it must say, e.g. '$.status=ok' (repeatable)",
    )
    captures: tuple[Capture, ...] = many(
        "--capture",
        reader=readers.CAPTURE,
        rare=True,
        fronts=SAID_BY_PLAN,
        help="keep for {{NAME}}: json:$.id, header:X, regex:/(…)/",
    )
    compressed: bool = switch(
        "--compressed",
        rare=True,
        help="ask for gzip or deflate",
    )
    timeout_ns: int = option(
        "--timeout",
        reader=readers.SOME_DURATION,
        default="30s",
        help="later than that is an error [30s]",
    )


@dataclass(frozen=True, slots=True)
class OnceOptions:
    """Whether one request is sent in the place of a load."""

    group: ClassVar[str] = REQUEST

    once: bool = switch(
        "--once",
        fronts=Front(0),
        help="send one, say what came back (-v: both sides)",
    )
    verbose: bool = switch(
        *("-v", "--verbose"), rare=True, fronts=Front(0), help="with --once: print both sides"
    )
