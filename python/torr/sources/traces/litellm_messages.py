"""The messages of a LiteLLM log, with calls of tools and what the tools answered.

LiteLLM logs what its clients sent: messages of OpenAI's chats, messages of Anthropic, whose parts
have the calls and the answers of tools, or items of OpenAI's responses.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.sources.traces.row import Messages, ToolCall, TraceMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_LOGGED = ("", "redacted-by-litellm")
"""The texts of messages whose content LiteLLM was told not to log."""
_IMAGES = ("image_url", "image", "input_image")


def read_messages(value: object) -> tuple[Messages, int]:
    """Return the messages and their number of images; nothing where messages were not logged."""
    if isinstance(value, str):
        value = _decoded(value)
    given = _objects(value)
    messages = tuple(message for each in given for message in _messages(each))
    if all(each.text in _NOT_LOGGED and not each.calls for each in messages):
        messages = ()
    return messages, sum(_images(each.get("content")) for each in given)


def _decoded(text: str) -> object:
    """Return the messages of a text, which is JSON or one prompt."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, str) and value:
        return [{"role": "user", "content": value}]
    return value


def _messages(given: dict[str, Any]) -> Iterator[TraceMessage]:
    """Yield a logged message, with each answer of a tool as a message of its own."""
    if given.get("type") == "function_call":
        yield TraceMessage("assistant", "", (_call(given.get("call_id"), given),))
    elif given.get("type") == "function_call_output":
        yield _answer(given.get("call_id"), given.get("output"))
    elif given.get("role") == "tool":
        yield _answer(given.get("tool_call_id"), given.get("content"))
    else:
        parts = _objects(given.get("content"))
        answers = [part for part in parts if part.get("type") == "tool_result"]
        yield from (_answer(part.get("tool_use_id"), part.get("content")) for part in answers)
        text, calls = _text(given.get("content")), tuple(_calls(given, parts))
        if text or calls or not answers:
            yield TraceMessage(_sendable(str(given.get("role") or "user")), text, calls)


def _answer(call_id: object, content: object) -> TraceMessage:
    return TraceMessage("tool", _text(content), (), _name(call_id) or None)


def _calls(given: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[ToolCall]:
    for each in _objects(given.get("tool_calls")):
        function = each.get("function")
        yield _call(each.get("id"), function if isinstance(function, dict) else {})
    for part in parts:
        if part.get("type") == "tool_use":
            yield _call(part.get("id"), {**part, "arguments": part.get("input")})


def _call(call_id: object, function: dict[str, Any]) -> ToolCall:
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return ToolCall(_name(call_id), _name(function.get("name")), _sendable(arguments))


def _text(content: object) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return _sendable(content)
    texts = [part["text"] for part in _objects(content) if isinstance(part.get("text"), str)]
    return _sendable("\n".join(texts))


def _images(content: object) -> int:
    return sum(part.get("type") in _IMAGES for part in _objects(content))


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _name(value: object) -> str:
    return _sendable(value) if isinstance(value, str) else ""


def _sendable(text: str) -> str:
    """Return the text with `?` for halves of characters, which UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()
