"""How an answer streams, and what a good answer meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from torr.errors import require

Dialect = Literal["sse", "openai", "dify", "anthropic"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

Alias = Literal["vllm", "aiperf"]
ALIASES: tuple[Alias, ...] = get_args(Alias)

# The metrics of result.json's `stream` that are times, in the order in which a stream shows them.
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
    """What the events of an answer look like, and how long it may stand still.

    `from_intended` counts its times from when the request was due, not from when it was sent.
    `aliases` are tools whose metrics are counted beside; `keep_text` keeps what it tells in the
    plan's file of texts.
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
        """The contract's `stream`."""
        found: Json = {"dialect": self.dialect}
        if self.idle_timeout_ns is not None:
            found["idle_timeout_ns"] = self.idle_timeout_ns
        if self.from_intended:
            found["from_intended"] = True
        if self.aliases:
            found["aliases"] = list(self.aliases)
        if self.keep_text:
            found["keep_text"] = True
        return found


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of latency that a good answer meets; `inclusive` is `<=`."""

    metric: str
    limit_ns: int
    inclusive: bool = False

    def as_json(self) -> Json:
        """The contract's `limit`."""
        return {"metric": self.metric, "limit_ns": self.limit_ns, "inclusive": self.inclusive}
