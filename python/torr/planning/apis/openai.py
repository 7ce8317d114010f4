"""Chat completions of OpenAI and compatible servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.planning.apis.api import CONVERSATION, GENERATION, ModelApi
from torr.planning.apis.body import conversation, joined, listed
from torr.planning.apis.images import image_columns
from torr.planning.apis.servers import limits
from torr.planning.apis.tools import tools_member
from torr.planning.apis.trace_parts import LISTED

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body


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


API = ModelApi(
    "openai",
    "/v1/chat/completions",
    "openai",
    _write,
    takes=CONVERSATION | GENERATION | {"tools", "images"},
    has_messages=True,
    trace=LISTED,
)
