"""Chat completions of OpenAI and compatible servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import require
from torr.messages.say import say
from torr.planning.apis.api import ModelApi
from torr.planning.apis.body import with_history

if TYPE_CHECKING:
    from torr.model.check import Capture
    from torr.options.stream import StreamOptions


def _write(number: int, options: StreamOptions) -> tuple[str, tuple[Capture, ...]]:
    require(options.model is not None, say("--chat openai needs --model"), "--model gpt-4o-mini")
    after: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    if options.max_tokens is not None:
        after["max_completion_tokens"] = options.max_tokens
    if options.user is not None:
        after["user"] = options.user
    return with_history({"model": options.model}, after, number, options)


API = ModelApi("openai", "/v1/chat/completions", "openai", _write)
