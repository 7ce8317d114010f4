"""What a load read of its trace, beside what came of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from torr.results.base import Amount, Count, Percent, ResultPart


class TokenLengths(ResultPart, kw_only=True):
    """Lengths in tokens; percentiles are at most 1 % too high."""

    total: Count
    mean: Amount
    p50: Count
    p99: Count
    max: Count


class TraceContent(ResultPart, kw_only=True):
    """The rows that a load read of its trace: all that it sent, and a few more if it was ended."""

    format: str
    rows: Count
    sessions: Count
    is_whole: Annotated[
        bool, Meta(description="whether these are all rows that the load was to send")
    ] = False
    input_tokens: TokenLengths | None = None
    output_tokens: TokenLengths | None = None
    repeated_tokens: Annotated[
        Percent | None,
        Meta(
            description="input tokens that belong to a block which an earlier row has, with the"
            " same blocks before it: the most that a cache of prefixes can have"
        ),
    ] = None
    is_sampled: Annotated[
        bool, Meta(description="whether repeated_tokens is an estimate, of a sample of blocks")
    ] = False
    skipped: Annotated[
        dict[str, Count], Meta(description="what the trace has and torr does not send, by reason")
    ] = {}
    without_parent: Annotated[
        Count, Meta(description="rows whose predecessor is not in the trace, or too far back")
    ] = 0
    images: Annotated[Count, Meta(description="images of the rows, which torr does not send")] = 0
