"""What is said of a target that answers everything with one status that counts as failed."""

from __future__ import annotations

from torr.messages.say import Text, say


def note(status: str) -> Text:
    """Return the note that is printed while the run goes on."""
    return say(
        "note: every response so far has status {status}, which counts as failed; the run goes on."
        " `torr run --once` shows one response. If status {status} is correct here, add"
        " --expect-status {status}",
        status=status,
    )
