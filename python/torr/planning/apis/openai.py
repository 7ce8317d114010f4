"""Chat completions of OpenAI and compatible servers."""

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
    # OpenAI has renamed the member; servers of others know the older name.
    limit = "max_completion_tokens" if options.server is None else "max_tokens"
    after: dict[str, Any] = {
        "stream": True,
        "stream_options": {"include_usage": True},
        **limits("openai", limit, options),
    }
    if options.user is not None:
        after["user"] = options.user
    messages, captures = conversation(number, options)
    middle = listed("messages", messages, _images(options))
    tools = tools_member(options)
    return joined({"model": options.model}, middle, after, tools), captures


def _images(options: StreamOptions) -> list[str]:
    source = '{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{}"}}}}'
    return [source.format(f"{{{{row.{name}}}}}") for name in image_columns(options.images)]


def _items(message: TraceMessage) -> list[dict[str, Any]]:
    item: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.call_id is not None:
        item["tool_call_id"] = message.call_id
    if message.calls:
        item["content"] = message.text or None
        item["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return [item]


API = ModelApi(
    "openai",
    "/v1/chat/completions",
    "openai",
    _write,
    takes=CONVERSATION | GENERATION | {"tools", "images"},
    has_messages=True,
    trace=listed_rows(_items),
)
