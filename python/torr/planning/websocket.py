"""Messages of WebSocket: what a request becomes that goes to a ws:// or wss:// URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.options.definition import refuse, require_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.check import Spans
    from torr.model.request import Request
    from torr.options.measure import MeasureOptions

SWITCHED: Spans = ((101, 101),)
"""The status of every answered message: that of the handshake of its connection."""


def check_websocket(requests: Sequence[Request], options: MeasureOptions) -> None:
    """Refuse options that messages do not have, and those that only messages have."""
    messages = [request for request in requests if request.is_message]
    if not messages:
        what, hint = say("a ws:// or wss:// URL"), say("leave it out for http:// and https:// URLs")
        require_for(options.connection, "matching", "binary", what=what, hint=hint)
        return
    what = say("a WebSocket URL")
    refuse(
        options.request,
        *("method", "expect_status", "compressed"),
        what=what,
        hint=say("leave it out: a message has no method, status or encoding"),
    )
    refuse(
        options.stream,
        *("chat", "stream"),
        what=what,
        hint=say("streams and chats are for http:// and https:// URLs"),
    )
    is_checked = any(x.expect_body or x.expect_json or x.captures for x in messages)
    require(
        options.connection.matching.kind != "none" or not is_checked,
        say("--match none: messages have no answers that could be checked or captured"),
        say("leave out the checks and captures, or match answers by order or by id"),
    )
    require(
        options.connection.streams == 1 or len(messages) == len(requests),
        say("--streams: some requests are messages of WebSocket, and others are not"),
        say("measure them in two runs"),
    )
