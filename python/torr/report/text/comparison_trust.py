"""How far to trust a comparison: the generator's health, rounds and spread, cores, failures."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from torr.messages.counts import counted
from torr.messages.say import Text, chain, one_line, say
from torr.report.data import cell_names
from torr.report.data.comparison import Comparison
from torr.report.data.wording import health_reason
from torr.stats.series import variation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from msgspec import UnsetType

    from torr.model.pin import Pin
    from torr.results.level import Level
    from torr.results.result import RunResult


def parts(result: RunResult) -> list[str]:
    """Return what the trust line of a comparison begins with."""
    comparison = Comparison.of(result)
    levels = [x for p in comparison.cells for e in p.entries for x in e.trials.values()]
    parts = [
        health(levels, say("which have no verdict in their cells")),
        _rounds(comparison),
        *_failed(comparison),
        *_discarded(comparison),
        *cores(comparison.experiment.pin),
    ]
    return [one_line(part) for part in parts]


def of_nothing(result: RunResult) -> list[str]:
    """Return what there is to say where no trial was measured."""
    return [one_line(part) for part in _failed(Comparison.of(result))]


def health(levels: Sequence[Level], consequence: str) -> Text:
    """Return the generator's health in trials; `consequence` is that of being the limit."""
    limited = [level for level in levels if level.is_limited]
    contended = [level for level in levels if level.is_contended]
    if limited:
        values = {"trials": _of(limited, levels), "why": health_reason(limited)}
        return say(
            "Generator-limited in {trials}, {consequence}{why}", consequence=consequence, **values
        )
    if contended:
        shared = say(
            "client and target share this machine, rates are ≥{why}", why=health_reason(contended)
        )
        return say("Contended in {trials}: {shared}", trials=_of(contended, levels), shared=shared)
    return say("Healthy: the generator had room")


def _of(some: Sequence[Level], levels: Sequence[Level]) -> Text:
    return say("{some:,} of {all}", some=len(some), all=counted(len(levels), "trial"))


def _rounds(comparison: Comparison) -> Text:
    counts = {max(len(e.trials) for e in p.entries) for p in comparison.cells if p.entries}
    most, least = max(counts, default=0), min(counts, default=0)
    rounds = counted(most, "round")
    if most != least:
        rounds = say("{least} to {most} rounds", least=least, most=most)
    spreads = [
        spread
        for cell in comparison.cells
        for entry in cell.entries
        if (spread := variation(list(entry.values(cell.primary).values()))) is not None
    ]
    clause = say("{rounds}, interleaved", rounds=rounds)
    if spreads:
        share = f"{100 * median(spreads):.1f} %"
        clause = say("{said}, spread of trials {spread}", said=clause, spread=share)
    is_kept_up = comparison.experiment.restart == "cell"
    return chain("; ", [clause, say("servers kept running through a cell") if is_kept_up else ""])


def _failed(comparison: Comparison) -> Iterator[str]:
    """Return how many trials of which candidates failed."""
    if not comparison.failures:
        return
    for is_measured in (False, True):
        candidates = [x.candidate for x in comparison.failures if x.measured == is_measured]
        names = cell_names.names(
            [f"{name} {candidates.count(name)}" for name in dict.fromkeys(candidates)]
        )
        trials = counted(len(candidates), "trial")
        if candidates and is_measured:
            yield say("{trials} failed after the measurement ({whose})", trials=trials, whose=names)
        elif candidates:
            yield say("{trials} failed ({whose})", trials=trials, whose=names)


def _discarded(comparison: Comparison) -> Iterator[str]:
    """Return how many rounds a rule discarded, and because of which candidates."""
    rules: dict[str, dict[str, int]] = {}
    rounds = 0
    for cell in comparison.cells:
        verdicts = [v for e in cell.entries for v in e.verdicts.values()]
        gone = next((v.discarded for v in verdicts if v.discarded), None)
        if gone is None:
            continue
        rounds += len(gone.rounds)
        because = rules.setdefault(gone.rule, {})
        for name, count in gone.because_of.items():
            because[name] = because.get(name, 0) + count
    for rule, because in rules.items():
        candidates = cell_names.names([f"{name} {count}" for name, count in because.items()])
        values = {"rounds": counted(rounds, "round"), "rule": rule, "whose": candidates}
        yield say("{rounds} discarded by {rule} ({whose})", **values)


def cores(pin: Pin | UnsetType | None) -> Iterator[str]:
    """Yield the cores of both sides; nothing where nodes sent the load."""
    if pin:
        own, its = _numbers(pin.generator), _numbers(pin.target)
        yield say("generator on {own}, target on {its}", own=own, its=its)
    elif pin is None:
        yield say("generator and target share all cores")


def _numbers(cores: Sequence[int]) -> Text:
    if not cores:
        return say("any core")
    shown = chain(", ", [str(core) for core in cores])
    if len(cores) == 1:
        return say("core {number}", number=shown)
    return say("cores {numbers}", numbers=shown)
