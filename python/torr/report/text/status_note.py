"""What is said of a target that answers everything with one status that counts as failed."""

from __future__ import annotations

from torr.messages.say import Text, say


def note(status: str, *, is_of_http: bool) -> Text:
    """Return the note that is printed while the run goes on.

    Messages of WebSocket and calls of gRPC have a status of HTTP only if the server does not speak
    their protocol, or refuses them.
    """
    if not is_of_http:
        return say(
            "note: every response so far has the HTTP status {status}, which counts as failed; the"
            " run goes on. `torr run --once` shows one response. Check the URL, and that the server"
            " speaks gRPC or WebSocket there",
            status=status,
        )
    return say(
        "note: every response so far has status {status}, which counts as failed; the run goes on."
        " `torr run --once` shows one response. If status {status} is correct here, add"
        " --expect-status {status}",
        status=status,
    )
