"""The verdict in one sentence, and what there is to say of failures.

In words that can be pasted into a ticket. Nothing is judged here: what is claimed, and what is
not, was decided in stats; this module only says it, and never says more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torr.model.condition import Condition
from torr.report import comparison_sentence, diff, diff_sentence, plateau
from torr.report.wording import because, first_text, join, most_by
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
from torr.units import show_connections, show_count, show_ms, show_percent, show_rate

Result = Mapping[str, Any]

SHARED = "(client and target share this machine)"
_OPERATORS = {"<": "under", "<=": "at most", ">": "over", ">=": "at least"}


def verdict(result: Result) -> str:
    """Return what the run found, as one sentence."""
    if result["kind"] == "diff":
        return diff_sentence.verdict(result)
    if result["kind"] == "compare":
        return comparison_sentence.verdict(result)
    ended_by = result.get("ended_by")
    said = _found(result)
    return f"{said[:-1]}; ended early by {ended_by}." if ended_by else said


def is_measured(result: Result) -> bool:
    """Return whether there is anything to say numbers of."""
    is_told = result["kind"] == "diff" or bool(result.get("failures"))
    return is_told or any(map(attempted, result["levels"]))


def success(result: Result) -> str:
    """Return what a ladder, or each side of a diff, found about failures, as one sentence."""
    if result["kind"] == "diff":
        each = [f"{side.name}: {_failures(side)}" for side in diff.sides(dict(result))]
        return f"{'; '.join(each)}."
    said = _failures(Series.of(result["name"], result["levels"]))
    return f"{said[0].upper()}{said[1:]}."


def phrase(condition: Condition) -> str:
    """Return a condition in words: `p95 under 500 ms`, `success at least 99.9 %`."""
    return f"{condition.label} {_OPERATORS[condition.op]} {condition.show_limit()}"


def _found(result: Result) -> str:
    if not is_measured(result):
        return _of_events(result) or f"Nothing was measured{because(_failure(result))}."
    return _of_ladder(result) if result["kind"] == "ladder" else _of_run(result)


def _of_events(result: Result) -> str | None:
    """What there is to say where nothing but events was told of."""
    events = sum(map(events_of, result["levels"]))
    if not events or all(map(is_limited, result["levels"])):
        return _of_run(result) if events else None
    said = f"the locustfile itself told of {show_count(events, 'event')}"
    return f"No request was sent by torr's clients; {said}."


def _of_ladder(result: Result) -> str:
    capacity = result.get("capacity") or stats.analyse(result["levels"])
    series = Series.of(result["name"], result["levels"])
    if capacity["peak"] is None:
        return f"Claims nothing: {capacity['reasons']['peak']}{_errors(result)}."
    knee = capacity["knee"]
    end = f"; the knee is at {knee['concurrency']:,}" if knee else ""
    if capacity["slo"] is not None:
        end = end or _lower_peak(capacity["peak"], capacity["slo"])
        return f"{_holds(capacity['slo'], series)}{end}{_dead(series)}."
    end += _dead(series)
    peaks = _peaks(capacity["peak"], series)
    first = _first_failing(result)
    if first is not None:
        failing = f"{_fails(first, series)}{_held_above(result, first)}"
        return f"{failing}; it {peaks[0].lower()}{peaks[1:]}{end}."
    return f"{peaks}{end}."


def _holds(slo: Mapping[str, Any], series: Series) -> str:
    where = f"at {series.places(slo['concurrency'])}"
    if slo["beyond"] is None:
        where += f", {_top(series)},"
    conditions = join([phrase(Condition.parse(text)) for text in slo["conditions"]])
    failed = _failed(series.at(slo["concurrency"]))
    return f"Holds {_rate(slo)} {where} with {conditions}{failed}"


def _lower_peak(peak: Mapping[str, Any], slo: Mapping[str, Any]) -> str:
    """Where more connections hold the SLO but bring less, say how few bring the most."""
    if slo["concurrency"] in peak["plateau"] or slo["concurrency"] < peak["concurrency"]:
        return ""
    return f"; the peak, {show_rate(peak['ok_per_s'])}, is reached at {peak['concurrency']:,}"


def _peaks(peak: Mapping[str, Any], series: Series) -> str:
    start = peak["concurrency"]
    failed = _failed(series.at(peak["highest_at"]))
    if len(series.shown) == 1:
        return f"Answers {_rate(peak)} at {series.places(start)}, the only level{failed}"
    if start == series.points[-1].concurrency:
        return f"Reaches {_rate(peak)} at {series.places(start)}, {_top(series)}{failed}"
    if plateau.goes_on(peak, series):
        return f"Peaks at {_rate(peak)}, reached from {series.places(start)} on{failed}"
    where = series.places(*peak["plateau"])
    return f"Peaks at {_rate(peak)}, reached at {where}{failed}"


def _top(series: Series) -> str:
    last = series.points[-1].concurrency
    if any(point.concurrency > last for point in series.limited):
        return "the highest level that the generator could hold"
    if any(point.concurrency > last for point in series.cut):
        return "the highest level measured to its end"
    if any(point.concurrency > last for point in series.starved):
        return "the highest level at which every user was answered"
    return "the highest level measured"


def _dead(series: Series) -> str:
    """Levels at which nothing succeeded: no other number of a ladder says it."""
    dead = [point for point in series.points if point.is_dead]
    if not dead:
        return ""
    if len(dead) > 1 and list(series.points[-len(dead) :]) == dead:
        return f"; from {series.places(dead[0].concurrency)} on no request succeeded"
    places = series.places(*(point.concurrency for point in dead))
    return f"; at {places} no request succeeded"


def _first_failing(result: Result) -> Mapping[str, Any] | None:
    """The verdict that stood in the way of a capacity: of the lowest level, the worst."""
    found = [v for v in result.get("verdicts") or () if v.get("condition")]
    usable = {p.concurrency for p in Series.of("", result["levels"]).points}
    failing = [v for v in found if v["word"] != "held" and v["concurrency"] in usable]
    return min(failing, key=lambda v: (v["concurrency"], v["word"] != "broken"), default=None)


def _fails(found: Mapping[str, Any], series: Series) -> str:
    condition = Condition.parse(found["condition"])
    at = series.places(found["concurrency"])
    if found["word"] == "broken":
        seen = _seen(condition, found)
        return f"Does not hold {phrase(condition)} even at {at} ({seen})"
    return f"Cannot show {phrase(condition)} at {at} ({found['reason'] or 'no reason was kept'})"


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
    span = f"from {held[0]:,} to {held[-1]:,}" if len(held) > 1 else f"at {held[0]:,}"
    return f", though every SLO holds {span} (begin there, or measure longer)"


def _of_run(result: Result) -> str:
    levels = [level for level in result["levels"] if not is_limited(level)]
    if not levels:
        reasons = (result["levels"][0].get("health") or {}).get("reasons") or []
        return f"Claims nothing: the generator was the limit{because(first_text(reasons))}."
    if not any((level.get("counts") or {}).get("ok") for level in levels):
        return f"No request succeeded{_errors(result)}."
    if all(map(is_starved, levels)):
        return f"Claims nothing: {starved_text(levels[0])}."
    point = Series.of("", levels).shown[0]
    # Beside users, the answers of arrivals are not counted apart.
    asked = None if is_mixed(levels[0]) else levels[0].get("rate")
    rate = _rate({"ok_per_s": point.ok_per_s, "at_least": point.at_least})
    if asked is not None:
        rate = f"{rate} of {show_rate(asked)} asked for"
    place = f"{rate} {_over(levels[0])}"
    found = [v for v in result.get("verdicts") or () if v.get("condition")]
    said = _judged(found, place) or _streamed(place, levels[0]) or _plain(place, levels[0])
    return f"{said}{_failed(point).removesuffix(' there')}."


def _over(level: Mapping[str, Any]) -> str:
    """Over how many connections, and from how many users, where they share them."""
    users = level["concurrency"]
    if is_of_locust(level):
        most = "" if has_one_crowd(level) else "up to "
        return f"to {most}{show_count(users, 'user')}"
    asked = (level.get("connections") or {}).get("asked") or users
    shared = f"from {show_count(users, 'user')} " if is_shared(level) else ""
    return f"{shared}over {show_connections(asked if shared else users)}"


def _judged(found: Sequence[Mapping[str, Any]], place: str) -> str | None:
    """The worst word of the SLOs of a run, with everything that earned it."""
    for word, verb in (("broken", "Breaks"), ("not shown", "Cannot show"), ("held", "Holds")):
        judged = [(Condition.parse(v["condition"]), v) for v in found if v["word"] == word]
        if judged:
            each = [f"{phrase(condition)} ({_seen(condition, v)})" for condition, v in judged]
            return f"{verb} {join(each)} at {place}"
    return None


def _seen(condition: Condition, found: Mapping[str, Any]) -> str:
    """The value; where it is not shown or missing, the reason."""
    if found["value"] is None or found["word"] == "not shown":
        return found["reason"] or "no value"
    said = condition.show(found["value"])
    # A broken one may break by something else than its value, such as requests that were dropped.
    return f"{said}; {found['reason']}" if found["word"] == "broken" and found["reason"] else said


def _streamed(place: str, level: Mapping[str, Any]) -> str | None:
    """When the first text comes, and how fast the rest, where answers are streams."""
    stream = level.get("stream") or {}
    ttft, each = stream.get("ttft_ms"), stream.get("stream_tokens_per_s")
    if not ttft:
        return None
    p95 = ttft.get("p95")
    first = (
        f"ttft {show_ms(ttft['mean'])} on average" if p95 is None else f"ttft p95 {show_ms(p95)}"
    )
    speed = f" and {show_rate(each['mean'])} tokens/s each" if each else ""
    return f"Streams {place} with {first}{speed}"


def _plain(place: str, level: Mapping[str, Any]) -> str:
    """How long answers took from when they were due: who waited for a turn has waited."""
    response = (level.get("latency") or {}).get("response_ms") or {}
    at_least = "≥ " if (level.get("counts") or {}).get("dropped") else ""
    if response.get("p95") is not None:
        return f"Answers {place} with p95 {at_least}{show_ms(response['p95'])}"
    return f"Answers {place} in {at_least}{show_ms(response.get('mean'))} on average"


def _failures(series: Series) -> str:
    rates = [(p.success_rate, p.concurrency) for p in series.points if p.success_rate is not None]
    hung = [p.concurrency for p in series.points if p.success_rate is None]
    more = f"; none was answered at {series.places(*hung)}" if hung else ""
    if not rates:
        return f"no attempt ended at a level that claims anything{more}"
    worst, where = min(rates)
    if worst == 100:
        span = f"{rates[0][1]:,} to " if len(rates) > 1 else ""
        return f"no request failed, {span}{series.places(rates[-1][1])}{more}"
    failed = f"{show_percent(100 - worst)} failed at {series.places(where)}{more}"
    first = next(place for place, (rate, _) in enumerate(rates) if rate < 100)
    return f"no request failed up to {rates[first - 1][1]:,}, {failed}" if first else failed


def _rate(claim: Mapping[str, Any]) -> str:
    if claim.get("at_least"):
        return f"≥ {show_rate(claim['ok_per_s'])} requests/s {SHARED}"
    return f"{show_rate(claim['ok_per_s'])} requests/s"


def _failed(point: Point | None) -> str:
    """Failures of the level that a sentence speaks of, however few."""
    if point is None or point.success_rate is None or point.success_rate == 100:
        return ""
    return f"; {show_percent(100 - point.success_rate)} failed there"


def _errors(result: Result) -> str:
    """How many failed and the commonest reason, where there were errors."""
    levels = result["levels"]
    count = sum(map(failed, levels))
    return f": {count:,} failed{most_by(levels)}" if count else ""


def _failure(result: Result) -> str | None:
    return next((level["failure"] for level in result["levels"] if level.get("failure")), None)
