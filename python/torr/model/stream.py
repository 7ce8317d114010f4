"""The dialect of a streamed answer, and the limits that a good answer meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from torr.errors import require

Dialect = Literal["sse", "openai", "dify", "anthropic"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

Alias = Literal["vllm", "aiperf"]
ALIASES: tuple[Alias, ...] = get_args(Alias)

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

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """The dialect of the events of an answer, and the longest time without one.

    `from_intended` counts its times from when the request was due, not from when it was sent.
    `aliases` are tools whose metrics are measured, too; `keep_text` writes the text of each answer
    to the plan's file of texts.
    """

    dialect: Dialect
    idle_timeout_ns: int | None = None
    from_intended: bool = False
    aliases: tuple[Alias, ...] = ()
    keep_text: bool = False

    def __post_init__(self) -> None:
        """Check the time."""
        idle_ns = self.idle_timeout_ns
        require(idle_ns is None or idle_ns > 0, "the idle timeout must be longer than 0")
        require(
            "vllm" not in self.aliases or self.dialect == "openai",
            f"--alias vllm and a stream of {self.dialect}: vLLM only knows OpenAI's",
            "use --alias aiperf, or --stream openai",
        )

    def as_json(self) -> Json:
        """Return the `stream` of the engine's plan."""
        members: Json = {"dialect": self.dialect}
        if self.idle_timeout_ns is not None:
            members["idle_timeout_ns"] = self.idle_timeout_ns
        if self.from_intended:
            members["from_intended"] = True
        if self.aliases:
            members["aliases"] = list(self.aliases)
        if self.keep_text:
            members["keep_text"] = True
        return members


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of latency that a good answer meets; `inclusive` is `<=`."""

    metric: str
    limit_ns: int
    inclusive: bool = False

    def as_json(self) -> Json:
        """Return the `limit` of the engine's plan."""
        return {"metric": self.metric, "limit_ns": self.limit_ns, "inclusive": self.inclusive}
