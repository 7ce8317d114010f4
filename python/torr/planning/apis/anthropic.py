"""Messages of Anthropic, whose API requires a number of tokens and a version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import require
from torr.messages.say import say
from torr.planning.apis.api import ModelApi
from torr.planning.apis.body import with_history

if TYPE_CHECKING:
    from torr.model.check import Capture
    from torr.model.request import Header
    from torr.options.stream import StreamOptions

_DEFAULT_TOKENS = 1024
_VERSION = "2023-06-01"


def _write(number: int, options: StreamOptions) -> tuple[str, tuple[Capture, ...]]:
    require(options.model is not None, say("--chat anthropic needs --model"), "--model claude-…")
    after: dict[str, Any] = {"max_tokens": options.max_tokens or _DEFAULT_TOKENS, "stream": True}
    if options.user is not None:
        after["metadata"] = {"user_id": options.user}
    return with_history({"model": options.model}, after, number, options)


def _key_header(key: str) -> Header:
    return "x-api-key", key


API = ModelApi(
    "anthropic",
    "/v1/messages",
    "anthropic",
    _write,
    headers=(("anthropic-version", _VERSION),),
    key_header=_key_header,
)
