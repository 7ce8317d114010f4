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
    require(
        options.connection.streams == 1 or len(messages) == len(requests),
        say("--streams: some requests are messages of WebSocket, and others are not"),
        say("measure them in two runs"),
    )
