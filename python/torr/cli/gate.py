"""Whether a run passes: its SLOs, limits of change and capacity, and no abort condition.

A gate fails closed: an SLO or a limit that is not shown does not pass, unless the user allows that.
A ladder climbs until SLOs break, so what counts is the lowest level that claims anything, or the
capacity that `--min-capacity` asks for. Of a comparison every candidate counts in every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from torr.errors import MissedError
from torr.stats.series import lowest, starved_text
from torr.stats.trials import unmeasured
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import LimitVerdict, Verdict

Flags = dict[str, Any]

_SHOWN = 3
_LONGER = "such as -z 30s"
_MORE = {"compare": "such as --rounds 20 or -z 30s", "diff": "such as --rounds 20 of both sides"}
MOST_FAILED = 0.01
"""A time that is not shown passes only where no more than this share of the attempts failed."""


def gate(result: RunResult, flags: Flags) -> None:
    """Raise MissedError unless the run may pass; print a note for each thing that is not shown."""
    judgement = judged(result, flags)
    for note in judgement.notes:
        click.echo(f"note: {note}", err=True)
    if judgement.missed is not None:
        raise judgement.missed


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """Why the run does not pass, if so; and which SLOs and limits are not shown."""

    missed: MissedError | None = None
    notes: tuple[str, ...] = ()


def judged(result: RunResult, flags: Flags) -> GateOutcome:
    """Whether the run passes; what an abort condition ended does not, whatever the SLOs say."""
    of_limits = _of_limits(result.fail_if)
    of_slos = _of_slos(result, flags.get("slos") or ())
    found = GateOutcome(of_slos.missed or of_limits.missed, (*of_slos.notes, *of_limits.notes))
    if found.missed is not None:
        return found
    if result.ended_by:
        return GateOutcome(MissedError(f"ended early by {result.ended_by}"), found.notes)
    if found.notes and not flags.get("allow_not_shown"):
        return GateOutcome(_not_shown(found.notes, result.kind))
    least = flags.get("min_capacity")
    return found if least is None else GateOutcome(least.missed_by(result), found.notes)


def judged_again(result: RunResult) -> GateOutcome:
    """Whether a kept result passes, by what was asked of it when it was measured."""
    from torr.model.condition import Condition
    from torr.model.least_capacity import LeastCapacity

    asked = result.experiment or {}
    least = asked.get("min_capacity")
    flags = {
        "slos": [Condition.parse(text) for text in asked.get("slos") or ()],
        "allow_not_shown": asked.get("allow_not_shown", False),
        "min_capacity": None if least is None else LeastCapacity.parse(least),
    }
    return judged(result, flags)


def _not_shown(notes: Sequence[str], kind: str) -> MissedError:
    more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
    hint = f"measure more, {_MORE.get(kind, _LONGER)}, or pass it with --allow-not-shown"
    return MissedError(f"{notes[0]}{more}", hint)


def _of_limits(entries: Sequence[LimitVerdict]) -> GateOutcome:
    """Whether no change of a diff lies beyond its limit."""
    failed = [f"{_of_limit(x)} ({x.reason})" for x in entries if x.word == "failed"]
    unshown = [f"{_of_limit(x)} ({x.reason})" for x in entries if x.word == "not shown"]
    missed = MissedError(f"--fail-if {', '.join(failed)}") if failed else None
    return GateOutcome(missed, tuple(f"--fail-if not shown: {each}" for each in unshown))


def _of_limit(entry: LimitVerdict) -> str:
    return f"{entry.condition} at {entry.concurrency:,}"


def _of_slos(result: RunResult, slos: Sequence[Condition]) -> GateOutcome:
    """Whether they pass, by the lowest level that claims anything."""
    if result.kind == "compare":
        return _of_candidates(result)
    if not slos:
        return GateOutcome()
    rounds = lowest(result.levels)
    if not rounds:
        asked = ", ".join(slo.text or str(slo) for slo in slos)
        why = f"SLO {asked}: not shown: {_why_none(result)}"
        return GateOutcome(MissedError(why, _hint(result)))
    at = rounds[0].concurrency
    found = [verdict for verdict in result.verdicts if verdict.concurrency == at]
    broken = [_named(verdict) for verdict in found if verdict.word == "broken"]
    if broken:
        return GateOutcome(MissedError(f"SLO broken: {', '.join(broken)}"))
    return _of_unshown([(v, _named(v), rounds) for v in found if v.word == "not shown"])


def _of_candidates(result: RunResult) -> GateOutcome:
    """Each candidate has its SLOs in each cell; one that is broken or not measured misses them."""
    slos = [verdict for verdict in result.verdicts if verdict.condition]
    if not slos:
        return GateOutcome()
    never = unmeasured(result)
    if never:
        why = f"SLO not shown: {never[0].candidate} was not measured: {never[0].text}"
        return GateOutcome(MissedError(why))
    broken = [_of_candidate(verdict) for verdict in slos if verdict.word == "broken"]
    if broken:
        more = f" and {len(broken) - _SHOWN} more" if len(broken) > _SHOWN else ""
        return GateOutcome(MissedError(f"SLO broken: {', '.join(broken[:_SHOWN])}{more}"))
    unshown = [(v, _of_candidate(v), _trials(v, result)) for v in slos if v.word == "not shown"]
    limited = next((name for _, name, trials in unshown if not trials), None)
    if limited is not None:
        return GateOutcome(MissedError(f"SLO not shown: {limited}", _hint(result)))
    return _of_unshown(unshown)


def _of_candidate(verdict: Verdict) -> str:
    where = show_setting(verdict.factors or {"concurrency": verdict.concurrency or 0})
    return f"{verdict.candidate} at {where}: {_named(verdict)}"


def _trials(verdict: Verdict, result: RunResult) -> list[Level]:
    """The trials behind an SLO of a candidate in a cell that claim anything."""
    where = (verdict.candidate, verdict.factors, verdict.concurrency)
    return lowest(x for x in result.levels if (x.candidate, x.factors, x.concurrency) == where)


def _of_unshown(unshown: Sequence[tuple[Verdict, str, Sequence[Level]]]) -> GateOutcome:
    """What is not shown may be allowed, but not a time where too much failed.

    Of each SLO there is the verdict, how it is named, and the levels that it is about.
    """
    notes: list[str] = []
    for verdict, name, rounds in unshown:
        failed, ended = _failed(rounds)
        # A time is that of the ok answers: the failures are not in it.
        if verdict.unit == "ms" and failed > MOST_FAILED * ended:
            failures = f"{failed:,} of {ended:,} attempts failed"
            return GateOutcome(MissedError(f"SLO not shown: {name}, and {failures}"), tuple(notes))
        notes.append(f"SLO not shown: {name}: neither held nor broken")
    return GateOutcome(notes=tuple(notes))


def _named(verdict: Verdict) -> str:
    """The SLO, with the reason where no value speaks for itself."""
    if verdict.reason and (verdict.value is None or verdict.word == "not shown"):
        return f"{verdict.condition} ({verdict.reason})"
    return verdict.condition or verdict.metric


def _failed(rounds: Sequence[Level]) -> tuple[int, int]:
    """How many attempts failed, and how many ended."""
    counts = [level.counts for level in rounds]
    return sum(count.failed for count in counts), sum(count.ended for count in counts)


def _starved(result: RunResult) -> Level | None:
    return next((level for level in result.levels if level.is_starved), None)


def _why_none(result: RunResult) -> str:
    starved = _starved(result)
    return "the generator was the limit" if starved is None else starved_text(starved)


def _hint(result: RunResult) -> str:
    if _starved(result) is None:
        return "give it more room (--workers, ulimit -Hn, another machine) or less load"
    return "requests take longer than the window: give it a longer -z, or less load"
