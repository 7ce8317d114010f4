"""Decides the exit code of a run, with its reason, by the result.

Reasons in their order: no response, an interruption, `--strict`, conditions, no success, an
incomplete log. The conditions are SLOs, limits of change and a least capacity, and that no abort
condition ended the load; all that failed are named. A condition that is not shown fails, unless the
user allows it. A ladder climbs until SLOs break, so it passes with a capacity under them, of which
`--min-capacity` is the least; without one its lowest level that claims anything counts. In a
comparison every candidate counts in every cell. A tuning passes when it has a verdict, since it
asks which setting keeps the SLOs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import (
    ExitCode,
    GeneratorLimitedError,
    InterruptedRunError,
    MissedError,
    NothingMeasuredError,
    OutputError,
    TorrError,
    exit_code,
)
from torr.messages.counts import counted, levels_of
from torr.messages.say import Text, chain, say
from torr.model.condition import Condition
from torr.model.least_capacity import LeastCapacity
from torr.results.capacity import Capacity, SloCapacity
from torr.results.position import ARRIVAL
from torr.stats.series import by_position, lowest, noun_of, place_of, starved_text
from torr.stats.trials import unmeasured
from torr.units import show_rate, show_setting
from torr.verdicts.slo import few_of, part_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict

_SHOWN = 3
OF_TRIALS = ("compare", "tune")
"""Kinds of results whose levels are trials of servers."""
ALL_LOST = "failure.all_processes_lost"
_MOST_NAMED = 3
"""Conditions that are not shown and that an error names."""
_LONGER = say("such as -z 30s")
_ROWS = say("such as a longer part of the trace")
_MORE = {
    "compare": say("such as --rounds 20 or -z 30s"),
    "diff": say("such as --rounds 20 of both sides"),
}
MOST_FAILED = 0.01
"""A time that is not shown passes only where at most this share of the attempts failed."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a run ends: with an error or with none, and which SLOs and limits are not shown.

    `is_unanswered` says that the error is about requests without response, of which the result has
    the details.
    """

    error: TorrError | None = None
    notes: tuple[str, ...] = ()
    is_unanswered: bool = False

    @property
    def code(self) -> ExitCode:
        """The exit code; that of SIGINT for an interruption whose signal is not known."""
        return ExitCode.FINE if self.error is None else exit_code(self.error)


def decide(result: RunResult, directory: Path, *, is_strict: bool = False) -> Decision:
    """Return how a run ends whose files are in a directory.

    A log that is incomplete is the error of a run that has no other, and else a note.
    """
    decision = _decide(result, directory, is_strict=is_strict)
    lost = log_lost(result)
    if lost is None:
        return decision
    if decision.error is None:
        return replace(decision, error=lost)
    return replace(decision, notes=(*decision.notes, lost.message))


def _decide(result: RunResult, directory: Path, *, is_strict: bool) -> Decision:
    early = (_of_trials if result.kind in OF_TRIALS else _of_load)(result, directory)
    if early is not None:
        return early
    if is_strict and result.failures:
        count, first = counted(len(result.failures), "failure"), result.failures[0].text
        return Decision(
            NothingMeasuredError(say("--strict: {count}, first: {first}", count=count, first=first))
        )
    limited = [x for x in result.levels if x.is_limited]
    if is_strict and limited:
        return Decision(_limited(result, limited))
    passed = gate(result)
    if passed.error is not None or has_success(result):
        return passed
    if result.kind in OF_TRIALS:
        hint = "torr run --once shows one"
        none = NothingMeasuredError(say("no request of any trial succeeded"), hint)
        return Decision(none, passed.notes)
    return Decision(
        NothingMeasuredError(say("no request succeeded")), passed.notes, is_unanswered=True
    )


def has_success(result: RunResult) -> bool:
    """Return whether a request succeeded, if there was one."""
    return not result.levels or any(level.counts.ok for level in result.levels)


def gate(result: RunResult) -> Decision:
    """Return whether a result passes, by what was asked of it when it was measured.

    A run that an abort condition ended does not pass, whatever its SLOs say.
    """
    experiment = result.experiment
    of_limits = _of_limits(result.fail_if)
    of_slos = _of_slos(result, experiment.slos)
    notes = (*of_slos.notes, *of_limits.notes)
    missed = [error for error in (of_slos.error, of_limits.error) if error is not None]
    others = missed_otherwise(result)
    if notes and not missed and not result.ended_by and not experiment.allow_not_shown:
        missed.append(_not_shown(notes, _more_of(result)))
        notes = ()
    return Decision(_joined([*missed, *others]), notes)


def missed_otherwise(result: RunResult) -> list[TorrError]:
    """Return why a result does not pass, apart from its SLOs and limits of change."""
    missed: list[TorrError] = []
    if result.ended_by:
        missed.append(MissedError(say("ended early by {ended_by}", ended_by=result.ended_by)))
    if (least := result.experiment.min_capacity) is not None:
        below = capacity_missed(LeastCapacity.parse(least), result)
        missed += [] if below is None else [below]
    return missed


def _joined(missed: Sequence[TorrError]) -> MissedError | None:
    """Return one error that names all of them, with the first hint."""
    if not missed:
        return None
    hint = next((error.hint for error in missed if error.hint), None)
    return MissedError(chain("; ", [error.message for error in missed]), hint)


def log_lost(result: RunResult) -> OutputError | None:
    """Return why the log of `--log` is incomplete, or None if it is complete."""
    warnings = (warning for level in result.levels for warning in level.warnings)
    cause = next((x.values["error"] for x in warnings if x.code == "warning.log_ends_early"), None)
    if cause is None:
        return None
    path = (result.plan or {}).get("log")
    hint = say("free space or name another file, and run it again; the result itself is complete")
    return OutputError(
        say("--log {path}: the log is incomplete: {cause}", path=path, cause=cause), hint
    )


def fails(words: Collection[str | None], *, allows_not_shown: bool) -> bool:
    """Return whether verdicts with these words let a limit or a budget fail."""
    failing = {"broken"} if allows_not_shown else {"broken", "not shown"}
    return not failing.isdisjoint(words)


def capacity_missed(least: LeastCapacity, result: RunResult) -> MissedError | None:
    """Return why a ladder does not show a least capacity, or None if it does."""
    capacity = result.capacity or Capacity()
    name = "slo" if result.experiment.slos else "peak"
    shown = capacity.slo if name == "slo" else capacity.peak
    asked = f"--min-capacity '{least}'"
    if shown is None:
        why = capacity.reasons.get(name) or say("no level was measured")
        return MissedError(say("{asked}: not shown: {why}", asked=asked, why=why))
    reached = shown.ok_per_s if least.ok_per_s is not None else shown.position
    limit = least.ok_per_s if least.ok_per_s is not None else least.position
    if limit is None or reached >= limit:
        return None
    bound = "≥ " if shown.at_least else ""
    noun = noun_of(result.levels)
    place = say(
        "{rate} ok/s at {levels}",
        rate=f"{bound}{show_rate(shown.ok_per_s)}",
        levels=levels_of([shown.position], noun),
    )
    said = {"asked": asked, "place": place}
    if isinstance(shown, SloCapacity) and shown.beyond is None:
        if any(level.position > shown.position for level in result.levels):
            why = say("{asked}: not shown: no higher level claims anything, {place}", **said)
            return MissedError(why, _hint(result))
        hint = say("the ladder ended before the SLOs broke: give it higher --levels")
        if noun == ARRIVAL:
            hint = say("the ladder ended before the SLOs broke: give it higher --rates")
        return MissedError(say("{asked}: not shown: the highest level held, {place}", **said), hint)
    return MissedError(say("{asked}: missed: {place}", **said))


def _of_load(result: RunResult, directory: Path) -> Decision | None:
    """Return the decision about a run or ladder that ended before it could be judged."""
    if result.status == "failed" and result.levels:
        failure = result.levels[0].failure or ""
        # Without the processes that send the load, the requests say nothing about the target.
        is_unanswered = getattr(failure, "code", None) != ALL_LOST
        return Decision(NothingMeasuredError(failure), is_unanswered=is_unanswered)
    if result.status == "interrupted":
        return Decision(_interrupted(result, "level", directory))
    return None


def _of_trials(result: RunResult, directory: Path) -> Decision | None:
    """Return the decision about a comparison that ended before it could be judged."""
    failed = result.failures
    if result.status == "interrupted":
        hint = say("continue with --resume {directory}", directory=directory)
        return Decision(_interrupted(result, "trial", directory, hint))
    if not result.levels:
        error = NothingMeasuredError(
            say("no trial could be measured: {text}", text=failed[0].text), failed[0].hint
        )
        return Decision(error)
    return None


def _interrupted(
    result: RunResult, noun: str, directory: Path, hint: str | None = None
) -> InterruptedRunError:
    """Return how much a stopped run measured; a level stopped in its warm-up is none."""
    count = sum(len(levels) for levels in by_position(result.levels).values())
    if not count:
        nothing = say(
            "interrupted before the window: nothing was measured; the files are in {directory}",
            directory=directory,
        )
        return InterruptedRunError(nothing, hint)
    measured = counted(count, noun)
    return InterruptedRunError(
        say(
            "interrupted: {directory} has the results of {measured}",
            directory=directory,
            measured=measured,
        ),
        hint,
    )


def _limited(result: RunResult, limited: Sequence[Level]) -> GeneratorLimitedError:
    if result.kind in OF_TRIALS:
        where: str = counted(len(limited), "trial")
        return GeneratorLimitedError(
            say("--strict: the generator was the limit in {where}", where=where)
        )
    places = list(dict.fromkeys(level.position for level in limited))
    where = levels_of(places, noun_of(result.levels))
    return GeneratorLimitedError(
        say("--strict: the generator was the limit at {where}", where=where)
    )


def _not_shown(notes: Sequence[str], more: Text) -> MissedError:
    """Return the error of conditions that are not shown; `more` is what could show them."""
    text = chain("; ", notes[:_MOST_NAMED])
    if len(notes) > _MOST_NAMED:
        text = say("{first} and {n} more", first=text, n=len(notes) - _MOST_NAMED)
    hint = say("measure more, {more}, or pass it with --allow-not-shown", more=more)
    return MissedError(text, hint)


def _more_of(result: RunResult) -> Text:
    """Return what gives enough responses, if they come as fast as in the result."""
    few = [(x, need) for x in result.slo_verdicts if (need := few_of(x)) is not None]
    # A reserve of 20 %, since rates vary.
    factors = [1.2 * need.needed / need.seen for _, need in few if need.seen]
    # Times are judged within each trial, shares over all of them.
    if result.kind in OF_TRIALS and any(verdict.unit == "ms" for verdict, _ in few):
        return say("such as a longer duration, or more requests, of each trial")
    plan = result.plan or {}
    paces = [group.get("pace", {}).get("kind") for group in plan.get("groups", ())]
    if "fed" in paces:
        return _ROWS
    stop = plan.get("stop", {})
    if stop.get("kind") == "requests" and factors:
        number = _round_up(math.ceil(max(factors) * stop["requests"]))
        return say("such as --requests {number}", number=number)
    if result.kind != "run" or not factors:
        return _MORE.get(result.kind, _LONGER)
    seconds = max(factors) * result.levels[0].seconds
    if seconds <= 300:
        return say("such as -z {duration}", duration=f"{math.ceil(seconds / 10) * 10}s")
    return say("such as -z {duration}", duration=f"{math.ceil(seconds / 60)}m")


def _round_up(number: int) -> int:
    """Return a number that is not smaller and has two digits that are not 0."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return step * math.ceil(number / step)


