"""The capacity of a ladder: peak, knee, capacity under SLOs, scalability.

All numbers are medians of rounds. Levels that the generator limited, that were cut short or whose
users starved claim nothing and are left out; contended ones count, and every claim on them is a
lower bound (`at_least`). A level without a successful request counts: it holds no SLO, and no claim
reaches past it. A claim that cannot be made is null, with its reason in `reasons`.
"""

from __future__ import annotations

from statistics import median, median_low
from typing import TYPE_CHECKING

from msgspec.structs import replace

from torr.messages.message import Message, message
from torr.results.capacity import Capacity, Knee, Peak, SloCapacity
from torr.results.position import ARRIVAL
from torr.stats.series import Series, behind_text, by_position, fewer_users_text
from torr.stats.trials import by_cell, candidates
from torr.verdicts import slo as slo_of_level
from torr.verdicts import slo_interval
from torr.verdicts.slo_interval import lies_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.capacity import UslFit
    from torr.results.level import Level
    from torr.results.position import Position
    from torr.results.series import LevelPoint
    from torr.results.verdict import ConditionWord, Verdict

PLATEAU = 0.95
LEAST_SUCCESS = 99.0

_CUT_SHORT = message("slo.cut_short", "the level was cut short")

_WORDS: tuple[ConditionWord, ...] = ("broken", "not shown", "held")
"""In ascending order: the worst first."""


def analyse(levels: Sequence[Level], slos: Sequence[Condition] = ()) -> Capacity:
    """Return the capacity of a ladder, with `reasons` of what is None in it."""
    series = Series.of("", levels)
    if not any(point.ok_per_s for point in series.points):
        return Capacity(reasons=dict.fromkeys(("peak", "knee", "slo", "usl"), _why_nothing(series)))
    highest = peak(series.points)
    slo, why_no_slo = under_slo(levels, slos)
    if series.noun == ARRIVAL:
        # Knee and USL describe users, whose rate depends on the target; here the rate is given.
        return Capacity(peak=highest, slo=slo, reasons={"slo": why_no_slo} if why_no_slo else {})
    knee_point, why_no_knee = knee(series)
    fit, why_no_fit = _usl(series.points, highest.concurrency)
    reasons = {"knee": why_no_knee, "slo": why_no_slo, **why_no_fit}
    return Capacity(
        peak=highest,
        knee=knee_point,
        slo=slo,
        usl=fit,
        reasons={key: why for key, why in reasons.items() if why},
    )


def verdicts(levels: Sequence[Level], slos: Sequence[Condition]) -> list[Verdict]:
    """Return the verdicts of SLOs: one for each level and SLO, ascending."""
    return [
        _with_interval(judge(slo, rounds), slo, rounds)
        for rounds in by_position(levels).values()
        for slo in slos
    ]


def verdicts_of_trials(levels: Sequence[Level], slos: Sequence[Condition]) -> list[Verdict]:
    """Return the verdicts of SLOs in a comparison: one for each cell, candidate and SLO.

    Only rounds of one candidate in one cell are judged together.
    """
    return [
        replace(verdict, candidate=name, factors=cell.factors)
        for cell, rounds in by_cell(levels).items()
        for name in candidates(levels)
        for verdict in verdicts(
            [trials[name] for trials in rounds.values() if name in trials], slos
        )
    ]


def peak(points: Sequence[LevelPoint]) -> Peak:
    """Return the highest ok/s with its plateau, the levels that reach 95 % of it.

    `concurrency` is the plateau's lowest level, the one to run at (with `ok_per_s_there`);
    `highest_at` is the level of the highest number, which on a flat plateau is chance.
    """
    highest = max(points, key=lambda point: point.ok_per_s)
    plateau = [point for point in points if point.ok_per_s >= PLATEAU * highest.ok_per_s]
    return Peak(
        concurrency=plateau[0].concurrency,
        ok_per_s=highest.ok_per_s,
        rate=plateau[0].rate,
        plateau=[point.position for point in plateau],
        highest_at=highest.position,
        ok_per_s_there=plateau[0].ok_per_s,
        at_least=highest.at_least,
    )


