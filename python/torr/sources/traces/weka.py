"""Weka's traces of agents: a JSON file for each session, or JSON lines of sessions.

A request waits for those of its agent that had ended when it started: as a rule, for the one before
it. Sub-agents have requests of their own: they start after the request before them and run beside
one another, and the next request of their parent waits for the last ones of all of them, except for
those that were launched without waiting. The rows of a session are in the order of their times,
which begin with the session. Each agent counts its own turns.

The ids of blocks are those of one session, unless their scope is global: they are made different
between sessions. The last block may have no id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from torr.model.outside_file import MOST_BYTES
from torr.sources.times import nearest_ns
from torr.sources.traces.mooncake import Tokens  # noqa: TC001 - msgspec needs it
from torr.sources.traces.row import TraceCounts, TraceRow
from torr.sources.traces.sessions import MOST_OVERLAPPING, Overlapping, pause_after
from torr.sources.traces.trace_format import ReadOptions, TraceFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.sources.traces.source import TraceSource

_ID_BITS = 40
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
# Sub-agents that their parent does not wait for.
_NOT_AWAITED = "async_launched"
# Times are rounded: a request that ended at most so long after the start of another was before it.
_ROUNDING_NS = 100_000_000
_MOST_S = 1e10
_EVER = 1 << 63
_Seconds = Annotated[float, Meta(ge=0, le=_MOST_S)]


class _Entry(msgspec.Struct):
    """A request, or a sub-agent with the requests that it made.

    The ids stay as text until their row is needed: they occupy most of a file.
    """

    type: Literal["n", "s", "subagent"]
    t: _Seconds | None = None
    model: str | None = None
    input_tokens: Tokens = msgspec.field(default=0, name="in")
    output_tokens: Tokens = msgspec.field(default=0, name="out")
    hash_ids: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"[]"))
    api_time: _Seconds | None = None
    think_time: _Seconds | None = None
    status: str | None = None
    requests: list[_Entry] = []


class _Session(msgspec.Struct):
    requests: list[_Entry]
    block_size: Annotated[int, Meta(ge=1, le=1 << 30)] = 64
    hash_id_scope: Literal["local", "global"] = "local"


_SESSIONS = msgspec.json.Decoder(_Session)
_IDS = msgspec.json.Decoder(list[Annotated[int, Meta(ge=0, lt=1 << _ID_BITS)]])


@dataclass(slots=True, eq=False)
class _Node:
    """A request of a session: what it waits for, its time in the session, its turn of its agent.

    `is_beside_others` says that requests of the session run beside one another.
    """

    entry: _Entry
    after: tuple[_Node, ...]
    at_ns: int
    turn: int
    is_branch: bool
    has_time: bool
    is_beside_others: bool = False
    number: int = 0
    followers: int = 0

    @property
    def end_ns(self) -> int | None:
        took = self.entry.api_time
        return None if took is None else self.at_ns + nearest_ns(took)

    @property
    def pause_ns(self) -> int:
        """The time to think; where it is not recorded, what the times leave for it.

        Traces record it from the end of the request before in the whole session, which may be
        another agent's. So where requests run beside one another the times count, if all are known.
        """
        if not self.after:
            return 0
        ends = [node.end_ns for node in self.after]
        have_times = all(node.has_time for node in (self, *self.after))
        are_known = self.is_beside_others and have_times and None not in ends
        if self.entry.think_time is not None and not are_known:
            return nearest_ns(self.entry.think_time)
        return pause_after(self.at_ns, ends)


def read(source: TraceSource, options: ReadOptions, counts: TraceCounts) -> Iterator[TraceRow]:
    """Yield the rows of each session; raise FileError."""
    return read_sessions(iter([source]), options, counts)


def read_sessions(
    sources: Iterator[TraceSource], options: ReadOptions, counts: TraceCounts
) -> Iterator[TraceRow]:
    """Yield the rows of the sessions of several files, one after the other; raise FileError."""
    number = 0
    for session_number, (source, line, session) in enumerate(_sessions(sources)):
        nodes = _in_order(_nodes(session, counts), number)
        scope = _Scope(session_number + 1 if session.hash_id_scope == "local" else 0)
        block_tokens = options.block_tokens or session.block_size
        for node in nodes:
            ids = source.decode(_IDS, bytes(node.entry.hash_ids), line)
            yield TraceRow(
                number=node.number,
                at_ns=node.at_ns,
                session=session_number,
                turn=node.turn,
                is_branch=node.is_branch,
                after=tuple(sorted(before.number for before in node.after)),
                followers=node.followers,
                pause_ns=node.pause_ns,
                input_tokens=node.entry.input_tokens,
                output_tokens=node.entry.output_tokens,
                hash_ids=tuple(map(scope.__getitem__, ids)),
                block_tokens=block_tokens,
                model=node.entry.model,
                line=line,
            )
        number += len(nodes)


class _Scope(dict[int, int]):
    """The ids of a session as those of the trace, each stored once."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._offset = number << _ID_BITS

    def __missing__(self, own: int) -> int:
        self[own] = own + self._offset
        return self[own]


def _sessions(sources: Iterator[TraceSource]) -> Iterator[tuple[TraceSource, int, _Session]]:
    for source in sources:
        if source.path.name.endswith(_LINES):
            for line, content in source.lines():
                yield source, line, source.decode(_SESSIONS, content, line)
        else:
            content = source.whole(MOST_BYTES)
            yield source, 1, source.decode(_SESSIONS, content, 1)