def _of_limits(entries: Sequence[Verdict]) -> Decision:
    """Return the decision about the limits of a diff."""
    failed = [_of_limit(entry) for entry in entries if entry.word == "broken"]
    unshown = [_of_limit(entry) for entry in entries if entry.word == "not shown"]
    missed = MissedError(chain(" ", ["--fail-if", chain(", ", failed)])) if failed else None
    return Decision(missed, tuple(say("--fail-if not shown: {limit}", limit=x) for x in unshown))


def _of_limit(entry: Verdict) -> Text:
    return say(
        "{condition} at {level:,} ({why})",
        condition=entry.condition,
        level=entry.position,
        why=entry.reason,
    )


def _of_slos(result: RunResult, slos: Sequence[str]) -> Decision:
    """Return the decision about SLOs, by the capacity or the lowest level that claims anything."""
    if result.kind == "compare":
        return _of_candidates(result)
    has_capacity = result.capacity is not None and result.capacity.slo is not None
    if result.kind == "tune" or has_capacity:
        return Decision()
    texts = dict.fromkeys(verdict.condition or "" for verdict in result.slo_verdicts)
    slos = list(texts) or slos
    if not slos:
        return Decision()
    rounds = lowest(result.levels)
    if not rounds or not result.slo_verdicts:
        return Decision(_unjudged(slos) if rounds else _without_claim(slos, result))
    at = rounds[0].position
    found = [verdict for verdict in result.slo_verdicts if verdict.position == at]
    broken = [_named(verdict) for verdict in found if verdict.word == "broken"]
    if broken:
        return Decision(MissedError(say("SLO broken: {slos}", slos=chain(", ", broken))))
    return _of_unshown([(v, _named(v), rounds) for v in found if v.word == "not shown"])


