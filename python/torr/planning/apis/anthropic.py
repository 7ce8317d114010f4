"""Messages of Anthropic, whose API requires a number of tokens and a version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.planning.apis.anthropic_trace import TRACE
from torr.planning.apis.api import CONVERSATION, GENERATION, ModelApi
from torr.planning.apis.body import conversation, joined, listed
from torr.planning.apis.images import image_columns
from torr.planning.apis.servers import limits
from torr.planning.apis.tools import tools_member

if TYPE_CHECKING:
    from torr.model.request import Header
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body

_DEFAULT_TOKENS = 1024
_VERSION = "2023-06-01"


def _write(number: int, options: StreamOptions) -> Body:
    after: dict[str, Any] = {
        "max_tokens": _DEFAULT_TOKENS,
        **limits("anthropic", "max_tokens", options),
        "stream": True,
    }
    if options.user is not None:
        after["metadata"] = {"user_id": options.user}
    messages, captures = conversation(number, options)
    middle = listed("messages", messages, _images(options))
    tools = tools_member(options)
    return joined({"model": options.model}, middle, after, tools), captures


def _images(options: StreamOptions) -> list[str]:
    source = '{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}'
    return [source.format(f"{{{{row.{name}}}}}") for name in image_columns(options.images)]


def _key_header(key: str) -> Header:
    return "x-api-key", key


API = ModelApi(
    "anthropic",
    "/v1/messages",
    "anthropic",
    _write,
    takes=CONVERSATION | GENERATION | {"tools", "images"},
    has_messages=True,
    headers=(("anthropic-version", _VERSION),),
    key_header=_key_header,
    trace=TRACE,
)