def _nodes(session: _Session, counts: TraceCounts) -> list[_Node]:
    """Return the requests of a session, each behind those that it waits for."""
    nodes: list[_Node] = []
    agent = _Agent((), nodes, counts, is_branch=False)
    agent.add(session.requests)
    if agent.is_beside_others:
        for node in nodes:
            node.is_beside_others = True
    return nodes


class _Agent:
    """An agent or a sub-agent while its requests are added to `nodes`; it starts after `begins`."""

    def __init__(
        self,
        begins: tuple[_Node, ...],
        nodes: list[_Node],
        counts: TraceCounts,
        *,
        is_branch: bool,
    ) -> None:
        self._begins, self._nodes, self._counts = begins, nodes, counts
        self._is_branch = is_branch
        self._own: Overlapping[_Node] = Overlapping(_ROUNDING_NS)
        # The last requests of its sub-agents that it waits for.
        self._awaited: list[_Node] = []
        self._last = begins
        self._turns = 0
        self.is_beside_others = False

    def add(self, entries: Sequence[_Entry], start_s: float = 0.0) -> None:
        """Add its requests, and those of its sub-agents; their times count from `start_s`."""
        for entry in entries:
            if entry.type == "subagent":
                self._add_agent(entry, start_s)
            elif entry.input_tokens == 0 or entry.output_tokens == 0:
                self._counts.left_out["no_tokens"] += 1
            else:
                self._add_request(entry, _at_ns(entry.t, start_s))

    @property
    def ends(self) -> tuple[_Node, ...]:
        """The requests that its parent waits for."""
        return (*self._own_before(_EVER), *self._awaited)

    def _add_agent(self, entry: _Entry, start_s: float) -> None:
        at_ns = _at_ns(_first_time(entry), start_s)
        begins = self._last if at_ns is None else self._own_before(at_ns)
        agent = _Agent(begins, self._nodes, self._counts, is_branch=True)
        count = len(self._nodes)
        agent.add(entry.requests, start_s + _start_of_times(entry))
        self.is_beside_others |= len(self._nodes) > count
        if entry.status != _NOT_AWAITED:
            awaited = [node for node in agent.ends if node not in begins]
            self._awaited = [*self._awaited, *awaited][-MOST_OVERLAPPING:]

    def _add_request(self, entry: _Entry, at_ns: int | None) -> None:
        self._turns += 1
        has_time = at_ns is not None
        last_ns = max((node.at_ns for node in self._last), default=0)
        if at_ns is None:
            # Without a time, it follows the one before it.
            after = (*self._last, *self._awaited)
            self._own, self._awaited = Overlapping(_ROUNDING_NS), []
        else:
            # Times that go back are those of the request before.
            at_ns = max(at_ns, last_ns)
            own = self._own_before(at_ns)
            awaited = [node for node in self._awaited if self._own.has_ended(node, at_ns)]
            self.is_beside_others |= self._own.has_running(at_ns)
            after = (*own, *awaited)
        # Some times are rounded: a request is never before one that it waits for.
        start_ns = max([at_ns or last_ns, *(node.at_ns for node in after)])
        node = _Node(entry, after, start_ns, self._turns, self._is_branch, has_time)
        self._last = (node,)
        self._own.add(node)
        self._nodes.append(node)

    def _own_before(self, at_ns: int) -> tuple[_Node, ...]:
        """Return what a request that starts then waited for, without requests of sub-agents."""
        own = self._own.before(at_ns)
        if self._awaited:
            implied = {id(node) for request in own for node in request.after}
            self._awaited = [node for node in self._awaited if id(node) not in implied]
        return own or self._begins


def _at_ns(time_s: float | None, start_s: float) -> int | None:
    return None if time_s is None else nearest_ns(min(time_s + start_s, _MOST_S))


def _first_time(agent: _Entry) -> float | None:
    """Return when a sub-agent starts, or its first request; None where no time is known."""
    return _first_of_requests(agent) if agent.t is None else agent.t


def _first_of_requests(agent: _Entry) -> float | None:
    times = [
        _first_time(entry) if entry.type == "subagent" else entry.t for entry in agent.requests
    ]
    return min((time for time in times if time is not None), default=None)


def _start_of_times(agent: _Entry) -> float:
    """Return the start of a sub-agent's times, seconds; it is 0 where they are the session's.

    A sub-agent has no request before its own start: times before it count from it.
    """
    first = _first_of_requests(agent)
    if agent.t is None or first is None or first + _ROUNDING_NS / 1e9 >= agent.t:
        return 0.0
    return agent.t


def _in_order(nodes: list[_Node], number: int) -> list[_Node]:
    """Return the requests in the order of their times, from 0, numbered from `number`."""
    # Sorting is stable: requests of the same time stay behind those that they wait for.
    ordered = sorted(nodes, key=lambda node: node.at_ns)
    start = ordered[0].at_ns if ordered else 0
    for place, node in enumerate(ordered):
        node.number = number + place
        node.at_ns -= start
        for before in node.after:
            before.followers += 1
    return ordered


FORMAT = TraceFormat(
    "weka",
    "Weka",
    "session",
    read,
    keys=frozenset({"requests", "block_size", "hash_ids"}),
    has_sessions=True,
    has_branches=True,
    has_blocks=True,
)
