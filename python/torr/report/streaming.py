"""What streams carried, in words: tokens, goodput, events, and what to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torr.model.stream import TIMES
from torr.report.say import Text, chain, say
from torr.report.told import told
from torr.report.wording import counted
from torr.units import show_ms, show_percent, show_rate

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
        say("counted from"): _counted_from(stream),
        "tokens/s": chain("; ", [_token_rate(stream), _per_user(stream)]),
        say("tokens"): _tokens(stream),
        say("tokenizer"): _tokenizer(stream.get("tokenizer")),
        "goodput": _goodput(stream, judged),
        say("events"): ", ".join(f"{name} {n:,}" for name, n in _events(stream)),
        say("left by the client"): _left(stream),
        say("coalesced"): _coalesced(stream),
        say("prompts"): _prompts(stream.get("prompts")),
    }


def _counted_from(stream: Mapping[str, Any]) -> str:
    return say("when each request was due") if stream.get("from") == "intended" else ""


def _events(stream: Mapping[str, Any]) -> Iterable[tuple[str, int]]:
    return (stream.get("events") or {}).items()


def _token_rate(stream: Mapping[str, Any]) -> str:
    if not stream.get("tokens_per_s"):
        return ""
    total = say("{rate} in total", rate=show_rate(stream["tokens_per_s"]))
    each = (stream.get("stream_tokens_per_s") or {}).get("mean")
    if each is None:
        return total
    return say("{total}, {rate} each stream on average", total=total, rate=show_rate(each))


def _per_user(stream: Mapping[str, Any]) -> str:
    """What AIPerf calls the rate of each stream."""
    alias = (stream.get("alias") or {}).get("aiperf") or {}
    each = (alias.get("output_token_throughput_per_user") or {}).get("mean")
    if each is None:
        return ""
    name = "aiperf output_token_throughput_per_user"
    return say("{name} {rate} on average", name=name, rate=show_rate(each))


def _tokens(stream: Mapping[str, Any]) -> Text:
    out = stream.get("tokens_out")
    if out is None:
        return say("the server did not say how many")
    both = {"out": out, "given": stream.get("tokens_in") or 0}
    text = say("{out:,} out, {given:,} in, by the server's count", **both)
    untold = stream.get("tokens_untold") or 0
    silent = say("{answers} did not say", answers=counted(untold, "answer")) if untold else ""
    return chain("; ", [_with_reasoning(text, stream), silent])


def _with_reasoning(text: Text, stream: Mapping[str, Any]) -> Text:
    reasoning = stream.get("tokens_reasoning")
    return say("{text}, {n:,} of them reasoning", text=text, n=reasoning) if reasoning else text


def _tokenizer(tokens: Mapping[str, Any] | None) -> str:
    if not tokens:
        return ""
    text = _with_reasoning(say("{out:,} out", out=tokens["tokens_out"]), tokens)
    missed = tokens.get("uncounted") or 0
    if tokens.get("tokens_per_s") is not None:
        text = say("{text}, {rate}/s", text=text, rate=show_rate(tokens["tokens_per_s"]))
    pace = (tokens.get("tpot_ms") or {}).get("mean")
    if pace is not None:
        text = say("{text}, tpot {time} on average", text=text, time=show_ms(pace))
    text = say("{text}, by {file}", text=text, file=tokens["file"])
    if not missed:
        return text
    answers = counted(missed, "answer")
    return chain("; ", [text, say("{answers} with calls of tools not counted", answers=answers)])


def _judged(steps: Sequence[Level]) -> str:
    """Whose goodput it is, where the SLOs of latency name only some of the requests."""
    streams = {step["name"]: step.get("stream") or {} for step in steps}
    named = [name for name, found in streams.items() if found.get("goodput_rate") is not None]
    is_told = 0 < len(named) < len(streams)
    return say(" of {names}", names=chain(", ", named)) if is_told else ""


def _goodput(stream: Mapping[str, Any], judged: str) -> str:
    """The rate is of attempts that began in the window, that a second of those that ended in it."""
    if stream.get("goodput_missing"):
        return say("not known: {why}", why=told(stream["goodput_missing"]))
    if stream.get("goodput_rate") is None:
        return ""
    rate, good = stream["goodput_rate"], stream.get("good_per_s")
    share = show_percent(rate)
    text = say("{share}{judged} met every SLO of latency", share=share, judged=judged)
    return say("{text}, {rate}/s", text=text, rate=show_rate(good)) if rate and good else text


def _left(stream: Mapping[str, Any]) -> str:
    left = stream.get("left") or 0
    return say("{left:,}, before the end: in no e2e and no stream_end", left=left) if left else ""


def _coalesced(stream: Mapping[str, Any]) -> str:
    joined = stream.get("coalesced") or 0
    if not joined:
        return ""
    late = stream.get("client_coalesced") or 0
    text = say("{n:,} texts came in one read with the text before", n=joined)
    if late:
        text = say("{text}, {late:,} of them since the client was late", text=text, late=late)
    if stream.get("inter_chunk_reliable", True):
        return text
    return say("{text}: inter_chunk is unreliable", text=text)


def _prompts(prompts: Mapping[str, Any] | None) -> str:
    if not prompts:
        return ""
    text = say("{given:,} given, {sent:,} sent", given=prompts["given"], sent=prompts["sent"])
    if prompts.get("unique_prefix"):
        return say("{text}, each begun anew", text=text)
    again = prompts["reused"]
    return say("{text}, {n:,} of them again: a cache may know them", text=text, n=again)
