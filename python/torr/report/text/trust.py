"""How far to trust a result: the line below the verdict.

Nothing is judged here: the engine reports its limits, `torr.verdicts` the claims of a level.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from torr.messages.counts import counted, levels_of
from torr.messages.say import Text, chain, join, say
from torr.report.data.wording import health_reason, most_by
from torr.report.text import comparison_trust, diff_sentence, functions, tuning_trust
from torr.report.text.streaming import is_joined
from torr.stats.series import Series, noun_of, starved_text, worst_health
from torr.units import show_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.messages.message import Message
    from torr.results.level import Level
    from torr.results.result import RunResult

HAS_TRIALS = ("compare", "tune")
"""Kinds of results whose levels are trials."""
MOST_NODES = 4
"""The number of nodes that are named."""
LEAST_STEAL = 0.5
"""Percent of the machine that the hypervisor must have taken to be worth a word."""


def trust(result: RunResult) -> Text:
    """Return how far to trust it: health with its reason, rounds, spread, steal, status."""
    if result.kind == "diff":
        return diff_sentence.trust(result)
    if result.kind == "micro":
        return functions.trust(result)
    levels = result.levels
    if not any(level.counts.attempted or level.event_count for level in levels):
        return _of_nothing(result)
    if result.kind == "compare":
        parts = [*comparison_trust.parts(result), _busiest(levels), _steal(levels)]
    elif result.kind == "tune":
        parts = [*tuning_trust.parts(result), _busiest(levels), _steal(levels)]
    else:
        parts = [_health(levels), _failed(levels), _starved(levels), _joined(result)]
        parts += [_busiest(levels), _rounds(result), _steal(levels)]
    parts.append(_nodes(levels))
    parts += _warnings(result)
    if result.status == "interrupted":
        parts.append(say("interrupted: everything measured until then is stored"))
    return say("{said}.", said=chain(" · ", parts))


def _warnings(result: RunResult) -> list[str]:
    """Return the warnings, and of several that differ only in their figures the first."""
    alike: dict[str, list[Message]] = {}
    for level in result.levels:
        for warning in level.warnings:
            alike.setdefault(warning.code or warning, []).append(warning)
    return [_first_of(each, has_trials=result.kind in HAS_TRIALS) for each in alike.values()]


def _first_of(warnings: Sequence[Message], *, has_trials: bool) -> str:
    others = len(warnings) - 1
    if all(warning == warnings[0] for warning in warnings):
        return warnings[0]
    noun = counted(others, "other trial" if has_trials else "other level")
    return say("{said} (similar at {others})", said=warnings[0], others=noun)


def _of_nothing(result: RunResult) -> Text:
    """Return why there is no number; users may hang from the warm-up on."""
    is_compared = result.kind == "compare"
    has_trials = result.kind in HAS_TRIALS
    reason = say("No trial was measured") if has_trials else say("No level was measured")
    if result.status == "interrupted":
        reason = say("Interrupted before the window")
    parts = [reason, _starved(result.levels)]
    if is_compared:
        parts += comparison_trust.of_nothing(result)
    return say("{said}.", said=chain(" · ", parts))


def health(result: RunResult) -> str:
    """Return the worst health word of all levels: what colours the trust line."""
    if result.kind == "diff":
        return diff_sentence.health(result)
    if result.kind == "micro":
        return "unknown"  # the rest of the machine was not monitored
    return worst_health(result.levels) or "unknown"


def when(result: RunResult) -> str:
    """Return when it began and ended: `2026-01-31 12:00:00 – 12:02:00 UTC`."""
    began, ended = (moment[:19].split("T") for moment in (result.started, result.ended or ""))
    if len(ended) < 2:
        return f"{' '.join(began)} UTC"
    return f"{' '.join(began)} – {' '.join(ended[ended[0] == began[0] :])} UTC"


def _health(levels: Sequence[Level]) -> Text:
    limited = [level for level in levels if level.is_limited]
    positions = {point.position for point in Series.of("", levels).limited}
    unclaimed = [level for level in limited if level.position in positions]
    contended = [level for level in levels if level.is_contended]
    if unclaimed:
        values = {"place": _places(unclaimed), "why": health_reason(unclaimed)}
        if len({level.position for level in unclaimed}) == 1:
            return say("Generator-limited at {place}, which claims nothing{why}", **values)
        return say("Generator-limited at {place}, which claim nothing{why}", **values)
    if limited:
        rounds = counted(len(limited), "round")
        values = {"place": _places(limited), "why": health_reason(limited)}
        return say(
            "Generator-limited in {rounds} at {place}, left out{why}", rounds=rounds, **values
        )
    if contended:
        shared = say(
            "client and target share this machine, rates are ≥{why}", why=health_reason(contended)
        )
        if len(contended) == len(levels):
            return say("Contended: {shared}", shared=shared)
        return say("Contended at {place}: {shared}", place=_places(contended), shared=shared)
    return say("Healthy: the generator had room")


def _failed(levels: Sequence[Level]) -> str:
    """Return the failures where the verdict claims nothing: they do not depend on the generator."""
    failed = sum(level.counts.failed for level in levels)
    if not failed or not all(level.is_limited for level in levels):
        return ""
    counts = {"failed": failed, "ended": sum(level.counts.ended for level in levels)}
    return say("{failed:,} of {ended:,} requests failed{most}", **counts, most=most_by(levels))


def _places(levels: Sequence[Level]) -> str:
    return levels_of(sorted({level.position for level in levels}), noun_of(levels))


def _starved(levels: Sequence[Level]) -> str:
    """Return the users that the window's figures leave out: no other number shows them."""
    starved = [level for level in levels if level.starved]
    if not starved:
        return ""
    worst = max(starved, key=lambda level: level.starved / level.user_count)
    values = {"place": _places(starved), "why": starved_text(worst)}
    if not all(level.is_starved for level in starved):
        return say("users starved at {place} ({why})", **values)
    if len({level.position for level in starved}) == 1:
        return say("users starved at {place}, which claims nothing ({why})", **values)
    return say("users starved at {place}, which claim nothing ({why})", **values)


