"""Requests in vegeta's JSON format: one object a line.

    {"method": "POST", "url": "/items", "header": {"X-User": ["ann"]}, "body": "eyJuIjogMX0="}

torr reads more members than vegeta: see `members`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.json_input import parse_json_to_send
from torr.sources.entry import Entry, errors_at
from torr.sources.members import MEMBERS, check_names, entry_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.model.json import JsonObject


def read(path: Path, text: str) -> Iterator[Entry]:
    """Yield every request of the text; raise FileError."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            with errors_at(path, number):
                members = _object(line)
                check_names(members, MEMBERS)
                yield entry_of(path, number, members)


def _object(line: str) -> JsonObject:
    try:
        value = parse_json_to_send(line)
    except ValueError as error:
        raise UsageError(str(error), say("write one JSON object a line")) from error
    if not isinstance(value, dict):
        raise UsageError(say("not a JSON object"), say("write one JSON object a line"))
    return value