def knee(series: Series) -> tuple[Knee | None, Message | None]:
    """Return the level with the largest ok/s ÷ mean service time, or None and the reason.

    Kleinrock's power (Power and deterministic rules of thumb, 1979). At the lowest or highest
    level it is an edge of the ladder, not a knee of the system. A level at which nothing succeeded
    has no power, so it bounds none.
    """
    points = [point for point in series.points if not point.is_dead]
    if len(points) < 3:
        return None, _why_too_few(len(points), is_of_all=len(points) == len(series.points))
    best = max(points, key=_power)
    if not best.service_ms:
        return None, message("knee.no_service_time", "no level has a service time")
    if best is points[0]:
        return None, message(
            "knee.starts_too_late",
            "the ladder starts too late: power is greatest at its lowest level, {level:,}",
            level=best.position,
        )
    if best is points[-1]:
        return None, _why_none_above(series, best.position)
    at_knee = Knee(
        concurrency=best.concurrency,
        ok_per_s=best.ok_per_s,
        service_ms=best.service_ms,
        at_least=best.at_least,
    )
    return at_knee, None


def under_slo(
    levels: Sequence[Level], slos: Sequence[Condition]
) -> tuple[SloCapacity | None, Message | None]:
    """Return the highest level such that it and every lower one hold every SLO.

    The lowest levels with too few responses to show the SLOs are skipped where a higher level holds
    them. `beyond` is the first level above that does not, with the SLO, its value and word; null
    when the ladder ended before.
    """
    if not slos:
        return None, message("capacity.no_slo", "no SLO was given")
    held: LevelPoint | None = None
    beyond: Verdict | None = None
    for rounds in by_position(levels).values():
        series = Series.of("", rounds)
        if series.limited:
            continue
        verdict = _first_not_held(slos, rounds)
        if series.cut and (verdict is None or verdict.word != "broken"):
            continue
        if verdict is None:
            held, beyond = series.points[0], None
            continue
        beyond = beyond or verdict
        if held is not None or not _lacks_only_answers(slos, rounds):
            break
    if held is None:
        return None, _why_no_slo(beyond)
    capacity = SloCapacity(
        concurrency=held.concurrency,
        rate=held.rate,
        ok_per_s=held.ok_per_s,
        at_least=held.at_least,
        conditions=[slo.text or str(slo) for slo in slos],
        beyond=beyond,
    )
    return capacity, None


def judge(slo: Condition, rounds: Sequence[Level]) -> Verdict:
    """Judge one SLO at one level over its rounds: the median value, the median word.

    Of two middle words the worse one counts. The rounds that the generator limited are left out.
    A level cut short, one of fewer users, or one whose target fell behind can break an SLO,
    but not hold it. Rounds cut short that break none count only if there is no other.
    """
    where = {"concurrency": rounds[0].concurrency, "rate": rounds[0].offered_rate}
    n = len(rounds)
    usable = [level for level in rounds if not level.is_limited]
    if not usable:
        return replace(slo_of_level.judge(slo, rounds[0]), n=n, **where)
    attempts = sum(slo_of_level.ended(slo, level) for level in usable)
    by_round = [_of_whole_load(slo_of_level.judge(slo, level, attempts), level) for level in usable]
    pairs = zip(by_round, usable, strict=True)
    by_round = [v for v, level in pairs if v.word == "broken" or not level.cut_short] or by_round
    word = _WORDS[median_low(_WORDS.index(verdict.word) for verdict in by_round)]
    values = [verdict.value for verdict in by_round if verdict.value is not None]
    same = [verdict for verdict in by_round if verdict.word == word]
    reason = same[0].reason
    if len(same) < len(by_round):
        reason = _in_some(word, len(same), len(by_round))
    if all(level.cut_short for level in usable) and not attempts:
        reason = _CUT_SHORT
    value = median(values) if values else None
    return replace(by_round[0], value=value, n=n, **where, word=word, reason=reason)


def _in_some(word: ConditionWord, some: int, rounds: int) -> Message:
    if word == "held":
        return message(
            "slo.held_in_some", "held in {some} of {rounds} rounds", some=some, rounds=rounds
        )
    if word == "broken":
        return message(
            "slo.broken_in_some", "broken in {some} of {rounds} rounds", some=some, rounds=rounds
        )
    return message(
        "slo.not_shown_in_some", "not shown in {some} of {rounds} rounds", some=some, rounds=rounds
    )


def _of_whole_load(verdict: Verdict, level: Level) -> Verdict:
    """Return the verdict, not shown where it is held for a part of the load only.

    A target that does not keep up with its arrivals answers later and later: a longer window would
    have higher times.
    """
    if verdict.word != "held":
        return verdict
    reason = None
    if level.cut_short:
        reason = _CUT_SHORT
    elif level.falls_behind:
        reason = behind_text(level)
    elif level.is_of_fewer_users:
        reason = fewer_users_text(level)
    return verdict if reason is None else replace(verdict, word="not shown", reason=reason)


def _first_not_held(slos: Sequence[Condition], rounds: Sequence[Level]) -> Verdict | None:
    """Return the verdict that ends the capacity: a broken one before one that is not shown."""
    failing = [v for slo in slos if (v := judge(slo, rounds)).word != "held"]
    broken = [verdict for verdict in failing if verdict.word == "broken"]
    return next(iter(broken or failing), None)


