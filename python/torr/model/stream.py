"""The dialect of a streamed response, and the limits that a good response meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from torr.errors import require
from torr.messages.say import say
from torr.model.json import PlanPart

if TYPE_CHECKING:
    from collections.abc import Mapping

EventDialect = Literal["sse", "openai", "dify", "anthropic", "responses"]
"""A dialect of event streams, which a user names."""

DIALECTS: tuple[EventDialect, ...] = get_args(EventDialect)

Dialect = EventDialect | Literal["grpc"]
"""How a response streams: by events, or by the messages of a call of gRPC."""

Alias = Literal["vllm", "aiperf", "sglang", "guidellm", "inference-perf"]
"""Another tool, whose definitions are in `crates/engine/src/measure/stream/definitions.rs`."""

ALIASES: tuple[Alias, ...] = get_args(Alias)

MOST_TOKENS = 10_000_000
"""The longest prompt or answer that is planned."""

# The streams that a tool reads, where it does not read all.
_READ_BY: Mapping[Alias, tuple[EventDialect, ...]] = {
    "vllm": ("openai",),
    "sglang": ("openai",),
    "guidellm": ("openai",),
    "inference-perf": ("openai", "anthropic"),
}

# The metrics of result.json's `stream` that are times, in the order of their events.
TIMES = (
    "ttfb",
    "ttfe",
    "ttft",
    "ttfo",
    "ttst",
    "inter_chunk",
    "inter_read",
    "e2e",
    "stream_end",
    "tpot",
)
# Those of gRPC streams: the others count texts or tokens, or are the same.
TIMES_OF_MESSAGES = ("ttfe", "inter_chunk", "stream_end")


@dataclass(frozen=True, slots=True)
class Stream(PlanPart):
    """The dialect of the events of a response, and the longest time without one.

    `from_intended` counts its times from when the request was due, not from when it was sent.
    `aliases` are tools whose metrics are measured, too; `output_tokens` is how many tokens each
    response is to have: the engine counts those that have another number. `keep_text` writes the
    text of a response to the plan's file of texts.
    """

    dialect: Dialect
    idle_timeout_ns: int | None = None
    from_intended: bool = False
    aliases: tuple[Alias, ...] = ()
    output_tokens: int | None = None
    keep_text: bool = False

    OPTIONAL = ("idle_timeout_ns", "from_intended", "aliases", "output_tokens", "keep_text")

    def __post_init__(self) -> None:
        """Check the time."""
        idle_ns = self.idle_timeout_ns
        require(idle_ns is None or idle_ns > 0, say("the idle timeout must be longer than 0"))
        for tool in self.aliases:
            read = _READ_BY.get(tool, DIALECTS)
            require(
                self.dialect in read,
                say(
                    "--alias {tool} does not fit a stream of {dialect}: the tool measures"
                    " streams of {read} only",
                    tool=tool,
                    dialect=self.dialect,
                    read=", ".join(read),
                ),
                say("use --alias aiperf, or --stream {read}", read=read[0]),
            )


@dataclass(frozen=True, slots=True)
class Limit(PlanPart):
    """A limit of latency that a good response meets; `inclusive` is `<=`."""

    metric: str
    limit_ns: int
    inclusive: bool = False
