"""What a run of one level found, as one sentence: what it holds, answers or streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torr.model.condition import Condition
from torr.report.claims import errors_of, failed_there, phrase, rate_of, seen
from torr.report.say import Text, chain, join, say
from torr.report.told import told
from torr.report.wording import because, counted, first_text
from torr.stats.series import (
    Point,
    Series,
    has_one_crowd,
    is_limited,
    is_mixed,
    is_of_locust,
    is_shared,
    is_starved,
    starved_text,
)
from torr.units import show_ms, show_rate

Result = Mapping[str, Any]


def verdict(result: Result) -> Text:
    """Return what a run says of its one level, a clause that ends without a full stop."""
    levels = [level for level in result["levels"] if not is_limited(level)]
    if not levels:
        reasons = (result["levels"][0].get("health") or {}).get("reasons") or []
        why = because(first_text(reasons))
        return say("Claims nothing: the generator was the limit{why}", why=why)
    if not any((level.get("counts") or {}).get("ok") for level in levels):
        return say("No request succeeded{errors}", errors=errors_of(result))
    if all(map(is_starved, levels)):
        return say("Claims nothing: {why}", why=told(starved_text(levels[0])))
    point = Series.of("", levels).shown[0]
    place = say("{rate} {over}", rate=_asked(levels[0], point), over=_over(levels[0]))
    found = [v for v in result.get("verdicts") or () if v.get("condition")]
    said = _judged(found, place) or _streamed(place, levels[0]) or _plain(place, levels[0])
    return chain("; ", [said, failed_there(point, is_only=True)])


def _asked(level: Mapping[str, Any], point: Point) -> str:
    """The rate, of how much where a rate was asked for."""
    rate = rate_of({"ok_per_s": point.ok_per_s, "at_least": point.at_least})
    # Beside users, the answers of arrivals are not counted apart.
    if is_mixed(level) or level.get("rate") is None:
        return rate
    return say("{rate} of {asked} asked for", rate=rate, asked=show_rate(level["rate"]))


def _over(level: Mapping[str, Any]) -> Text:
    """Over how many connections, and from how many users, where they share them."""
    users = counted(level["concurrency"], "user")
    if is_of_locust(level):
        is_all = has_one_crowd(level)
        return say("to {users}", users=users) if is_all else say("to up to {users}", users=users)
    asked = (level.get("connections") or {}).get("asked") or level["concurrency"]
    if not is_shared(level):
        return say("over {connections}", connections=counted(level["concurrency"], "connection"))
    connections = counted(asked, "connection")
    return say("from {users} over {connections}", users=users, connections=connections)


def _judged(found: Sequence[Mapping[str, Any]], place: str) -> str | None:
    """The worst word of the SLOs of a run, with everything that earned it."""
    for word, write in _JUDGED.items():
        judged = [(Condition.parse(v["condition"]), v) for v in found if v["word"] == word]
        if judged:
            each = [
                say("{condition} ({seen})", condition=phrase(condition), seen=seen(condition, v))
                for condition, v in judged
            ]
            return write(conditions=join(each), place=place)
    return None


_JUDGED: dict[str, Callable[..., Text]] = {
    "broken": lambda **what: say("Breaks {conditions} at {place}", **what),
    "not shown": lambda **what: say("Cannot show {conditions} at {place}", **what),
    "held": lambda **what: say("Holds {conditions} at {place}", **what),
}


def _streamed(place: str, level: Mapping[str, Any]) -> str | None:
    """When the first text comes, and how fast the rest, where answers are streams."""
    stream = level.get("stream") or {}
    ttft, each = stream.get("ttft_ms"), stream.get("stream_tokens_per_s")
    if not ttft:
        return None
    p95 = ttft.get("p95")
    first = say("ttft {time} on average", time=show_ms(ttft["mean"]))
    if p95 is not None:
        first = say("ttft p95 {time}", time=show_ms(p95))
    if each:
        first = say("{first} and {rate} tokens/s each", first=first, rate=show_rate(each["mean"]))
    return say("Streams {place} with {first}", place=place, first=first)


def _plain(place: str, level: Mapping[str, Any]) -> str:
    """How long answers took from when they were due: who waited for a turn has waited."""
    response = (level.get("latency") or {}).get("response_ms") or {}
    at_least = "≥ " if (level.get("counts") or {}).get("dropped") else ""
    if response.get("p95") is not None:
        time = f"{at_least}{show_ms(response['p95'])}"
        return say("Answers {place} with p95 {time}", place=place, time=time)
    time = f"{at_least}{show_ms(response.get('mean'))}"
    return say("Answers {place} in {time} on average", place=place, time=time)
