"""What streams carried, in words: tokens, goodput, events, and what to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torr.model.stream import TIMES
from torr.units import show_count, show_ms, show_percent, show_rate

Level = Mapping[str, Any]


def stream_times(level: Level) -> list[tuple[str, Mapping[str, Any]]]:
    """The times of a level's streams that were measured, each under its name."""
    stream = level.get("stream") or {}
    found = [(name, stream.get(f"{name}_ms")) for name in TIMES]
    aliases = [
        (f"{tool} {name.removesuffix('_ms')}", stats)
        for tool, metrics in (stream.get("alias") or {}).items()
        for name, stats in metrics.items()
        if name.endswith("_ms")
    ]
    return [(name, stats) for name, stats in [*found, *aliases] if stats]


def stream_facts(level: Level) -> dict[str, str]:
    """What else a level's streams say, each fact under its name; nothing where there are none."""
    stream = level.get("stream")
    facts = {} if not stream else _facts(stream, _judged(level.get("steps") or ()))
    return {name: text for name, text in facts.items() if text}


def is_joined(level: Level) -> bool:
    """Whether a late client joined so many texts that the gaps between them are unreliable."""
    return not (level.get("stream") or {}).get("inter_chunk_reliable", True)


def _facts(stream: Mapping[str, Any], judged: str) -> dict[str, str]:
    return {
        "counted from": "when each request was due" if stream.get("from") == "intended" else "",
        "tokens/s": "; ".join(filter(None, (_token_rate(stream), _per_user(stream)))),
        "tokens": _tokens(stream),
        "tokenizer": _tokenizer(stream.get("tokenizer")),
        "goodput": _goodput(stream, judged),
        "events": ", ".join(f"{name} {n:,}" for name, n in (stream.get("events") or {}).items()),
        "left by the client": _left(stream),
        "coalesced": _coalesced(stream),
        "prompts": _prompts(stream.get("prompts")),
    }


def _token_rate(stream: Mapping[str, Any]) -> str:
    if not stream.get("tokens_per_s"):
        return ""
    text = f"{show_rate(stream['tokens_per_s'])} in total"
    each = (stream.get("stream_tokens_per_s") or {}).get("mean")
    return text if each is None else f"{text}, {show_rate(each)} each stream on average"


def _per_user(stream: Mapping[str, Any]) -> str:
    """What AIPerf calls the rate of each stream."""
    alias = (stream.get("alias") or {}).get("aiperf") or {}
    each = (alias.get("output_token_throughput_per_user") or {}).get("mean")
    if each is None:
        return ""
    return f"aiperf output_token_throughput_per_user {show_rate(each)} on average"


def _tokens(stream: Mapping[str, Any]) -> str:
    out = stream.get("tokens_out")
    if out is None:
        return "the server did not say how many"
    text = f"{out:,} out, {stream.get('tokens_in') or 0:,} in, by the server's count"
    if stream.get("tokens_reasoning"):
        text += f", {stream['tokens_reasoning']:,} of them reasoning"
    untold = stream.get("tokens_untold") or 0
    return text + (f"; {show_count(untold, 'answer')} did not say" if untold else "")


def _tokenizer(counted: Mapping[str, Any] | None) -> str:
    if not counted:
        return ""
    text = f"{counted['tokens_out']:,} out"
    if counted.get("tokens_reasoning"):
        text += f", {counted['tokens_reasoning']:,} of them reasoning"
    missed = counted.get("uncounted") or 0
    more = f"; {show_count(missed, 'answer')} with calls of tools not counted" if missed else ""
    if counted.get("tokens_per_s") is not None:
        text += f", {show_rate(counted['tokens_per_s'])}/s"
    pace = (counted.get("tpot_ms") or {}).get("mean")
    if pace is not None:
        text += f", tpot {show_ms(pace)} on average"
    return f"{text}, by {counted['file']}{more}"


def _judged(steps: Sequence[Level]) -> str:
    """Whose goodput it is, where the SLOs of latency name only some of the requests."""
    streams = {step["name"]: step.get("stream") or {} for step in steps}
    named = [name for name, found in streams.items() if found.get("goodput_rate") is not None]
    return f" of {', '.join(named)}" if 0 < len(named) < len(streams) else ""


def _goodput(stream: Mapping[str, Any], judged: str) -> str:
    """The rate is of attempts that began in the window, that a second of those that ended in it."""
    if stream.get("goodput_missing"):
        return f"not known: {stream['goodput_missing']}"
    if stream.get("goodput_rate") is None:
        return ""
    rate, good = stream["goodput_rate"], stream.get("good_per_s")
    text = f"{show_percent(rate)}{judged} met every SLO of latency"
    return f"{text}, {show_rate(good)}/s" if rate and good else text


def _left(stream: Mapping[str, Any]) -> str:
    left = stream.get("left") or 0
    return f"{left:,}, before the end: in no e2e and no stream_end" if left else ""


def _coalesced(stream: Mapping[str, Any]) -> str:
    joined = stream.get("coalesced") or 0
    if not joined:
        return ""
    late = stream.get("client_coalesced") or 0
    text = f"{joined:,} texts came in one read with the text before"
    if late:
        text += f", {late:,} of them since the client was late"
    return text + (
        "" if stream.get("inter_chunk_reliable", True) else ": inter_chunk is unreliable"
    )


def _prompts(prompts: Mapping[str, Any] | None) -> str:
    if not prompts:
        return ""
    text = f"{prompts['given']:,} given, {prompts['sent']:,} sent"
    if prompts.get("unique_prefix"):
        return f"{text}, each begun anew"
    return f"{text}, {prompts['reused']:,} of them again: a cache may know them"