def _lacks_only_answers(slos: Sequence[Condition], rounds: Sequence[Level]) -> bool:
    """Return whether a level holds each SLO or has too few responses for it, and no failure."""
    usable = [level for level in rounds if not level.is_limited]
    if any(x.is_of_fewer_users or x.counts.failed or x.falls_behind for x in usable):
        return False
    attempts = {slo: sum(slo_of_level.ended(slo, level) for level in usable) for slo in slos}
    verdicts = [slo_of_level.judge(slo, level, attempts[slo]) for slo in slos for level in usable]
    return all(x.word == "held" or slo_of_level.has_too_few_answers(x) for x in verdicts)


def _with_interval(verdict: Verdict, slo: Condition, rounds: Sequence[Level]) -> Verdict:
    """Return the verdict with the interval of its value, and a note where it contains the limit."""
    if verdict.value is None:
        return verdict
    ends = slo_interval.interval(slo, [level for level in rounds if not level.is_limited])
    reason = verdict.reason
    if reason is None and verdict.word != "not shown" and lies_within(slo.limit, ends):
        reason = message("slo.within_interval", "the limit lies within the 90 % interval")
    return replace(verdict, interval=ends, reason=reason)


def _usl(
    points: Sequence[LevelPoint], plateau_start: int
) -> tuple[UslFit | None, dict[str, Message]]:
    from torr.stats import usl

    measured = [
        usl.UslPoint(
            users=point.concurrency,
            ok_per_s=point.ok_per_s,
            spread=(point.spread or 0.0) if point.rounds > 1 else 0.0,
        )
        for point in points
        if point.success_rate is not None and point.success_rate >= LEAST_SUCCESS
    ]
    return usl.analyse(measured, plateau_start)


def _power(point: LevelPoint) -> float:
    return point.ok_per_s / point.service_ms if point.service_ms else 0.0


def _why_too_few(levels: int, *, is_of_all: bool) -> Message:
    if is_of_all:
        return message("knee.few_levels", "needs 3 levels, there are {levels}", levels=levels)
    return message(
        "knee.few_answered_levels",
        "needs 3 levels at which a request succeeded, there are {levels}",
        levels=levels,
    )


def _why_none_above(series: Series, best: Position) -> Message:
    """Return why the level with the greatest power is the highest one."""

    def has_above(points: Sequence[LevelPoint]) -> bool:
        return any(point.position > best for point in points)

    if has_above(series.limited):
        return message(
            "knee.limited_above",
            "the ladder ends too early: power is greatest at its highest level, {level:,}, as those"
            " above were limited by the generator",
            level=best,
        )
    if has_above(series.cut):
        return message(
            "knee.cut_above",
            "the ladder ends too early: power is greatest at its highest level, {level:,}, as the"
            " one above was cut short",
            level=best,
        )
    if has_above(series.starved):
        return message(
            "knee.starved_above",
            "the ladder ends too early: power is greatest at its highest level, {level:,}, as some"
            " users got no response above it",
            level=best,
        )
    if has_above(series.points):
        return message(
            "knee.none_above",
            "the ladder ends too early: power is greatest at its highest level, {level:,}, as no"
            " request succeeded above it",
            level=best,
        )
    return message(
        "knee.ends_too_early",
        "the ladder ends too early: power is greatest at its highest level, {level:,}",
        level=best,
    )


def _why_nothing(series: Series) -> Message:
    if series.cut and not series.points:
        return message("capacity.cut_short", "no level was measured to its end")
    if series.limited and not series.points:
        return message("capacity.generator_limit", "the generator was the limit at every level")
    if series.starved and not series.points:
        return message("capacity.starved", "some users got no response, at every level")
    return message("capacity.no_ok_answer", "no level has an ok response")


def _why_no_slo(beyond: Verdict | None) -> Message:
    if beyond is None:
        return message("capacity.no_level", "no level was measured")
    where = _at_lowest(beyond)
    if beyond.reason is None:
        return where
    return message("clause.because", "{what}: {why}", what=where, why=beyond.reason)


def _at_lowest(beyond: Verdict) -> Message:
    condition, level = beyond.condition or "", beyond.position
    if beyond.word == "broken":
        return message(
            "capacity.broken_at_lowest",
            "{condition} is broken at the lowest level, {level:,}",
            condition=condition,
            level=level,
        )
    return message(
        "capacity.not_shown_at_lowest",
        "{condition} is not shown at the lowest level, {level:,}",
        condition=condition,
        level=level,
    )
