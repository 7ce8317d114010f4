"""Completions of OpenAI and compatible servers, which continue a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.planning.apis.api import CONVERSATION, GENERATION, ModelApi
from torr.planning.apis.body import conversation, ids, joined
from torr.planning.apis.servers import limits
from torr.planning.apis.trace_parts import JOINED

if TYPE_CHECKING:
    from torr.options.stream import StreamOptions
    from torr.planning.apis.api import Body


def _write(number: int, options: StreamOptions) -> Body:
    after: dict[str, Any] = {
        "stream": True,
        "stream_options": {"include_usage": True},
        **limits("completions", "max_tokens", options),
    }
    if options.user is not None:
        after["user"] = options.user
    if options.token_ids:
        return joined({"model": options.model}, f'"prompt":{ids()}', after), ()
    messages, captures = conversation(number, options)
    # The API has no messages: earlier texts stand before the prompt.
    text = "\\n".join(text for _, text in messages)
    return joined({"model": options.model}, f'"prompt":"{text}"', after), captures


API = ModelApi(
    "completions",
    "/v1/completions",
    "openai",
    _write,
    takes=CONVERSATION | GENERATION | {"token_ids"},
    trace=JOINED,
)
