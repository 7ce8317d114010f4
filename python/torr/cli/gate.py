"""Whether a run passes: its SLOs, its capacity, and no abort condition. Scripts read the exit code.

A gate fails closed: an SLO that is neither held nor broken does not pass, unless the user allows
that. A ladder climbs until SLOs break, so what counts is the lowest level that claims anything, or
the capacity that `--min-capacity` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from torr.errors import MissedError
from torr.stats.series import Level, is_starved, lowest, starved_text
from torr.stats.trials import unmeasured
from torr.units import show_setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition

Result = dict[str, Any]
Flags = dict[str, Any]

_WORDS = ("broken", "not shown")
_SHOWN = 3
MOST_FAILED = 0.01
"""A time that is not shown passes only where no more than this share of the attempts failed."""


def gate(result: Result, flags: Flags) -> None:
    """Raise MissedError unless the run may pass; print a note for each SLO that is not shown."""
    judgement = judged(result, flags)
    for note in judgement.notes:
        click.echo(f"note: {note}", err=True)
    if judgement.missed is not None:
        raise judgement.missed


def gate_limits(entries: Sequence[dict[str, Any]]) -> None:
    """Raise MissedError where a diff lies beyond a limit; name each that is not shown."""
    for entry in entries:
        if entry["word"] == "not shown":
            click.echo(f"note: {_of_limit(entry)}: not shown: {entry['reason']}", err=True)
    failed = [f"{_of_limit(x)} ({x['reason']})" for x in entries if x["word"] == "failed"]
    if failed:
        raise MissedError(f"--fail-if {', '.join(failed)}")


def _of_limit(entry: dict[str, Any]) -> str:
    return f"{entry['condition']} at {entry['concurrency']:,}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why the run does not pass, if so; and which SLOs are allowed to be not shown."""

    missed: MissedError | None = None
    notes: tuple[str, ...] = ()


def judged(result: Result, flags: Flags) -> Judgement:
    """Whether the run passes; what an abort condition ended does not, whatever the SLOs say."""
    found = _of_slos(result, flags.get("slos") or ())
    if found.missed is not None:
        return found
    if result.get("ended_by"):
        return Judgement(MissedError(f"ended early by {result['ended_by']}"), found.notes)
    if found.notes and not flags.get("allow_not_shown"):
        return Judgement(_not_shown(found.notes))
    least = flags.get("min_capacity")
    return found if least is None else Judgement(least.missed_by(result), found.notes)


def judged_again(result: Result) -> Judgement:
    """Whether a kept result passes, by what was asked of it when it was measured."""
    from torr.model.condition import Condition
    from torr.model.least_capacity import LeastCapacity

    asked = result.get("experiment") or {}
    least = asked.get("min_capacity")
    flags = {
        "slos": [Condition.parse(text) for text in asked.get("slos") or ()],
        "allow_not_shown": asked.get("allow_not_shown", False),
        "min_capacity": None if least is None else LeastCapacity.parse(least),
    }
    return judged(result, flags)


def _not_shown(notes: Sequence[str]) -> MissedError:
    more = f" and {len(notes) - 1} more" if len(notes) > 1 else ""
    hint = "measure more, such as -z 30s, or pass it with --allow-not-shown"
    return MissedError(f"{notes[0]}{more}", hint)


def _of_slos(result: Result, slos: Sequence[Condition]) -> Judgement:
    """Whether they pass, by the lowest level that claims anything."""
    if result["kind"] == "compare":
        return _of_candidates(result) if slos else Judgement()
    if not slos:
        return Judgement()
    rounds = lowest(result["levels"])
    if not rounds:
        asked = ", ".join(slo.text or str(slo) for slo in slos)
        why = f"SLO {asked}: not shown: {_why_none(result)}"
        return Judgement(MissedError(why, _hint(result)))
    at = rounds[0]["concurrency"]
    found = [verdict for verdict in result["verdicts"] if verdict["concurrency"] == at]
    broken = [_named(verdict) for verdict in found if verdict["word"] == "broken"]
    if broken:
        return Judgement(MissedError(f"SLO broken: {', '.join(broken)}"))
    return _of_unshown([verdict for verdict in found if verdict["word"] == "not shown"], rounds)


def _of_candidates(result: Result) -> Judgement:
    """Each candidate has its SLOs in each cell; one that is broken or not measured misses them."""
    slos = [verdict for verdict in result["verdicts"] if verdict.get("condition")]
    never = unmeasured(result)
    if never:
        why = f"SLO not shown: {never[0]['candidate']} was not measured: {never[0]['text']}"
        return Judgement(MissedError(why))
    named = {word: [_of_candidate(v) for v in slos if v["word"] == word] for word in _WORDS}
    notes = tuple(f"SLO not shown: {each}" for each in named["not shown"])
    if not named["broken"]:
        return Judgement(notes=notes)
    more = f" and {len(named['broken']) - _SHOWN} more" if len(named["broken"]) > _SHOWN else ""
    return Judgement(MissedError(f"SLO broken: {', '.join(named['broken'][:_SHOWN])}{more}"), notes)


def _of_candidate(verdict: Result) -> str:
    factors = verdict["factors"] or {"concurrency": verdict["concurrency"]}
    where = show_setting(factors)
    return f"{verdict['candidate']} at {where}: {_named(verdict)}"


def _of_unshown(found: Sequence[Result], rounds: Sequence[Level]) -> Judgement:
    """What is not shown may be allowed, but not a time where too much failed."""
    failed, ended = _failed(rounds)
    notes: list[str] = []
    for verdict in found:
        # A time is that of the ok answers: the failures are not in it.
        if verdict["unit"] == "ms" and failed > MOST_FAILED * ended:
            failures = f"{failed:,} of {ended:,} attempts failed"
            missed = MissedError(f"SLO not shown: {_named(verdict)}, and {failures}")
            return Judgement(missed, tuple(notes))
        notes.append(f"SLO not shown: {_named(verdict)}: neither held nor broken")
    return Judgement(notes=tuple(notes))


def _named(verdict: Result) -> str:
    """The SLO, with the reason where no value speaks for itself."""
    if verdict["reason"] and (verdict["value"] is None or verdict["word"] == "not shown"):
        return f"{verdict['condition']} ({verdict['reason']})"
    condition: str = verdict["condition"]
    return condition


def _failed(rounds: Sequence[Level]) -> tuple[int, int]:
    """How many attempts failed, and how many ended."""
    counts = [level["counts"] for level in rounds]
    failed = sum(sum(count["errors"].values()) for count in counts)
    return failed, failed + sum(count["ok"] for count in counts)


def _starved(result: Result) -> Result | None:
    return next((level for level in result["levels"] if is_starved(level)), None)


def _why_none(result: Result) -> str:
    starved = _starved(result)
    return "the generator was the limit" if starved is None else starved_text(starved)


def _hint(result: Result) -> str:
    if _starved(result) is None:
        return "give it more room (--workers, ulimit -Hn, another machine) or less load"
    return "requests take longer than the window: give it a longer -z, or less load"
