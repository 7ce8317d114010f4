"""What a diff says, as one sentence, and how far to trust it.

A rate of a machine that client and target shared is a lower bound, and is written with `≥`. Its
ratio is a bound too (`≥` or `≤`); the ratio of two lower bounds bounds nothing, which is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torr.report import diff
from torr.report.verdict_table import printed
from torr.report.wording import join
from torr.units import show_count, show_rate

if TYPE_CHECKING:
    from torr.stats.series import Point, Series

Result = Mapping[str, Any]

INTERLEAVED = "The two took turns in rounds: drift hit both"
NOT_INTERLEAVED = "The two were not interleaved: drift between them is not excluded"


def verdict(result: Result) -> str:
    """Return the ratios of the requests/s, at the common levels and of the best of each side."""
    a, b = diff.sides(dict(result))
    found = [v for v in result["verdicts"] if v["metric"] == "ok_per_s" and v["ratio"] is not None]
    best_a, best_b = (max(side.points, key=lambda p: p.ok_per_s) for side in (a, b))
    if not found or not best_a.ok_per_s:
        return f"{a.name} answered nothing, so there is no ratio."
    levels = "1 common level" if len(found) == 1 else f"{len(found)} common levels"
    best = {
        "ratio": best_b.ok_per_s / best_a.ok_per_s,
        "bounds": (best_a.at_least, best_b.at_least),
    }
    return (
        f"{b.name} answers {_span(found)} the requests/s of {a.name} at {levels}{_worth(found)}; "
        f"best against best {_best(best_b)} to {_best(best_a)}, {diff.show_ratio(best)}; "
        f"{_conclusion(found) or f'{_rounds(a, b).lower()}, no verdict'}."
    )


def trust(result: Result) -> str:
    """Return that drift is not excluded, and which rates are lower bounds."""
    sides = diff.sides(dict(result))
    shared = [f"{s.name}{where}" for s in sides if (where := _where(s)) is not None]
    judged = [v for v in result["verdicts"] if diff.is_judged(v)]
    is_paired = bool(judged) and all((v["method"] or "").startswith("paired") for v in judged)
    parts = [INTERLEAVED if is_paired else NOT_INTERLEAVED]
    if judged:
        parts.append(f"{min(v['n'] for v in judged)} trials a side at least")
    if shared:
        parts.append(
            f"client and target shared a machine in {' and in '.join(shared)}: "
            "those rates are ≥, their ratios bounds"
        )
    if any(diff.bound(v) == "?" for v in result["verdicts"]):
        parts.append("a ratio of two lower bounds (?) bounds nothing")
    return f"{' · '.join(parts)}."


def health(result: Result) -> str:
    """Return `contended` when a rate of either side is a lower bound; else nothing is known."""
    points = (point for side in diff.sides(dict(result)) for point in side.points)
    return "contended" if any(point.at_least for point in points) else "unknown"


def _conclusion(found: list[Mapping[str, Any]]) -> str:
    """The words of the levels whose trials carry one: `faster at 100 and 200, same at 400`."""
    judged = [verdict for verdict in found if diff.is_judged(verdict)]
    words: dict[str, list[str]] = {}
    for verdict in judged:
        words.setdefault(printed(verdict), []).append(f"{verdict['concurrency']:,}")
    said = join([f"{word} at {join(places)}" for word, places in words.items()])
    rest = len(found) - len(judged)
    return f"{said}, no verdict at {show_count(rest, 'level')}" if said and rest else said


def _span(found: list[Mapping[str, Any]]) -> str:
    """The lowest and the highest ratio, marked where all of them are the same kind of bound."""
    low, high = (f"{pick(v['ratio'] for v in found):.2f}" for pick in (min, max))
    marks = {diff.bound(verdict) for verdict in found}
    mark = f"{marks.pop()} " if marks in ({"≥"}, {"≤"}) else ""
    return f"{mark}{low if low == high else f'{low}–{high}'} ×"


def _worth(found: list[Mapping[str, Any]]) -> str:
    """What the marks of single ratios come to, where one mark cannot say it for all."""
    nothing = sum(diff.bound(verdict) == "?" for verdict in found)
    if nothing == len(found):
        return ", which bounds nothing: both rates are lower bounds"
    if nothing:
        return f", at {nothing} of which both rates are lower bounds and the ratio bounds nothing"
    marks = {diff.bound(verdict) for verdict in found}
    return ", some of them bounds" if len(marks) > 1 else ""


def _best(point: Point) -> str:
    mark = "≥ " if point.at_least else ""
    return f"{mark}{show_rate(point.ok_per_s)} (at {point.concurrency:,})"


def _rounds(*sides: Series) -> str:
    rounds = [point.rounds for side in sides for point in side.points]
    return "One run each" if max(rounds) == 1 else "Rounds not interleaved"


def _where(side: Series) -> str | None:
    """At which levels the rates of a side are lower bounds; None where at none."""
    shared = [point.concurrency for point in side.points if point.at_least]
    if not shared:
        return None
    if len(shared) == len(side.points):
        return ""
    return f" (at {side.places(*shared)})"
