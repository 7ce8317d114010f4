"""How far to trust a result: the line below the verdict.

Nothing is judged here: the engine said what limited it, stats what a level claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from torr.report import comparison_trust, diff_sentence
from torr.report.streaming import is_joined
from torr.report.wording import first_text, most_by
from torr.stats.series import (
    Series,
    attempted,
    ended,
    events_of,
    failed,
    is_limited,
    is_of_locust,
    is_starved,
    noun_of,
    starved_text,
    users_of,
    verdict_of,
)
from torr.units import show_levels, show_percent

Result = Mapping[str, Any]

LEAST_STEAL = 0.5
"""Percent of the machine that the hypervisor must have taken to be worth a word."""


def trust(result: Result) -> str:
    """Return how far to trust it: health with its reason, rounds, spread, steal, status."""
    if result["kind"] == "diff":
        return diff_sentence.trust(result)
    levels = result["levels"]
    if not any(attempted(level) or events_of(level) for level in levels):
        return _of_nothing(result)
    if result["kind"] == "compare":
        parts = [*comparison_trust.parts(result), _busiest(levels), _steal(levels)]
    else:
        parts = [_health(levels), _failed(levels), _starved(levels), _joined(result)]
        parts += [_busiest(levels), _rounds(result), _steal(levels)]
    parts += dict.fromkeys(word for x in levels for word in x.get("warnings") or ())
    if result.get("status") == "interrupted":
        parts.append("interrupted: what was measured is kept")
    return " · ".join(part for part in parts if part) + "."


def _of_nothing(result: Result) -> str:
    """No word on a generator that had nothing to do; users may hang from the warm-up on."""
    is_interrupted = result.get("status") == "interrupted"
    noun = "trial" if result["kind"] == "compare" else "level"
    said = "Interrupted before the window" if is_interrupted else f"No {noun} was measured"
    parts = [said, _starved(result["levels"])]
    if result["kind"] == "compare":
        parts += comparison_trust.of_nothing(result)
    return " · ".join(part for part in parts if part) + "."


def health(result: Result) -> str:
    """Return the worst health word of all levels: what colours the trust line."""
    if result["kind"] == "diff":
        return diff_sentence.health(result)
    words = {verdict_of(level) for level in result["levels"]}
    order = ("generator-limited", "contended", "healthy")
    return next((word for word in order if word in words), "unknown")


def when(result: Result) -> str:
    """Return when it began and ended: `2026-01-31 12:00:00 – 12:02:00 UTC`."""
    began, ended = (str(result.get(key) or "")[:19].split("T") for key in ("started", "ended"))
    if len(began) < 2:
        return "time not kept"
    if len(ended) < 2:
        return f"{' '.join(began)} UTC"
    return f"{' '.join(began)} – {' '.join(ended[ended[0] == began[0] :])} UTC"


def _health(levels: Sequence[Mapping[str, Any]]) -> str:
    limited = [level for level in levels if is_limited(level)]
    contended = [level for level in levels if verdict_of(level) == "contended"]
    if limited:
        claim = "claims" if len({level["concurrency"] for level in limited}) == 1 else "claim"
        return f"Generator-limited at {_places(limited)}, which {claim} nothing{_why(limited)}"
    if contended:
        where = "" if len(contended) == len(levels) else f" at {_places(contended)}"
        return (
            f"Contended{where}: client and target share this machine, rates are ≥{_why(contended)}"
        )
    return "Healthy: the generator had room"


def _failed(levels: Sequence[Mapping[str, Any]]) -> str:
    """Failures where the verdict claims nothing: their share does not depend on the generator."""
    if not all(map(is_limited, levels)) or not any(map(failed, levels)):
        return ""
    count, of = sum(map(failed, levels)), sum(map(ended, levels))
    return f"{count:,} of {of:,} requests failed{most_by(levels)}"


def _places(levels: Sequence[Mapping[str, Any]]) -> str:
    return show_levels(sorted({level["concurrency"] for level in levels}), noun_of(levels))


def _why(levels: Sequence[Mapping[str, Any]]) -> str:
    reasons = [r for level in levels for r in (level.get("health") or {}).get("reasons") or ()]
    first = first_text(list(dict.fromkeys(reasons)))
    return f" ({first})" if first else ""


def _starved(levels: Sequence[Mapping[str, Any]]) -> str:
    """Users that the window's figures leave out, however few: nothing else tells of them."""
    starved = [level for level in levels if level.get("starved")]
    if not starved:
        return ""
    worst = max(starved, key=lambda level: level["starved"] / users_of(level))
    levels_of = sorted({level["concurrency"] for level in starved})
    claims = ", which claims nothing" if len(levels_of) == 1 else ", which claim nothing"
    end = claims if all(map(is_starved, starved)) else ""
    return (
        f"users starved at {show_levels(levels_of, noun_of(starved))}{end} ({starved_text(worst)})"
    )


def _joined(result: Result) -> str:
    """Levels whose gaps between texts are not those of the server; a run says it beside them."""
    joined = [level for level in result["levels"] if is_joined(level)]
    if not joined or result["kind"] in {"run", "locust"}:
        return ""
    why = "a late client read more than 5 % of the texts together"
    return f"inter_chunk is unreliable at {_places(joined)} ({why})"


def _busiest(levels: Sequence[Mapping[str, Any]]) -> str:
    rates = [r for x in levels for r in (x.get("health") or {}).get("worker_cpu_rate") or ()]
    noun = "process" if any(map(is_of_locust, levels)) else "worker"
    return f"busiest {noun} {max(rates):.0f} % of a core" if rates else ""


def _rounds(result: Result) -> str:
    points = Series.of("", result["levels"]).points
    rounds = max((point.rounds for point in points), default=1)
    spreads = [point.spread for point in points if point.spread is not None]
    spread = f"{100 * median(spreads):.1f} %" if spreads else None
    if rounds > 1:
        return f"{rounds} rounds" + (f", spread {spread}" if spread else "")
    seen = f"spread of slices {spread}, " if spread else ""
    return f"1 round: {seen}run-to-run variance unseen"


def _steal(levels: Sequence[Mapping[str, Any]]) -> str:
    """The mean of a level; single slices may have had more."""
    means = [(level.get("health") or {}).get("steal_rate") or 0 for level in levels]
    if max(means) < LEAST_STEAL:
        return ""
    most = "" if len(means) == 1 else " at the level with the most"
    return f"steal {show_percent(max(means))} on average{most}"
