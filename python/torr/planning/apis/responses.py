"""Responses of OpenAI and compatible servers.

Later turns send the earlier messages as input items, and no `previous_response_id`: then the
server need not store responses, and requests to all servers are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.planning.apis.api import CONVERSATION, GENERATION, ModelApi
from torr.planning.apis.body import conversation, joined, listed
from torr.planning.apis.images import image_columns
from torr.planning.apis.servers import limits
from torr.planning.apis.tools import tools_member
from torr.planning.apis.trace_parts import listed as listed_rows

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body
    from torr.sources.traces.row import TraceMessage


def _write(number: int, options: StreamOptions) -> Body:
    after: dict[str, Any] = {
        "stream": True,
        "store": False,
        **limits("responses", "max_output_tokens", options),
    }
    if options.user is not None:
        after["user"] = options.user
    messages, captures = conversation(number, options)
    middle = listed("input", messages, _images(options), "input_text")
    tools = tools_member(options)
    return joined({"model": options.model}, middle, after, tools), captures


def _images(options: StreamOptions) -> list[str]:
    source = '{{"type":"input_image","image_url":"data:image/png;base64,{}"}}'
    return [source.format(f"{{{{row.{name}}}}}") for name in image_columns(options.images)]


def _items(message: TraceMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        call_id = message.call_id or ""
        return [{"type": "function_call_output", "call_id": call_id, "output": message.text}]
    calls = [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in message.calls
    ]
    texts = [{"role": message.role, "content": message.text}]
    return [*(texts if message.text or not calls else []), *calls]


API = ModelApi(
    "responses",
    "/v1/responses",
    "responses",
    _write,
    takes=CONVERSATION | GENERATION | {"tools", "images"},
    has_messages=True,
    trace=listed_rows(_items),
)