def _joined(result: RunResult) -> str:
    """Return the levels with unreliable gaps between texts; a run says it beside them."""
    joined = [level for level in result.levels if is_joined(level)]
    if not joined or result.kind in {"run", "locust"}:
        return ""
    why = say("the client was late, and read more than 5 % of the texts together with other texts")
    return say("inter_chunk is unreliable at {place} ({why})", place=_places(joined), why=why)


def _busiest(levels: Sequence[Level]) -> str:
    rates = [rate for level in levels for rate in level.health.worker_cpu_rate]
    if not rates:
        return ""
    if any(level.is_of_locust for level in levels):
        return say("busiest process {rate:.0f} % of a core", rate=max(rates))
    return say("busiest worker {rate:.0f} % of a core", rate=max(rates))


def _nodes(levels: Sequence[Level]) -> str:
    """Return which nodes sent the load, if this machine did not."""
    parts = [level.generator.nodes for level in levels if level.generator is not None]
    names = list(dict.fromkeys(node.name for nodes in parts for node in nodes))
    if len(names) > MOST_NODES:
        return say("sent by {count:,} nodes", count=len(names))
    return say("sent by {names}", names=join(names)) if names else ""


def _rounds(result: RunResult) -> Text:
    points = Series.of("", result.levels).points
    rounds = max((point.rounds for point in points), default=1)
    spreads = [point.spread for point in points if point.spread is not None]
    spread = f"{100 * median(spreads):.1f} %" if spreads else ""
    if rounds > 1:
        text = counted(rounds, "round")
        return say("{rounds}, spread {spread}", rounds=text, spread=spread) if spread else text
    if not spread:
        return say("1 round: run-to-run variance not measured")
    return say(
        "1 round: spread of intervals {spread}, run-to-run variance not measured", spread=spread
    )


def _steal(levels: Sequence[Level]) -> str:
    """Return the mean of a level; single intervals may have had more."""
    means = [level.health.steal_rate or 0 for level in levels]
    if max(means) < LEAST_STEAL:
        return ""
    share = show_percent(max(means))
    if len(means) == 1:
        return say("steal {share} on average", share=share)
    return say("steal {share} on average at the level with the most", share=share)
