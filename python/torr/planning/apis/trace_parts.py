"""How the rows of a trace become parts of a body: for APIs of messages, and of one text.

A body is written for the template of one prompt, which the template of a row then replaces.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.sources.traces.row import Messages, TraceMessage

_PROMPT = "{{row.prompt_1 | json}}"
_ANSWER = "{{answer | json}}"
MESSAGES = "messages"
"""The column of what a row has in place of a prompt."""


@dataclass(frozen=True, slots=True)
class TraceParts:
    """The parts of an API's body that belong to a row.

    `prompt` is the template of a single prompt and `row` that of a row; `turn` is what a session
    remembers of a request and its response. `write` writes the messages of a row, as a cell for
    each of `columns`.
    """

    prompt: str
    row: str
    turn: str
    write: Callable[[Messages], tuple[str, ...]]
    columns: tuple[str, ...] = (MESSAGES,)


def listed(items: Callable[[TraceMessage], list[dict[str, Any]]]) -> TraceParts:
    """Return the parts of an API that takes a list, in which a message is some items."""
    return TraceParts(
        LISTED_PROMPT,
        LISTED_ROW,
        LISTED_TURN,
        lambda messages: (members(item for message in messages for item in items(message)),),
    )


def members(items: Any) -> str:  # noqa: ANN401
    """Return the members of a JSON array."""
    return ",".join(json.dumps(item, separators=(",", ":")) for item in items)


def _joined(messages: Messages) -> tuple[str, ...]:
    lines = [
        line
        for message in messages
        for line in (message.text, *(f"{call.name}({call.arguments})" for call in message.calls))
        if line or not message.calls
    ]
    return (json.dumps("\n".join(lines))[1:-1],)


LISTED_PROMPT = f'[{{"role":"user","content":"{_PROMPT}"}}]'
LISTED_ROW = "[{{history}}{{row.messages}}]"
LISTED_TURN = f'{{{{row.messages}}}},{{"role":"assistant","content":"{_ANSWER}"}},'

IDS = TraceParts(
    "[{{row.prompt_1}}]",
    "[{{row.messages}}]",
    "",
    lambda messages: tuple(message.text for message in messages),
)
"""For APIs that take token ids: a row is one text of ids."""

JOINED = TraceParts(
    f'"{_PROMPT}"',
    '"{{history}}{{row.messages}}"',
    f"{{{{row.messages}}}}\\n{_ANSWER}\\n",
    _joined,
)
"""For APIs that take one text, in which calls of tools are texts."""
