"""The JSON of messages: one, or for a stream of requests a list or one on each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.grpc.types import takes_list
from torr.messages.say import say
from torr.model.json_input import parse_json_to_send
from torr.model.template import is_template

if TYPE_CHECKING:
    from torr.grpc.schema import Method

Json = Any
"""A JSON value."""


def read_messages(method: Method, text: bytes) -> list[Json]:
    """Return the JSON of each message: a list, or one on each line, for a stream of requests."""
    try:
        value = parse_json_to_send(text or b"{}")
    except ValueError as error:
        lines = text.decode("utf-8", "replace").removesuffix("\n").split("\n")
        if not method.request_stream or len(lines) <= 1:
            raise _not_json(str(error), text) from error
        return _of_lines(lines)
    if not method.request_stream:
        is_one = not isinstance(value, list) or takes_list(method.request)
        if not is_one:
            raise UsageError(
                say("{method} takes one message, and the body has a list", method=method.name),
                say("write one JSON object"),
            )
        return [value]
    if value == []:
        raise UsageError(say("the body has no message"), say("write a list of JSON objects"))
    return value if isinstance(value, list) else [value]


def _of_lines(lines: list[str]) -> list[Json]:
    values = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                values.append(parse_json_to_send(line))
            except ValueError as error:
                raise _not_json(f"line {number}: {error}", line.encode()) from error
    return values


def _not_json(reason: str, text: bytes) -> UsageError:
    is_unquoted = is_template(text.decode("utf-8", "replace"))
    quoted = say('write templates in quotes, also for numbers: {{"id": "{{{{seq}}}}"}}')
    return UsageError(
        say("the body is not the JSON of a message: {reason}", reason=reason),
        quoted if is_unquoted else None,
    )
