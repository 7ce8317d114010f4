"""The verdict of a ladder as one sentence: its capacity or peak, the knee, and failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, changed, join, say
from torr.model.condition import Condition
from torr.report.data import plateau
from torr.report.data.wording import places
from torr.report.text.claims import errors_of, failed_there, phrase, rate_of, value_or_reason
from torr.results.capacity import Capacity
from torr.results.position import ARRIVAL
from torr.stats.series import Series
from torr.units import show_rate

if TYPE_CHECKING:
    from torr.results.capacity import Peak, SloCapacity
    from torr.results.position import Position
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


def verdict(result: RunResult) -> Text:
    """Return what a ladder says of capacity, a clause that ends without a full stop."""
    capacity = result.capacity or Capacity()
    series = Series.of(result.name, result.levels)
    if capacity.peak is None:
        why = capacity.reasons.get("peak") or say("no reason was recorded")
        return say("Claims nothing: {why}{errors}", why=why, errors=errors_of(result))
    knee = capacity.knee
    end = say("the knee is at {level:,}", level=knee.position) if knee else ""
    if capacity.slo is not None:
        end = end or _beyond(capacity.slo, series) or _lower_peak(capacity.peak, capacity.slo)
        return chain("; ", [*_holds(capacity.slo, series), end, _dead(series)])
    peaks, *failed = _peaks(capacity.peak, series)
    first = _first_failing(result)
    if first is not None:
        failing = chain("", [_fails(first, series), _held_above(result, first)])
        it = changed(peaks, lambda text: text[0].lower() + text[1:])
        return chain("; ", [failing, say("it {peaks}", peaks=it), *failed, end, _dead(series)])
    return chain("; ", [peaks, *failed, end, _dead(series)])


def _holds(slo: SloCapacity, series: Series) -> tuple[str, str]:
    """Return the capacity under SLO, and the failures at that level."""
    where = places(series, slo.position)
    if slo.beyond is None:
        where = say("{place}, {top},", place=where, top=_top(series))
    conditions = join([phrase(Condition.parse(text)) for text in slo.conditions])
    held = say(
        "Holds {rate} at {where} with {conditions}",
        rate=rate_of(slo),
        where=where,
        conditions=conditions,
    )
    return held, failed_there(series.at(slo.position))


def _beyond(slo: SloCapacity, series: Series) -> str:
    """Return the first rate above the capacity; between users the knee says more."""
    verdict = slo.beyond
    if series.noun != ARRIVAL or verdict is None:
        return ""
    condition = Condition.parse(verdict.condition or "")
    place = places(series, verdict.position)
    values = {"condition": phrase(condition), "place": place}
    if verdict.word == "broken":
        seen = value_or_reason(condition, verdict)
        return say("{place} break {condition} ({seen})", **values, seen=seen)
    why = verdict.reason or say("no reason was recorded")
    return say("{place} do not show {condition} ({why})", **values, why=why)


def _lower_peak(peak: Peak, slo: SloCapacity) -> str:
    """Return the lower level with the peak, where more connections hold the SLO but bring less."""
    if slo.position in peak.plateau or slo.position < peak.position:
        return ""
    rate = show_rate(peak.ok_per_s)
    return say("the peak, {rate}, is reached at {at:,}", rate=rate, at=peak.position)


def _peaks(peak: Peak, series: Series) -> tuple[str, str]:
    """Return the peak, and the failures at that level."""
    there = series.at(peak.position if peak.highest_at is None else peak.highest_at)
    return _reached(peak, series), failed_there(there)


def _reached(peak: Peak, series: Series) -> str:
    start = places(series, peak.position)
    rate = rate_of(peak)
    if len(series.shown) == 1:
        return say("Answers {rate} at {place}, the only level", rate=rate, place=start)
    if peak.position == series.points[-1].position:
        return say("Reaches {rate} at {place}, {top}", rate=rate, place=start, top=_top(series))
    if plateau.goes_on(peak, series):
        return say("Peaks at {rate}, reached from {place} on", rate=rate, place=start)
    where = places(series, *peak.plateau)
    return say("Peaks at {rate}, reached at {place}", rate=rate, place=where)


def _top(series: Series) -> Text:
    last = series.points[-1].position
    if any(point.position > last for point in series.limited):
        return say("the highest level that the generator could hold")
    if any(point.position > last for point in series.cut):
        return say("the highest level measured to its end")
    if any(point.position > last for point in series.starved):
        return say("the highest level at which every user was answered")
    return say("the highest level measured")


def _dead(series: Series) -> str:
    """Return the levels at which nothing succeeded, which no other number of a ladder shows."""
    dead = [point.position for point in series.points if point.is_dead]
    if not dead:
        return ""
    if len(dead) > 1 and [point.position for point in series.points[-len(dead) :]] == dead:
        return say("from {place} on no request succeeded", place=places(series, dead[0]))
    return say("at {place} no request succeeded", place=places(series, *dead))


def _first_failing(result: RunResult) -> Verdict | None:
    """Return the verdict that prevented a capacity: of the lowest level, the worst."""
    usable = {p.position for p in Series.of("", result.levels).points}
    failing = [v for v in result.slo_verdicts if v.word != "held" and v.position in usable]
    return min(failing, key=lambda v: (v.position, v.word != "broken"), default=None)


def _fails(first: Verdict, series: Series) -> str:
    condition = Condition.parse(first.condition or "")
    values = {"condition": phrase(condition), "place": places(series, first.position)}
    if first.word == "broken":
        values["seen"] = value_or_reason(condition, first)
        return say("Does not hold {condition} even at {place} ({seen})", **values)
    why = first.reason or say("no reason was recorded")
    return say("Cannot show {condition} at {place} ({why})", **values, why=why)


def _held_above(result: RunResult, first: Verdict) -> str:
    """Return the levels that hold everything above a lowest one that does not show it."""
    held: list[Position] = []
    usable = [p.position for p in Series.of("", result.levels).points]
    for position in usable:
        words = {v.word for v in result.verdicts if v.position == position}
        if words == {"held"}:
            held.append(position)
        elif held or "broken" in words:
            break
    if first.word == "broken" or not held:
        return ""
    span = say("at {level:,}", level=held[0])
    if len(held) > 1:
        span = say("from {low:,} to {high:,}", low=held[0], high=held[-1])
    return say(", though every SLO holds {span} (begin there, or measure longer)", span=span)
