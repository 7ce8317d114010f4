"""Facts about streams in words: tokens, goodput, events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, say
from torr.units import show_ms, show_percent, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.base import Statistics
    from torr.results.level import Level, NamedRequest
    from torr.results.stream import (
        PlannedLengths,
        PromptCounts,
        StreamStatistics,
        TokenizerCounts,
    )


def stream_times(level: Level) -> list[tuple[str, Statistics]]:
    """Return the measured times of a level's streams, each under its name."""
    stream = level.stream
    if stream is None:
        return []
    aliases = [
        (f"{tool} {name.removesuffix('_ms')}", stats)
        for tool, metrics in stream.alias.items()
        for name, stats in metrics.items()
        if name.endswith("_ms")
    ]
    return [*stream.times.items(), *((name, stats) for name, stats in aliases if stats)]


def stream_facts(level: Level) -> dict[str, str]:
    """Return the other facts about a level's streams, each under its name."""
    facts = _facts(level.stream, _judged(level.requests)) if level.stream else {}
    return {name: text for name, text in facts.items() if text}


def is_joined(level: Level) -> bool:
    """Return whether a late client joined so many texts that their gaps are unreliable."""
    return level.stream is not None and not level.stream.inter_chunk_reliable


def _facts(stream: StreamStatistics, judged: str) -> dict[str, str]:
    if stream.is_of_messages:
        return {
            say("counted from"): _counted_from(stream),
            "goodput": _goodput(stream, judged),
            say("messages"): f"{stream.events['message']:,}",
        }
    return {
        say("counted from"): _counted_from(stream),
        "tokens/s": chain("; ", [_token_rate(stream), *_other_rates(stream)]),
        say("tokens"): _tokens(stream),
        say("prefix cache hits"): _cached(stream),
        say("prompt length"): _planned(stream.prompt_lengths),
        say("output length"): _length(stream) or _planned(stream.output_lengths),
        say("tool calls"): _tool_calls(stream),
        say("tokenizer"): _tokenizer(stream.tokenizer),
        "goodput": _goodput(stream, judged),
        say("events"): ", ".join(f"{name} {n:,}" for name, n in stream.events.items()),
        say("abandoned by the client"): _left(stream),
        say("coalesced"): _coalesced(stream),
        say("prompts"): _prompts(stream.prompts),
    }


def _counted_from(stream: StreamStatistics) -> str:
    return say("write the time at which each request is due") if stream.from_ == "intended" else ""


def _token_rate(stream: StreamStatistics) -> str:
    if not stream.tokens_per_s:
        return ""
    at_least = "≥ " if stream.tokens_unreported else ""
    total = say("{rate} in total", rate=f"{at_least}{show_rate(stream.tokens_per_s)}")
    rates = stream.stream_tokens_per_s
    if rates is None or rates.mean is None:
        return total
    return say("{total}, {rate} each stream on average", total=total, rate=show_rate(rates.mean))


def _other_rates(stream: StreamStatistics) -> list[str]:
    """Return the rates of each stream under the names of other tools."""
    rates = {
        f"{tool} {name}": rate
        for tool, metrics in stream.alias.items()
        for name, rate in metrics.items()
        if not name.endswith("_ms") and rate
    }
    return [
        say("{name} {rate} on average", name=name, rate=show_rate(rate.mean))
        for name, rate in rates.items()
        if rate.mean is not None
    ]


def _tokens(stream: StreamStatistics) -> Text:
    if stream.tokens_out is None:
        return say("the server did not report them")
    both = {"out": stream.tokens_out, "given": stream.tokens_in or 0}
    text = say("{out:,} out, {given:,} in, by the server's count", **both)
    unreported = stream.tokens_unreported
    silent = (
        say("{answers} without a count", answers=counted(unreported, "answer"))
        if unreported
        else ""
    )
    return chain("; ", [_with_reasoning(text, stream), silent])


def _with_reasoning(text: Text, tokens: StreamStatistics | TokenizerCounts) -> Text:
    reasoning = tokens.tokens_reasoning
    return say("{text}, {n:,} of them reasoning", text=text, n=reasoning) if reasoning else text


