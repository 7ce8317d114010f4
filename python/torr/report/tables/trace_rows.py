"""Rows of the table of a level that are about its trace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torr.messages.say import Text, say
from torr.sources.traces.row import TraceCounts
from torr.units import show_ms, show_percent

if TYPE_CHECKING:
    from torr.results.level import Level
    from torr.results.trace import TokenLengths, TraceContent

_Row = tuple[str, str]


def trace_rows(level: Level) -> list[_Row]:
    """Return what a trace has, and how its rows had to wait for others."""
    rows = _content(level.trace) if level.trace else []
    if level.postponed:
        count = f"{level.postponed:,}"
        later = show_ms(level.postponed_mean_ms or 0.0)
        rows.append(
            (
                say("started late because others had not ended"),
                say("{n}, {ms} on average", n=count, ms=later),
            )
        )
    if level.left_out:
        rows.append((say("left out after a failed predecessor"), f"{level.left_out:,}"))
    return rows


def _content(trace: TraceContent) -> list[_Row]:
    """Return what was read of a trace, and what of it is not sent."""
    rows: list[_Row] = [(say("rows of the trace"), _rows_and_sessions(trace))]
    if trace.skipped:
        rows.append((say("not sent of the trace"), TraceCounts(Counter(trace.skipped)).text))
    if trace.images:
        rows.append((say("images of the trace, not sent"), f"{trace.images:,}"))
    if trace.without_parent:
        rows.append((say("rows without their predecessor"), f"{trace.without_parent:,}"))
    if trace.input_tokens:
        rows.append((say("input tokens in the trace"), _lengths(trace.input_tokens)))
    if trace.output_tokens:
        rows.append((say("output tokens in the trace"), _lengths(trace.output_tokens)))
    if trace.repeated_tokens is not None:
        share = show_percent(trace.repeated_tokens)
        text = (
            say("about {share} of input tokens", share=share)
            if trace.is_sampled
            else say("{share} of input tokens", share=share)
        )
        rows.append((say("repeated beginnings in the trace"), text))
    return rows


def _rows_and_sessions(trace: TraceContent) -> str:
    if trace.sessions == trace.rows:
        return f"{trace.rows:,}"
    return say("{n:,} in {sessions:,} sessions", n=trace.rows, sessions=trace.sessions)


def _lengths(lengths: TokenLengths) -> Text:
    return say(
        "{mean:,.0f} on average, p50 {p50:,}, p99 {p99:,}",
        mean=lengths.mean,
        p50=lengths.p50,
        p99=lengths.p99,
    )
