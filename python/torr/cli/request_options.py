"""The flags that say what is asked, and what a right answer is; the same everywhere."""

from __future__ import annotations

from torr.cli.options import REQUEST, flag, together
from torr.options import readers

request = together(
    flag(
        "-m",
        "--method",
        type=readers.METHOD,
        group=REQUEST,
        help="method [GET; POST with a body]",
    ),
    flag(
        "-H",
        "--header",
        "headers",
        type=readers.HEADER,
        multiple=True,
        group=REQUEST,
        help="a header (repeatable)",
    ),
    flag("-b", "--body", type=readers.CONTENT, group=REQUEST, help="the body as it is"),
    flag("--json-body", type=readers.CONTENT, group=REQUEST, help="a JSON body, with content-type"),
    flag("--basic-auth", type=readers.CREDENTIALS, group=REQUEST, rare=True, help="as this user"),
    flag(
        "--requests-file",
        type=readers.FILE,
        group=REQUEST,
        help="send these: vegeta's http or JSON, HAR",
    ),
    flag(
        "--weights",
        type=readers.WEIGHTS,
        group=REQUEST,
        rare=True,
        help="how often each request, e.g. 8,1,1 [in turn]",
    ),
    flag(
        "--steps",
        is_flag=True,
        group=REQUEST,
        rare=True,
        help="each user sends them in order, then anew",
    ),
    flag(
        "--data",
        type=readers.FILE,
        group=REQUEST,
        rare=True,
        help="rows for {{row.NAME}}: CSV with a header, JSON lines",
    ),
    flag(
        "--verbatim",
        is_flag=True,
        group=REQUEST,
        rare=True,
        help="send {{…}} as it stands: fill nothing",
    ),
    flag(
        "--expect-status",
        type=readers.STATUSES,
        group=REQUEST,
        help="what counts as ok, e.g. 2xx,404 [200-399]",
    ),
    flag(
        "--expect-body",
        type=readers.BODY_CHECK,
        multiple=True,
        group=REQUEST,
        rare=True,
        help="what the body must contain (repeatable)",
    ),
    flag(
        "--expect-json",
        type=readers.JSON_CHECK,
        multiple=True,
        group=REQUEST,
        rare=True,
        help="what it must say, e.g. '$.status=ok' (repeatable)",
    ),
    flag(
        "--capture",
        type=readers.CAPTURE,
        multiple=True,
        group=REQUEST,
        rare=True,
        help="keep for {{NAME}}: json:$.id, header:X, regex:/(…)/",
    ),
    flag(
        "--compressed",
        is_flag=True,
        group=REQUEST,
        rare=True,
        help="ask for gzip or deflate",
    ),
    flag(
        "--timeout",
        type=readers.SOME_DURATION,
        default="30s",
        group=REQUEST,
        help="later than that is an error [30s]",
    ),
)