def _without_claim(slos: Sequence[str], result: RunResult) -> MissedError:
    asked, why = ", ".join(slos), _why_none(result)
    return MissedError(say("SLO {asked}: not shown: {why}", asked=asked, why=why), _hint(result))


def _unjudged(slos: Sequence[str]) -> MissedError:
    """Return the error of a run that was ended before its conclusions, as by a full disk."""
    asked, why = ", ".join(slos), say("the run ended before it was judged")
    return MissedError(say("SLO {asked}: not shown: {why}", asked=asked, why=why))


def _of_candidates(result: RunResult) -> Decision:
    """Return the decision about the SLOs of every candidate in every cell."""
    slos = result.slo_verdicts
    if not slos:
        asked = result.experiment.slos
        return Decision(_unjudged(asked) if asked else None)
    never = unmeasured(result)
    if never:
        why = say(
            "SLO not shown: {candidate} was not measured: {text}",
            candidate=never[0].candidate,
            text=never[0].text,
        )
        return Decision(MissedError(why))
    noun = noun_of(result.levels)
    broken = [_of_candidate(verdict, noun) for verdict in slos if verdict.word == "broken"]
    if broken:
        text, more = (
            say("SLO broken: {slos}", slos=chain(", ", broken[:_SHOWN])),
            len(broken) - _SHOWN,
        )
        if more > 0:
            text = say("{first} and {n} more", first=text, n=more)
        return Decision(MissedError(text))
    unshown = [
        (v, _of_candidate(v, noun), _trials(v, result)) for v in slos if v.word == "not shown"
    ]
    limited = next((name for _, name, trials in unshown if not trials), None)
    if limited is not None:
        return Decision(
            MissedError(say("SLO not shown: {limited}", limited=limited), _hint(result))
        )
    return _of_unshown(unshown)


