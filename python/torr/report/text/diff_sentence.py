"""The verdict of a diff as one sentence, and how far to trust it.

A rate of a machine that client and target shared is a lower bound, and is written with `≥`. Its
ratio is a bound too (`≥` or `≤`); the ratio of two lower bounds is neither, which is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, join, say, say_count
from torr.report.data import diff
from torr.report.data.result_words import word_text
from torr.report.data.wording import places
from torr.report.text.verdict_words import printed
from torr.units import show_factor, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.results.result import RunResult
    from torr.results.series import LevelPoint
    from torr.results.verdict import Verdict
    from torr.stats.series import Series

INTERLEAVED = say("Both ran in each round, in turn: drift affects both equally")
NOT_INTERLEAVED = say("Both ran without interleaving: drift between them is not excluded")


def verdict(result: RunResult) -> Text:
    """Return the ratios of the requests/s, at the common levels and of the best of each side."""
    a, b = diff.sides(result)
    verdicts = [v for v in result.verdicts if v.metric == "ok_per_s" and v.ratio is not None]
    best_a, best_b = (max(side.points, key=lambda p: p.ok_per_s) for side in (a, b))
    if not verdicts or not best_a.ok_per_s:
        return say("{name} answered nothing, so there is no ratio.", name=a.name)
    best = diff.show_bounded(best_b.ok_per_s / best_a.ok_per_s, (best_a.at_least, best_b.at_least))
    ratios = say(
        "{b} answers {span} the requests/s of {a} at {levels}{worth}",
        a=a.name,
        b=b.name,
        span=_span(verdicts),
        levels=say_count(len(verdicts), "{n} common level", "{n} common levels"),
        worth=_worth(verdicts),
    )
    ends = {"a": _best(best_a), "b": _best(best_b), "ratio": best}
    highest = say("best against best {b} to {a}, {ratio}", **ends)
    end = _conclusion(verdicts) or _rounds(a, b)
    return say("{said}.", said=chain("; ", [ratios, highest, end]))


def trust(result: RunResult) -> Text:
    """Return that drift is not excluded, and which rates are lower bounds."""
    sides = diff.sides(result)
    shared = [where for side in sides if (where := _where(side)) is not None]
    judged = [verdict for verdict in result.verdicts if verdict.word is not None]
    is_paired = bool(judged) and all((v.method or "").startswith("paired") for v in judged)
    parts = [INTERLEAVED if is_paired else NOT_INTERLEAVED]
    if judged:
        parts.append(say("at least {n} trials a side", n=min(v.n or 0 for v in judged)))
    if shared:
        where = shared[0]
        if len(shared) > 1:
            where = say("{a} and in {b}", a=shared[0], b=shared[1])
        parts.append(
            say(
                "client and target shared a machine in {where}: "
                "those rates are ≥, their ratios bounds",
                where=where,
            )
        )
    if any(diff.bound(v.bounds) == "?" for v in result.verdicts):
        parts.append(say("?: both rates are lower bounds, so the true ratio is unknown"))
    return say("{said}.", said=chain(" · ", parts))


def health(result: RunResult) -> str:
    """Return `contended` when a rate of either side is a lower bound; else nothing is known."""
    points = (point for side in diff.sides(result) for point in side.points)
    return "contended" if any(point.at_least for point in points) else "unknown"


def _conclusion(verdicts: Sequence[Verdict]) -> str:
    """Return the words of the levels that have one: `faster at 100 and 200, same at 400`."""
    judged = [verdict for verdict in verdicts if verdict.word is not None]
    words: dict[str, list[str]] = {}
    for verdict in judged:
        words.setdefault(printed(verdict), []).append(f"{verdict.position:,}")
    clause = join(
        [
            say("{word} at {levels}", word=word_text(word), levels=join(at))
            for word, at in words.items()
        ]
    )
    rest = len(verdicts) - len(judged)
    if not clause or not rest:
        return clause
    return say("{said}, no verdict at {levels}", said=clause, levels=counted(rest, "level"))


def _span(verdicts: Sequence[Verdict]) -> str:
    """Return the lowest and the highest ratio, marked where all are the same kind of bound."""
    low, high = (show_factor(pick(v.ratio or 0.0 for v in verdicts)) for pick in (min, max))
    marks = {diff.bound(verdict.bounds) for verdict in verdicts}
    mark = f"{marks.pop()} " if marks in ({"≥"}, {"≤"}) else ""
    return f"{mark}{low if low == high else f'{low}–{high}'} ×"


def _worth(verdicts: Sequence[Verdict]) -> str:
    """Return the meaning of the bounds where the ratios differ in them."""
    nothing = sum(diff.bound(verdict.bounds) == "?" for verdict in verdicts)
    if nothing == len(verdicts):
        return say(", but both rates are lower bounds: the true ratio is unknown")
    if nothing:
        return say(
            ", at {n} of which both rates are lower bounds and the true ratio is unknown", n=nothing
        )
    marks = {diff.bound(verdict.bounds) for verdict in verdicts}
    return say(", some of them bounds") if len(marks) > 1 else ""


def _best(point: LevelPoint) -> Text:
    rate = f"{'≥ ' if point.at_least else ''}{show_rate(point.ok_per_s)}"
    return say("{rate} (at {level:,})", rate=rate, level=point.position)


def _rounds(*sides: Series) -> Text:
    """Return why there is no verdict."""
    rounds = [point.rounds for side in sides for point in side.points]
    if max(rounds) == 1:
        return say("one run each, no verdict")
    return say("rounds not interleaved, no verdict")


def _where(side: Series) -> str | None:
    """Return the side with the levels at which its rates are lower bounds; None for no level."""
    shared = [point.position for point in side.points if point.at_least]
    if not shared:
        return None
    if len(shared) == len(side.points):
        return side.name
    return say("{name} (at {place})", name=side.name, place=places(side, *shared))
