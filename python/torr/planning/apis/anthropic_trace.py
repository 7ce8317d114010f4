"""Rows of a trace as messages of Anthropic.

Roles are `user` and `assistant` alone: texts of the system are a member of the body, and answers of
tools are parts of a message of the user, those of one turn in one message.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from torr.planning.apis.trace_parts import (
    LISTED_PROMPT,
    LISTED_ROW,
    LISTED_TURN,
    MESSAGES,
    TraceParts,
    members,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.sources.traces.row import Messages, ToolCall, TraceMessage

_OF_SYSTEM = ("system", "developer")


def _write(messages: Messages) -> tuple[str, ...]:
    system = [_text(message) for message in messages if message.role in _OF_SYSTEM and message.text]
    # Its API refuses a message without content.
    others = [m for m in messages if m.role not in _OF_SYSTEM and (m.text or m.calls or m.call_id)]
    return members(_items(others)), f',"system":[{members(system)}]' if system else ""


def _items(messages: list[TraceMessage]) -> Iterator[dict[str, Any]]:
    for is_of_tools, group in groupby(messages, lambda message: message.role == "tool"):
        if is_of_tools:
            yield {"role": "user", "content": [_result(message) for message in group]}
        else:
            yield from map(_item, group)


def _item(message: TraceMessage) -> dict[str, Any]:
    role = "assistant" if message.role == "assistant" else "user"
    if not message.calls:
        return {"role": role, "content": message.text}
    texts = [_text(message)] if message.text else []
    return {"role": role, "content": [*texts, *map(_use, message.calls)]}


def _text(message: TraceMessage) -> dict[str, Any]:
    return {"type": "text", "text": message.text}


def _use(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}


def _input(arguments: str) -> dict[str, Any]:
    """Return the arguments as an object, which they have to be."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    return value if isinstance(value, dict) else {"arguments": arguments}


def _result(message: TraceMessage) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": message.call_id or "", "content": message.text}


TRACE = TraceParts(
    LISTED_PROMPT,
    f"{LISTED_ROW}{{{{row.system}}}}",
    LISTED_TURN,
    _write,
    (MESSAGES, "system"),
)
