"""A row of a trace: one recorded request, with its place in its session.

`Draft` is what a format reads from one line or object, before rows are ordered and linked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from torr.messages.say import join, say

NOT_KNOWN = -1
"""The number of followers of a row, where a stream cannot know it."""


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool by a model; `arguments` are a text, of JSON as a rule."""

    id: str
    name: str
    arguments: str


class TraceMessage(msgspec.Struct, frozen=True, gc=False):
    """A message of a recorded prompt; one of a tool answers the call `call_id`."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None

    @property
    def size(self) -> int:
        """The number of its characters, nearly."""
        return len(self.text) + sum(len(call.arguments) for call in self.calls)


Messages = tuple[TraceMessage, ...]


class TraceRow(msgspec.Struct, frozen=True, gc=False):
    """A recorded request; times are in nanoseconds, lengths in tokens.

    - `number`: its place among the rows that are read, from 0.
    - `at_ns`: its start, from that of the first row: of the trace, or of its session where the
      format's clock is that of sessions; None where the trace has no times.
    - `session`, `turn`: the same number for all rows of a session; 1, 2, … within it.
    - `is_branch`: whether a sub-agent sent it, whose turns are counted apart from those of others.
    - `after`: numbers of rows that have to end before this one starts; each is smaller.
    - `followers`: how many later rows name this one in `after`, or NOT_KNOWN.
    - `pause_ns`: from the end of the last of `after` to its start, 0 where it is not recorded. For
      users who play sessions, a row without `after` has that from its session's first row.
    - `hash_ids`: one for each block of `block_tokens`, empty where the trace has none. The last
      ones may be missing: their tokens are shared with no other row.
    - `messages`: where the trace has texts.
    - `line`: where it begins in its file, 0 where that is not known.
    """

    number: int
    at_ns: int | None
    session: int
    turn: int
    after: tuple[int, ...]
    followers: int
    pause_ns: int
    input_tokens: int | None
    output_tokens: int | None
    hash_ids: tuple[int, ...] = ()
    block_tokens: int = 0
    messages: Messages = ()
    model: str | None = None
    images: int = 0
    is_branch: bool = False
    line: int = 0


class Draft(msgspec.Struct, gc=False):
    """What one line or object of a file says; `session` is None for a request of its own."""

    line: int
    at_ns: int
    input_tokens: int | None
    output_tokens: int | None
    took_ns: int | None = None
    session: int | None = None
    parent: int | None = None
    turn: int = 0
    hash_ids: tuple[int, ...] = ()
    block_tokens: int = 0
    messages: Messages = ()
    model: str | None = None
    images: int = 0

    @property
    def end_ns(self) -> int | None:
        """When the request ended, where that is recorded."""
        return None if self.took_ns is None else self.at_ns + self.took_ns

    def row(
        self, number: int, session: int, turn: int, after: tuple[int, ...], pause_ns: int
    ) -> TraceRow:
        """Return the row; only a request without a session is known to have no followers."""
        return TraceRow(
            number,
            self.at_ns,
            session,
            turn,
            after,
            0 if self.session is None else NOT_KNOWN,
            pause_ns,
            self.input_tokens,
            self.output_tokens,
            self.hash_ids,
            self.block_tokens,
            self.messages,
            self.model,
            self.images,
            line=self.line,
        )


LEFT_OUT = {
    "no_tokens": say("requests without a token of input or output, such as those that failed"),
    "no_prompt": say("conversations without a text of a user"),
}
"""Why something of a trace is left out."""


@dataclass
class TraceCounts:
    """What reading a trace has left out, by a key of LEFT_OUT; it grows while rows are read."""

    left_out: Counter[str] = field(default_factory=Counter)
    without_parent: int = 0
    """Rows whose predecessor is not in the trace, or too far back."""

    @property
    def text(self) -> str:
        """What was left out, for people: `conversations that are too long: 3`, or `nothing`."""
        parts = [
            say("{what}: {n:,}", what=LEFT_OUT[why], n=n)
            for why, n in sorted(self.left_out.items())
        ]
        return join(parts) if parts else say("nothing")
