"""Chat messages of Dify, which keeps conversations itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.check import Capture
from torr.model.json_input import parse_json_to_send
from torr.planning.apis.api import CONVERSATION, ModelApi
from torr.planning.apis.body import joined, prompt

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body


def _write(number: int, options: StreamOptions) -> Body:
    before = {"inputs": _inputs(options.inputs)}
    after = {"response_mode": "streaming", "user": options.user or "torr"}
    if number > 1:
        after["conversation_id"] = "{{conversation | json}}"
    has_later_turns = number == 1 < options.turns
    captures = (Capture("conversation", "conversation", ""),) if has_later_turns else ()
    return joined(before, f'"query":"{prompt(number, options)}"', after), captures


def _inputs(text: bytes | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = parse_json_to_send(text)
    except ValueError as error:
        raise UsageError(say("--inputs: {error}", error=error)) from error
    require(
        isinstance(value, dict), say("--inputs: not a JSON object"), """--inputs '{"dept": "IT"}'"""
    )
    members: dict[str, Any] = value
    return members


API = ModelApi("dify", "/v1/chat-messages", "dify", _write, takes=CONVERSATION | {"inputs"})
