"""The `stream` of result.json: what was seen of streamed answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from torr.model.part import Amount, Count, Part, Rate, Stats


class Prompts(Part):
    """Conversations that were given, how many were begun, and how many of those said again."""

    given: Count
    sent: Count
    reused: Count
    at_least: bool = Field(
        default=False, description="several workers shared them: more may have been said again"
    )
    unique_prefix: bool = False


class Tokenizer(Part):
    """What a tokenizer counts in the text of the ok streams, thoughts among it."""

    file: str
    tokens_out: Count
    tokens_reasoning: Count = 0
    tokens_per_s: Amount | None = None
    tpot_ms: Stats | None = Field(default=None, description="by its own count alone")
    uncounted: Count = Field(default=0, description="streams with calls of tools, or too long")


class Stream(Part):
    """What was seen of streamed answers."""

    from_: Literal["sent", "intended"] = Field(
        default="sent", alias="from", description="what times count from that are of the whole"
    )
    ttfb_ms: Stats | None = None
    ttfe_ms: Stats | None = None
    ttft_ms: Stats | None = None
    ttfo_ms: Stats | None = None
    ttst_ms: Stats | None = None
    inter_chunk_ms: Stats | None = None
    inter_read_ms: Stats | None = None
    e2e_ms: Stats | None = None
    stream_end_ms: Stats | None = None
    tpot_ms: Stats | None = None
    tpot_first: Literal["one", "tokenizer"] = Field(
        default="one", description="how many tokens the first event with text counts in tpot_ms"
    )
    tokenizer: Tokenizer | None = None
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    tokens_reasoning: Count | None = None
    tokens_source: str | None = Field(default=None, description="who counted: usage, the server")
    tokens_untold: Count = Field(default=0, description="ok streams without a count of tokens")
    tokens_per_s: Amount | None = None
    stream_tokens_per_s: Stats | None = Field(
        default=None, description="tokens a second of each stream, not milliseconds"
    )
    events: dict[str, Count] = Field(default={}, description="by what they were")
    comments: Count = 0
    coalesced: Count | None = None
    client_coalesced: Count | None = None
    inter_chunk_reliable: bool = Field(
        default=True, description="false when more than 5 % of texts were joined by a late client"
    )
    unterminated: Count = Field(default=0, description="streams that end without a blank line")
    left: Count = Field(
        default=0, description="streams whose client hung up before their end: they have none"
    )
    goodput_rate: Rate | None = None
    good_per_s: Amount | None = None
    goodput_missing: str | None = None
    prompts: Prompts | None = None
    alias: dict[str, dict[str, Stats | None]] = Field(
        default={}, description="what other tools would say, by their definitions and names"
    )
