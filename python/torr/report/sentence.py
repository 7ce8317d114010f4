"""The verdict in one sentence, and what there is to say of failures.

In words that can be pasted into a ticket. Nothing is judged here: what is claimed, and what is
not, was decided in stats; this module only says it, and never says more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torr.model.condition import Condition
from torr.report import comparison_sentence, diff, diff_sentence, plateau
from torr.report.say import Text, chain, changed, join, say
from torr.report.told import told
from torr.report.wording import because, counted, first_text, most_by, places
from torr.stats import capacity as stats
from torr.stats.series import (
    Point,
    Series,
    attempted,
    events_of,
    failed,
    has_one_crowd,
    is_limited,
    is_mixed,
    is_of_locust,
    is_shared,
    is_starved,
    starved_text,
)
from torr.units import show_ms, show_percent, show_rate

Result = Mapping[str, Any]

SHARED = say("(client and target share this machine)")
_CONDITIONS: dict[str, Callable[..., Text]] = {
    "<": lambda **what: say("{label} under {limit}", **what),
    "<=": lambda **what: say("{label} at most {limit}", **what),
    ">": lambda **what: say("{label} over {limit}", **what),
    ">=": lambda **what: say("{label} at least {limit}", **what),
}


def verdict(result: Result) -> Text:
    """Return what the run found, as one sentence."""
    if result["kind"] == "diff":
        return diff_sentence.verdict(result)
    if result["kind"] == "compare":
        return comparison_sentence.verdict(result)
    ended_by = result.get("ended_by")
    end = say("ended early by {what}", what=ended_by) if ended_by else ""
    return say("{said}.", said=chain("; ", [_found(result), end]))


def is_measured(result: Result) -> bool:
    """Return whether there is anything to say numbers of."""
    is_told = result["kind"] == "diff" or bool(result.get("failures"))
    return is_told or any(map(attempted, result["levels"]))


def success(result: Result) -> Text:
    """Return what a ladder, or each side of a diff, found about failures, as one sentence."""
    if result["kind"] == "diff":
        sides = diff.sides(dict(result))
        each = [say("{name}: {said}", name=side.name, said=_failures(side)) for side in sides]
        return say("{said}.", said=chain("; ", each))
    said = _failures(Series.of(result["name"], result["levels"]))
    return say("{said}.", said=changed(said, lambda text: text[0].upper() + text[1:]))


def phrase(condition: Condition) -> str:
    """Return a condition in words: `p95 under 500 ms`, `success at least 99.9 %`."""
    return _CONDITIONS[condition.op](label=condition.label, limit=condition.show_limit())


def _found(result: Result) -> str:
    if not is_measured(result):
        return _of_events(result) or say("Nothing was measured{why}", why=because(_failure(result)))
    return _of_ladder(result) if result["kind"] == "ladder" else _of_run(result)


def _of_events(result: Result) -> str | None:
    """What there is to say where nothing but events was told of."""
    events = sum(map(events_of, result["levels"]))
    if not events or all(map(is_limited, result["levels"])):
        return _of_run(result) if events else None
    none = say("No request was sent by torr's clients")
    told_of = say("the locustfile itself told of {events}", events=counted(events, "event"))
    return chain("; ", [none, told_of])


def _of_ladder(result: Result) -> str:
    capacity = result.get("capacity") or stats.analyse(result["levels"])
    series = Series.of(result["name"], result["levels"])
    if capacity["peak"] is None:
        why = told(capacity["reasons"]["peak"])
        return say("Claims nothing: {why}{errors}", why=why, errors=_errors(result))
    knee = capacity["knee"]
    end = say("the knee is at {level:,}", level=knee["concurrency"]) if knee else ""
    if capacity["slo"] is not None:
        end = end or _lower_peak(capacity["peak"], capacity["slo"])
        return chain("; ", [*_holds(capacity["slo"], series), end, _dead(series)])
    peaks, *failed = _peaks(capacity["peak"], series)
    first = _first_failing(result)
    if first is not None:
        failing = chain("", [_fails(first, series), _held_above(result, first)])
        it = changed(peaks, lambda text: text[0].lower() + text[1:])
        return chain("; ", [failing, say("it {peaks}", peaks=it), *failed, end, _dead(series)])
    return chain("; ", [peaks, *failed, end, _dead(series)])


def _holds(slo: Mapping[str, Any], series: Series) -> tuple[str, str]:
    """What is held, and what failed there."""
    where = places(series, slo["concurrency"])
    if slo["beyond"] is None:
        where = say("{place}, {top},", place=where, top=_top(series))
    conditions = join([phrase(Condition.parse(text)) for text in slo["conditions"]])
    held = say(
        "Holds {rate} at {where} with {conditions}",
        rate=_rate(slo),
        where=where,
        conditions=conditions,
    )
    return held, _failed(series.at(slo["concurrency"]))


def _lower_peak(peak: Mapping[str, Any], slo: Mapping[str, Any]) -> str:
    """Where more connections hold the SLO but bring less, say how few bring the most."""
    if slo["concurrency"] in peak["plateau"] or slo["concurrency"] < peak["concurrency"]:
        return ""
    rate = show_rate(peak["ok_per_s"])
    return say("the peak, {rate}, is reached at {at:,}", rate=rate, at=peak["concurrency"])


def _peaks(peak: Mapping[str, Any], series: Series) -> tuple[str, str]:
    """Where the peak is, and what failed there."""
    return _reached(peak, series), _failed(series.at(peak["highest_at"]))


def _reached(peak: Mapping[str, Any], series: Series) -> str:
    start = places(series, peak["concurrency"])
    rate = _rate(peak)
    if len(series.shown) == 1:
        return say("Answers {rate} at {place}, the only level", rate=rate, place=start)
    if peak["concurrency"] == series.points[-1].concurrency:
        return say("Reaches {rate} at {place}, {top}", rate=rate, place=start, top=_top(series))
    if plateau.goes_on(peak, series):
        return say("Peaks at {rate}, reached from {place} on", rate=rate, place=start)
    where = places(series, *peak["plateau"])
    return say("Peaks at {rate}, reached at {place}", rate=rate, place=where)


def _top(series: Series) -> Text:
    last = series.points[-1].concurrency
    if any(point.concurrency > last for point in series.limited):
        return say("the highest level that the generator could hold")
    if any(point.concurrency > last for point in series.cut):
        return say("the highest level measured to its end")
    if any(point.concurrency > last for point in series.starved):
        return say("the highest level at which every user was answered")
    return say("the highest level measured")


def _dead(series: Series) -> str:
    """Levels at which nothing succeeded: no other number of a ladder says it."""
    dead = [point.concurrency for point in series.points if point.is_dead]
    if not dead:
        return ""
    if len(dead) > 1 and [point.concurrency for point in series.points[-len(dead) :]] == dead:
        return say("from {place} on no request succeeded", place=places(series, dead[0]))
    return say("at {place} no request succeeded", place=places(series, *dead))


def _first_failing(result: Result) -> Mapping[str, Any] | None:
    """The verdict that stood in the way of a capacity: of the lowest level, the worst."""
    found = [v for v in result.get("verdicts") or () if v.get("condition")]
    usable = {p.concurrency for p in Series.of("", result["levels"]).points}
    failing = [v for v in found if v["word"] != "held" and v["concurrency"] in usable]
    return min(failing, key=lambda v: (v["concurrency"], v["word"] != "broken"), default=None)


def _fails(found: Mapping[str, Any], series: Series) -> str:
    condition = Condition.parse(found["condition"])
    said = {"condition": phrase(condition), "place": places(series, found["concurrency"])}
    if found["word"] == "broken":
        seen = _seen(condition, found)
        return say("Does not hold {condition} even at {place} ({seen})", **said, seen=seen)
    why = told(found["reason"]) if found["reason"] else say("no reason was kept")
    return say("Cannot show {condition} at {place} ({why})", **said, why=why)


def _held_above(result: Result, first: Mapping[str, Any]) -> str:
    """Where too little was seen at the lowest level: the levels above it that hold everything."""
    held: list[int] = []
    usable = [p.concurrency for p in Series.of("", result["levels"]).points]
    for concurrency in usable:
        words = {v["word"] for v in result["verdicts"] if v.get("concurrency") == concurrency}
        if words == {"held"}:
            held.append(concurrency)
        elif held or "broken" in words:
            break
    if first["word"] == "broken" or not held:
        return ""
    span = say("at {level:,}", level=held[0])
    if len(held) > 1:
        span = say("from {low:,} to {high:,}", low=held[0], high=held[-1])
    return say(", though every SLO holds {span} (begin there, or measure longer)", span=span)


def _of_run(result: Result) -> str:
    levels = [level for level in result["levels"] if not is_limited(level)]
    if not levels:
        reasons = (result["levels"][0].get("health") or {}).get("reasons") or []
        why = because(first_text(reasons))
        return say("Claims nothing: the generator was the limit{why}", why=why)
    if not any((level.get("counts") or {}).get("ok") for level in levels):
        return say("No request succeeded{errors}", errors=_errors(result))
    if all(map(is_starved, levels)):
        return say("Claims nothing: {why}", why=told(starved_text(levels[0])))
    point = Series.of("", levels).shown[0]
    place = say("{rate} {over}", rate=_asked(levels[0], point), over=_over(levels[0]))
    found = [v for v in result.get("verdicts") or () if v.get("condition")]
    said = _judged(found, place) or _streamed(place, levels[0]) or _plain(place, levels[0])
    return chain("; ", [said, _failed(point, is_only=True)])


def _asked(level: Mapping[str, Any], point: Point) -> str:
    """The rate, of how much where a rate was asked for."""
    rate = _rate({"ok_per_s": point.ok_per_s, "at_least": point.at_least})
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
                say("{condition} ({seen})", condition=phrase(condition), seen=_seen(condition, v))
                for condition, v in judged
            ]
            return write(conditions=join(each), place=place)
    return None


_JUDGED: dict[str, Callable[..., Text]] = {
    "broken": lambda **what: say("Breaks {conditions} at {place}", **what),
    "not shown": lambda **what: say("Cannot show {conditions} at {place}", **what),
    "held": lambda **what: say("Holds {conditions} at {place}", **what),
}


def _seen(condition: Condition, found: Mapping[str, Any]) -> str:
    """The value; where it is not shown or missing, the reason."""
    reason = told(found["reason"] or "")
    if found["value"] is None or found["word"] == "not shown":
        return reason or say("no value")
    # A broken one may break by something else than its value, such as requests that were dropped.
    why = reason if found["word"] == "broken" else ""
    return chain("; ", [condition.show(found["value"]), why])


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


def _failures(series: Series) -> Text:
    rates = [(p.success_rate, p.concurrency) for p in series.points if p.success_rate is not None]
    hung = [p.concurrency for p in series.points if p.success_rate is None]
    more = say("none was answered at {place}", place=places(series, *hung)) if hung else ""
    if not rates:
        return chain("; ", [say("no attempt ended at a level that claims anything"), more])
    return chain("; ", [_worst(rates, series), more])


def _worst(rates: Sequence[tuple[float, int]], series: Series) -> Text:
    """The largest share of failures and where, with the levels below it that had none."""
    worst, where = min(rates)
    if worst == 100:
        last = places(series, rates[-1][1])
        if len(rates) == 1:
            return say("no request failed, {place}", place=last)
        return say("no request failed, {first:,} to {last}", first=rates[0][1], last=last)
    share = show_percent(100 - worst)
    failed = say("{share} failed at {place}", share=share, place=places(series, where))
    first = next(place for place, (rate, _) in enumerate(rates) if rate < 100)
    if not first:
        return failed
    return say(
        "no request failed up to {last:,}, {failed}", last=rates[first - 1][1], failed=failed
    )


def _rate(claim: Mapping[str, Any]) -> Text:
    rate = show_rate(claim["ok_per_s"])
    if claim.get("at_least"):
        return say("≥ {rate} requests/s {shared}", rate=rate, shared=SHARED)
    return say("{rate} requests/s", rate=rate)


def _failed(point: Point | None, *, is_only: bool = False) -> str:
    """Failures of the level that a sentence speaks of, however few."""
    if point is None or point.success_rate is None or point.success_rate == 100:
        return ""
    share = show_percent(100 - point.success_rate)
    return (
        say("{share} failed", share=share) if is_only else say("{share} failed there", share=share)
    )


def _errors(result: Result) -> str:
    """How many failed and the commonest reason, where there were errors."""
    levels = result["levels"]
    count = sum(map(failed, levels))
    if not count:
        return ""
    return say(": {count:,} failed{most}", count=count, most=most_by(levels))


def _failure(result: Result) -> str | None:
    return next((level["failure"] for level in result["levels"] if level.get("failure")), None)
