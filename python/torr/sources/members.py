"""The members that say a request, in files of JSON lines and in plan files.

`body` is base64, as vegeta writes it; `text_body` and `json_body` are as they are. The texts of
EXTRA are those of the flags.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.model.check import BodyCheck, Capture, JsonCheck, parse_statuses
from torr.model.request import check_header, check_method
from torr.model.stream import DIALECTS, Stream
from torr.sources.entry import Entry
from torr.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torr.model.request import Header

BODIES = ("body", "text_body", "json_body")
CHECKS = ("expect_status", "expect_body", "expect_json", "capture")
EXTRA = ("name", "weight", "timeout", "stream", "idle_timeout", *CHECKS)
MEMBERS = ("method", "url", "header", *BODIES, *EXTRA)
MOST_WEIGHT = 2**32 - 1

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a file writes members: under which names, and how one looks that is missing or wrong."""

    names: Mapping[str, str]
    of_object: str
    url: str
    header: str

    def of(self, member: str) -> str:
        """What the file calls a member."""
        return self.names.get(member, member)


JSON_LINES = Spelling(
    names={},
    of_object="object",
    url='write {"method": "GET", "url": "/"}',
    header='write "header": {"X-User": ["ann"]}',
)


def check_names(given: Json, known: Sequence[str]) -> None:
    """Refuse what is no member, with the nearest that there is; raises UsageError."""
    for name in given:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
        require(name in known, f"there is no {name!r} here", hint)


def entry_of(path: Path, number: int, members: Json, spelling: Spelling = JSON_LINES) -> Entry:
    """The request that the members say; raises UsageError without file and line."""
    require("url" in members, "the member url is missing", spelling.url)
    given = [name for name in BODIES if members.get(name) is not None]
    said = " and ".join(map(spelling.of, given))
    require(len(given) <= 1, f"{said} are all given", "give one body")
    body = _body(given[0], members[given[0]], spelling) if given else None
    method = _text(members, "method") or ("GET" if body is None else "POST")
    check_method(method)
    timeout = _text(members, "timeout")
    statuses = _text(members, "expect_status")
    return Entry(
        path=path,
        line=number,
        url=_text(members, "url"),
        method=method,
        headers=_headers(members.get("header") or {}, spelling, is_json="json_body" in given),
        body=body,
        name=_text(members, "name"),
        weight=_weight(members.get("weight")),
        timeout_ns=parse_duration(timeout) if timeout else None,
        accept_statuses=parse_statuses(statuses) if statuses else None,
        expect_body=tuple(map(BodyCheck.parse, _texts(members, "expect_body"))),
        expect_json=tuple(map(JsonCheck.parse, _texts(members, "expect_json"))),
        captures=tuple(map(Capture.parse, _texts(members, "capture"))),
        stream=_stream(members),
        is_json="json_body" in given,
    )


def _stream(members: Json) -> Stream | None:
    dialect, idle = _text(members, "stream"), _text(members, "idle_timeout")
    if not dialect:
        require(not idle, "idle_timeout needs stream", 'add stream = "sse"')
        return None
    require(dialect in DIALECTS, f"{dialect!r} is no dialect", f"there is {', '.join(DIALECTS)}")
    found: Any = dialect
    return Stream(found, parse_duration(idle) if idle else None)


def _text(members: Json, name: str) -> str:
    found = members.get(name)
    require(found is None or isinstance(found, str), f"the member {name} is not a text")
    return found or ""


def _texts(members: Json, name: str) -> list[str]:
    """One text or a list of them."""
    found = members.get(name)
    texts = found if isinstance(found, list) else [] if found is None else [found]
    fits = all(isinstance(text, str) for text in texts)
    require(fits, f"the member {name} is not a text or a list of texts")
    return texts


def _weight(found: Any) -> int | None:  # noqa: ANN401 - any JSON value
    is_whole = isinstance(found, int) and not isinstance(found, bool)
    fits = found is None or (is_whole and 1 <= found <= MOST_WEIGHT)
    require(fits, f"the weight {found!r} is not a whole number from 1 on")
    weight: int | None = found
    return weight


def _headers(
    found: Any,  # noqa: ANN401 - any JSON value
    spelling: Spelling,
    *,
    is_json: bool,
) -> tuple[Header, ...]:
    hint, name = spelling.header, spelling.of("header")
    require(isinstance(found, dict), f"the member {name} is no {spelling.of_object}", hint)
    headers = []
    for name, values in found.items():
        for value in values if isinstance(values, list) else [values]:
            require(isinstance(value, str), f"the header {name!r} is not a text", hint)
            header = (name, value)
            check_header(header)
            headers.append(header)
    if is_json and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", "application/json"))
    return tuple(headers)


def _body(kind: str, found: Any, spelling: Spelling) -> bytes:  # noqa: ANN401 - any JSON value
    if kind == "json_body":
        return json.dumps(found, ensure_ascii=False).encode()
    require(isinstance(found, str), f"the member {spelling.of(kind)} is not a text")
    if kind == "text_body":
        text: str = found
        return text.encode()
    try:
        return base64.b64decode(found, validate=True)
    except ValueError as error:
        raise UsageError(
            f"the body is not base64: {error}", "write text_body or json_body for one as it is"
        ) from error
