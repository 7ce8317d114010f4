"""What streams carried, in words: tokens, goodput, events, and what to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torr.model.stream import TIMES
from torr.units import show_count, show_percent, show_rate

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
    facts = {} if not stream else _facts(stream)
    return {name: text for name, text in facts.items() if text}


def _facts(stream: Mapping[str, Any]) -> dict[str, str]:
    return {
        "counted from": "when each request was due" if stream.get("from") == "intended" else "",
        "tokens/s": _token_rate(stream),
        "tokens": _tokens(stream),
        "tokenizer": _tokenizer(stream.get("tokenizer")),
        "goodput": _goodput(stream),
        "events": ", ".join(f"{name} {n:,}" for name, n in (stream.get("events") or {}).items()),
        "coalesced": _coalesced(stream),
        "prompts": _prompts(stream.get("prompts")),
    }


def _token_rate(stream: Mapping[str, Any]) -> str:
    if not stream.get("tokens_per_s"):
        return ""
    text = f"{show_rate(stream['tokens_per_s'])} in total"
    each = (stream.get("stream_tokens_per_s") or {}).get("mean")
    return text if each is None else f"{text}, {show_rate(each)} each stream on average"


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
    return f"{text}, by {counted['file']}{more}"


def _goodput(stream: Mapping[str, Any]) -> str:
    if stream.get("goodput_missing"):
        return f"not known: {stream['goodput_missing']}"
    if stream.get("goodput_rate") is None:
        return ""
    good = f"{show_rate(stream.get('good_per_s'))}/s"
    return f"{show_percent(stream['goodput_rate'])} met every SLO of latency, {good}"


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
