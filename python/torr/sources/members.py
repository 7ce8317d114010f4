"""The members of a request, in files of JSON lines and in plan files.

`body` is base64, as vegeta writes it; `text_body` and `json_body` are not encoded. The values of
EXTRA are written as those of the flags.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.grpc.method_name import method_name
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.check import BodyCheck, Capture, JsonCheck, parse_statuses
from torr.model.request import check_header, check_method
from torr.model.stream import DIALECTS, Stream
from torr.sources.entry import Entry
from torr.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torr.model.json import JsonObject
    from torr.model.request import Header

BODIES = ("body", "text_body", "json_body")
CHECKS = ("expect_status", "expect_body", "expect_json", "capture")
EXTRA = ("name", "weight", "timeout", "stream", "idle_timeout", "grpc", *CHECKS)
MEMBERS = ("method", "url", "header", *BODIES, *EXTRA)
MOST_WEIGHT = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Spelling:
    """The names of members in a kind of file, and examples for messages about them."""

    names: Mapping[str, str]
    of_object: str
    url: str
    header: str

    def of(self, member: str) -> str:
        """Return the name of a member in the file."""
        return self.names.get(member, member)


JSON_LINES = Spelling(
    names={},
    of_object="object",
    url='write {"method": "GET", "url": "/"}',
    header='write "header": {"X-User": ["ann"]}',
)


def check_names(members: JsonObject, names: Sequence[str]) -> None:
    """Raise UsageError for an unknown member; the hint is the most similar name."""
    for name in members:
        if name not in names:
            hint = did_you_mean(name, names) or say("known names: {names}", names=", ".join(names))
            raise UsageError(say("there is no {name!r} here", name=name), hint)


def entry_of(
    path: Path, number: int, members: JsonObject, spelling: Spelling = JSON_LINES
) -> Entry:
    """Return the request with these members; raise UsageError without file and line."""
    called = _text(members, "grpc")
    if "url" not in members and not called:
        raise UsageError(say("the member url is missing"), spelling.url)
    if called and members.get("method"):
        raise UsageError(say("method and grpc are both given"), say("leave method out"))
    bodies = [name for name in BODIES if members.get(name) is not None]
    names = " and ".join(map(spelling.of, bodies))
    if len(bodies) > 1:
        raise UsageError(say("{names} are all given", names=names), say("give one body"))
    body = _body(bodies[0], members[bodies[0]], spelling) if bodies else None
    written_method = _text(members, "method")
    method = written_method or ("GET" if body is None else "POST")
    check_method(method)
    timeout = _text(members, "timeout")
    statuses = _text(members, "expect_status")
    return Entry(
        path=path,
        line=number,
        url=_text(members, "url") or "/" * bool(called),
        method=method,
        has_method=bool(written_method),
        headers=_headers(
            members.get("header") or {}, spelling, is_json="json_body" in bodies and not called
        ),
        body=body,
        name=_text(members, "name"),
        weight=_weight(members.get("weight")),
        timeout_ns=parse_duration(timeout) if timeout else None,
        accept_statuses=parse_statuses(statuses) if statuses else None,
        expect_body=tuple(map(BodyCheck.parse, _texts(members, "expect_body"))),
        expect_json=tuple(map(JsonCheck.parse, _texts(members, "expect_json"))),
        captures=tuple(map(Capture.parse, _texts(members, "capture"))),
        stream=_stream(members),
        is_json="json_body" in bodies,
        grpc=method_name(called) if called else None,
    )


def _stream(members: JsonObject) -> Stream | None:
    dialect, idle = _text(members, "stream"), _text(members, "idle_timeout")
    if not dialect:
        if idle:
            raise UsageError(say("idle_timeout needs stream"), say('add stream = "sse"'))
        return None
    if dialect not in DIALECTS:
        raise UsageError(
            say("{dialect!r} is not a dialect", dialect=dialect),
            say("choose one of {dialects}", dialects=", ".join(DIALECTS)),
        )
    checked: Any = dialect
    return Stream(checked, parse_duration(idle) if idle else None)


def _text(members: JsonObject, name: str) -> str:
    value = members.get(name)
    if not (value is None or isinstance(value, str)):
        raise UsageError(say("the member {name} is not a text", name=name))
    return value or ""


def _texts(members: JsonObject, name: str) -> list[str]:
    """Return one text or a list of them as a list."""
    value = members.get(name)
    texts = value if isinstance(value, list) else [] if value is None else [value]
    fits = all(isinstance(text, str) for text in texts)
    if not fits:
        raise UsageError(say("the member {name} is not a text or a list of texts", name=name))
    return texts


def _weight(value: Any) -> int | None:  # noqa: ANN401 - any JSON value
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    fits = value is None or (is_whole and 1 <= value <= MOST_WEIGHT)
    if not fits:
        raise UsageError(
            say("the weight {value!r} is not a whole number of at least 1", value=value)
        )
    weight: int | None = value
    return weight


def _headers(
    fields: Any,  # noqa: ANN401 - any JSON value
    spelling: Spelling,
    *,
    is_json: bool,
) -> tuple[Header, ...]:
    hint, name = spelling.header, spelling.of("header")
    if not isinstance(fields, dict):
        raise UsageError(
            say(
                "the member {name} is not of type {of_object}",
                name=name,
                of_object=spelling.of_object,
            ),
            hint,
        )
    headers = []
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            if not isinstance(value, str):
                raise UsageError(say("the header {name!r} is not a text", name=name), hint)
            header = (name, value)
            check_header(header)
            headers.append(header)
    if is_json and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", "application/json"))
    return tuple(headers)


def _body(kind: str, value: Any, spelling: Spelling) -> bytes:  # noqa: ANN401 - any JSON value
    if kind == "json_body":
        return json.dumps(value, ensure_ascii=False).encode()
    if not isinstance(value, str):
        raise UsageError(say("the member {of} is not a text", of=spelling.of(kind)))
    if kind == "text_body":
        text: str = value
        return text.encode()
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise UsageError(
            say("the body is not base64: {error}", error=error),
            say("use text_body or json_body for a body as it is"),
        ) from error