def _of_candidate(verdict: Verdict, noun: str) -> str:
    where = show_setting(verdict.factors) or place_of(verdict.position, noun)
    values = {"name": verdict.candidate, "place": where, "said": _named(verdict)}
    return say("{name} at {place}: {said}", **values)


def _trials(verdict: Verdict, result: RunResult) -> list[Level]:
    """Return the trials of a candidate in a cell that claim anything."""
    where = (verdict.candidate, verdict.factors, verdict.position)
    return lowest(x for x in result.levels if (x.candidate, x.factors, x.position) == where)


def _of_unshown(unshown: Sequence[tuple[Verdict, str, Sequence[Level]]]) -> Decision:
    """Return the decision about SLOs that are not shown: a time fails where too much failed.

    Each SLO has its verdict, its name, and the levels that it is about.
    """
    notes: list[str] = []
    for verdict, name, rounds in unshown:
        failed, ended = _failed(rounds, Condition.parse(verdict.condition or "").name)
        # A time is that of the ok responses: the failures are not in it.
        if verdict.unit == "ms" and failed > MOST_FAILED * ended:
            return Decision(
                MissedError(
                    say(
                        "SLO not shown: {name}, and {failed:,} of {ended:,} attempts failed",
                        name=name,
                        failed=failed,
                        ended=ended,
                    )
                ),
                tuple(notes),
            )
        notes.append(say("SLO not shown: {name}: neither held nor broken", name=name))
    return Decision(notes=tuple(notes))


def _named(verdict: Verdict) -> str:
    """Return the SLO, with the reason where it has no value."""
    if verdict.reason and (verdict.value is None or verdict.word == "not shown"):
        return say("{condition} ({why})", condition=verdict.condition, why=verdict.reason)
    return verdict.condition or verdict.metric


def _failed(rounds: Sequence[Level], request: str | None) -> tuple[int, int]:
    """Return how many attempts failed, and how many ended, of all or of one request."""
    counts = [part.counts for level in rounds if (part := part_of(level, request)) is not None]
    return sum(count.failed for count in counts), sum(count.ended for count in counts)


def _starved(result: RunResult) -> Level | None:
    return next((level for level in result.levels if level.is_starved), None)


def _why_none(result: RunResult) -> str:
    starved = _starved(result)
    return say("the generator was the limit") if starved is None else starved_text(starved)


def _hint(result: RunResult) -> str:
    if _starved(result) is None:
        return say("give it more room (--workers, ulimit -Hn, another machine) or less load")
    return say("requests take longer than the window: give it a longer -z, or less load")