def _cached(stream: StreamStatistics) -> str:
    if stream.tokens_cached is None or not stream.tokens_in:
        return ""
    # A server may report anything.
    share = min(100.0, 100 * stream.tokens_cached / stream.tokens_in)
    return say(
        "{share} of prompt tokens ({n:,})", share=show_percent(share), n=stream.tokens_cached
    )


def _planned(lengths: PlannedLengths | None) -> str:
    if lengths is None:
        return ""
    return say(
        "{reported:,.1f} tokens on average, {difference:+,.1f} from the planned {planned:,.1f}"
        " ({share:+.1f} %)",
        reported=lengths.reported_mean,
        difference=lengths.difference_mean,
        planned=lengths.planned_mean,
        share=lengths.difference_percent,
    )


def _length(stream: StreamStatistics) -> str:
    check = stream.length_check
    if check is None:
        return ""
    return say(
        "{n:,} of {checked:,} responses differ from {tokens:,} tokens",
        n=check.different,
        checked=check.checked,
        tokens=check.requested or 0,
    )


def _tool_calls(stream: StreamStatistics) -> str:
    n = stream.with_tool_calls
    return say("in {answers}", answers=counted(n, "answer")) if n else ""


def _tokenizer(tokens: TokenizerCounts | None) -> str:
    if not tokens:
        return ""
    text = _with_reasoning(say("{out:,} out", out=tokens.tokens_out), tokens)
    if tokens.tokens_per_s is not None:
        text = say("{text}, {rate}/s", text=text, rate=show_rate(tokens.tokens_per_s))
    pace = tokens.tpot_ms
    if pace is not None and pace.mean is not None:
        text = say("{text}, tpot {time} on average", text=text, time=show_ms(pace.mean))
    text = say("{text}, by {file}", text=text, file=tokens.file)
    if not tokens.uncounted:
        return text
    answers = counted(tokens.uncounted, "answer")
    others = say("{answers} with tool calls, or too long, not counted", answers=answers)
    return chain("; ", [text, others])


def _judged(steps: Sequence[NamedRequest]) -> str:
    """Return the requests that goodput is about, where the SLOs name only some of them."""
    named = [x.name for x in steps if x.stream and x.stream.goodput_rate is not None]
    is_partial = 0 < len(named) < len(steps)
    return say(" of {names}", names=chain(", ", named)) if is_partial else ""


def _goodput(stream: StreamStatistics, judged: str) -> str:
    """Return the share of attempts that met every SLO of latency, and their rate."""
    if stream.goodput_missing:
        return say("not known: {why}", why=stream.goodput_missing)
    if stream.goodput_rate is None:
        return ""
    rate, good = stream.goodput_rate, stream.good_per_s
    share = show_percent(rate)
    text = say("{share}{judged} met every SLO of latency", share=share, judged=judged)
    return say("{text}, {rate}/s", text=text, rate=show_rate(good)) if rate and good else text


def _left(stream: StreamStatistics) -> str:
    left = stream.abandoned
    return (
        say("{left:,}, before the end: not counted in e2e and stream_end", left=left)
        if left
        else ""
    )


def _coalesced(stream: StreamStatistics) -> str:
    if not stream.coalesced:
        return ""
    late = stream.client_coalesced
    text = say("{n:,} texts came in one read with the text before", n=stream.coalesced)
    if late:
        text = say("{text}, {late:,} of them since the client was late", text=text, late=late)
    if stream.inter_chunk_reliable:
        return text
    return say("{text}: inter_chunk is unreliable", text=text)


def _prompts(prompts: PromptCounts | None) -> str:
    if not prompts:
        return ""
    text = say("{given:,} given, {sent:,} sent", given=prompts.provided, sent=prompts.sent)
    if prompts.unique_prefix:
        return say("{text}, each with a unique prefix", text=text)
    return say("{text}, {n:,} of them again: a cache may have them", text=text, n=prompts.reused)
