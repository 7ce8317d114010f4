"""The `stream` of a level: statistics of streamed responses."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from torr.messages.message import Message
from torr.model.stream import TIMES, TIMES_OF_MESSAGES
from torr.results.base import Amount, Count, Number, Percent, ResultPart, Statistics


class PromptCounts(ResultPart, kw_only=True):
    """Conversations: provided, begun, and begun again because there were no more."""

    provided: Count
    sent: Count
    reused: Count
    at_least: Annotated[
        bool, Meta(description="several workers shared them: more may have been said again")
    ] = False
    unique_prefix: bool = False


class TokenizerCounts(ResultPart, kw_only=True):
    """Tokens of the ok streams, reasoning included, as a tokenizer counts them."""

    file: str
    tokens_out: Count
    tokens_reasoning: Count = 0
    tokens_per_s: Amount | None = None
    tpot_ms: Annotated[Statistics | None, Meta(description="by its own count alone")] = None
    uncounted: Annotated[Count, Meta(description="streams with calls of tools, or too long")] = 0


class LengthCheck(ResultPart, kw_only=True):
    """Ok streams whose number of tokens was asked for and reported, and those that differ."""

    requested: Annotated[Count | None, Meta(description="output tokens of each response")] = None
    checked: Count
    different: Count


class PlannedLengths(ResultPart, kw_only=True):
    """Planned tokens of prompts or outputs, and those that the server reported."""

    checked: Annotated[Count, Meta(description="ok streams whose tokens were reported")]
    planned_mean: Amount
    reported_mean: Amount
    difference_mean: Annotated[
        Number, Meta(description="reported − planned, for prompts with those of a chat template")
    ]
    difference_percent: Number
    absolute_difference_percent: Annotated[
        Amount | None,
        Meta(description="of traces: Σ |reported − planned| in percent of the planned tokens"),
    ] = None


class StreamStatistics(ResultPart, kw_only=True):
    """Statistics of streamed responses."""

    from_: Annotated[
        Literal["sent", "intended"], Meta(description="what times count from that are of the whole")
    ] = field(default="sent", name="from")
    ttfb_ms: Statistics | None = None
    ttfe_ms: Statistics | None = None
    ttft_ms: Statistics | None = None
    ttfo_ms: Statistics | None = None
    ttst_ms: Statistics | None = None
    inter_chunk_ms: Statistics | None = None
    inter_read_ms: Statistics | None = None
    e2e_ms: Statistics | None = None
    stream_end_ms: Statistics | None = None
    tpot_ms: Statistics | None = None
    tpot_first: Annotated[
        Literal["one", "tokenizer"],
        Meta(description="how many tokens the first event with text counts in tpot_ms"),
    ] = "one"
    tokenizer: TokenizerCounts | None = None
    tokens_in: Count | None = None
    tokens_cached: Annotated[
        Count | None, Meta(description="of tokens_in, found by the server in a cache of prefixes")
    ] = None
    tokens_out: Count | None = None
    tokens_reasoning: Count | None = None
    with_tool_calls: Annotated[Count, Meta(description="ok streams that called a tool")] = 0
    length_check: Annotated[
        LengthCheck | None, Meta(description="with --output-tokens: whether it was kept")
    ] = None
    prompt_lengths: Annotated[
        PlannedLengths | None,
        Meta(description="with --prompt-tokens and --trace: whether they were kept"),
    ] = None
    output_lengths: Annotated[
        PlannedLengths | None,
        Meta(description="of outputs of several lengths, as with --trace: whether they were kept"),
    ] = None
    tokens_source: Annotated[str | None, Meta(description="who counted: usage, the server")] = None
    tokens_unreported: Annotated[
        Count, Meta(description="ok streams without a count of tokens")
    ] = 0
    tokens_per_s: Amount | None = None
    stream_tokens_per_s: Annotated[
        Statistics | None, Meta(description="tokens a second of each stream, not milliseconds")
    ] = None
    events: Annotated[dict[str, Count], Meta(description="by what they were")] = {}
    comments: Count = 0
    coalesced: Count | None = None
    client_coalesced: Count | None = None
    inter_chunk_reliable: Annotated[
        bool,
        Meta(description="false when more than 5 % of texts were joined by a late client"),
    ] = True
    unterminated: Annotated[Count, Meta(description="streams that end without a blank line")] = 0
    abandoned: Annotated[
        Count,
        Meta(description="streams whose client hung up before their end: they have none"),
    ] = 0
    goodput_rate: Percent | None = None
    good_per_s: Amount | None = None
    goodput_missing: Message | None = None
    prompts: PromptCounts | None = None
    alias: Annotated[
        dict[str, dict[str, Statistics | None]],
        Meta(description="what other tools would say, by their definitions and names"),
    ] = {}

    def time(self, key: str) -> Statistics | None:
        """Return a time by its key, such as `ttft_ms`; None where it has none."""
        time: Statistics | None = getattr(self, key, None)
        return time

    @property
    def is_of_messages(self) -> bool:
        """Whether the streams are of gRPC, whose messages are neither texts nor tokens."""
        return "message" in self.events

    @property
    def times(self) -> dict[str, Statistics]:
        """The measured times that such streams have, by their names in conditions."""
        names = TIMES_OF_MESSAGES if self.is_of_messages else TIMES
        return {name: time for name in names if (time := self.time(f"{name}_ms"))}
