"""How far to trust a comparison: the generator's health, rounds and spread, cores, what failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from torr.report import comparison_words as words
from torr.report.comparison import Comparison
from torr.report.wording import first_text
from torr.stats.series import is_limited, variation, verdict_of
from torr.units import show_count

Result = Mapping[str, Any]
Levels = Sequence[Mapping[str, Any]]


def parts(result: Result) -> list[str]:
    """Return what the trust line of a comparison begins with."""
    found = Comparison.of(result)
    levels = [x for p in found.places for e in p.entries for x in e.trials.values()]
    said = [_health(levels), _rounds(found), *_failed(found), *_discarded(found), *_cores(found)]
    return [" ".join(part.split()) for part in said]


def of_nothing(result: Result) -> list[str]:
    """Return what there is to say where no trial was measured."""
    return [" ".join(part.split()) for part in _failed(Comparison.of(result))]


def _health(levels: Levels) -> str:
    limited = [level for level in levels if is_limited(level)]
    contended = [level for level in levels if verdict_of(level) == "contended"]
    if limited:
        cells = "which have no verdict in their cells"
        return f"Generator-limited in {_of(limited, levels)}, {cells}{_why(limited)}"
    if contended:
        shared = "client and target share this machine, rates are ≥"
        return f"Contended in {_of(contended, levels)}: {shared}{_why(contended)}"
    return "Healthy: the generator had room"


def _of(some: Levels, levels: Levels) -> str:
    return f"{len(some):,} of {show_count(len(levels), 'trial')}"


def _why(levels: Levels) -> str:
    reasons = [r for level in levels for r in (level.get("health") or {}).get("reasons") or ()]
    first = first_text(list(dict.fromkeys(reasons)))
    return f" ({first})" if first else ""


def _rounds(found: Comparison) -> str:
    counts = {max(len(e.trials) for e in p.entries) for p in found.places if p.entries}
    most, least = max(counts, default=0), min(counts, default=0)
    rounds = show_count(most, "round") if most == least else f"{least} to {most} rounds"
    each = [
        spread
        for place in found.places
        for entry in place.entries
        if (spread := variation(list(entry.values(place.primary).values()))) is not None
    ]
    spread_of_all = f", spread of trials {100 * median(each):.1f} %" if each else ""
    is_kept_up = found.experiment.get("restart") == "cell"
    kept = "; servers were kept up through a cell" if is_kept_up else ""
    return f"{rounds}, interleaved{spread_of_all}{kept}"


def _failed(found: Comparison) -> Iterator[str]:
    """How many trials failed, and whose."""
    if not found.failures:
        return
    who = [str(failure.get("candidate") or "") for failure in found.failures]
    each = [f"{name} {who.count(name)}" for name in dict.fromkeys(who)]
    yield f"{show_count(len(who), 'trial')} failed ({words.names(each)})"


def _discarded(found: Comparison) -> Iterator[str]:
    """How many rounds a rule took out, and because of whom."""
    rules: dict[str, dict[str, int]] = {}
    rounds = 0
    for place in found.places:
        verdicts = [v for e in place.entries for v in e.verdicts.values()]
        gone = next((v["discarded"] for v in verdicts if v.get("discarded")), None)
        if gone is None:
            continue
        rounds += len(gone.get("rounds") or ())
        because = rules.setdefault(str(gone.get("rule")), {})
        for name, count in (gone.get("because_of") or {}).items():
            because[name] = because.get(name, 0) + count
    for rule, because in rules.items():
        who = words.names([f"{name} {count}" for name, count in because.items()])
        yield f"{show_count(rounds, 'round')} discarded by {rule} ({who})"


def _cores(found: Comparison) -> Iterator[str]:
    pin = found.experiment.get("pin")
    if pin:
        sides = [f"{side} on {_numbers(pin.get(side) or ())}" for side in ("generator", "target")]
        yield ", ".join(sides)
    elif "pin" in found.experiment:
        yield "generator and target share all cores"


def _numbers(cores: Sequence[int]) -> str:
    shown = ", ".join(map(str, cores))
    return f"core{'' if len(cores) == 1 else 's'} {shown}" if shown else "any core"
