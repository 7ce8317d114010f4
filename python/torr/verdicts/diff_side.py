"""One side of a diff: the levels of a result that are set beside those of another.

A side has one setting: what is compared is one series of levels with another.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

import msgspec

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.condition import Condition
from torr.results.base import factors_key
from torr.results.level import Level
from torr.results.profile import Profile
from torr.stats.estimate import ALPHA
from torr.stats.series import Series
from torr.stats.trials import Cell, by_cell, candidates
from torr.verdicts.comparison import discard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.results.base import Factors
    from torr.results.result import RunResult
    from torr.results.verdict import DiscardedRounds

Part = TypeVar("Part", Level, Profile)

# What `concurrency` says already.
_LOAD = "connections"


@dataclass(frozen=True)
class Side:
    """The series of a side, the trials behind it and its profiles: neither of a .dat.

    `run` tells runs apart, `run_name` is what the run is called, `setting` the other factors; two
    sides of one run and setting that are different candidates were interleaved. `alpha` is the
    chance of a false finding that its comparison left for one look, `rule` what discarded rounds,
    and `discarded` these rounds, whichever candidate they were discarded for.
    """

    series: Series
    trials: tuple[Level, ...] = ()
    run: str | None = None
    run_name: str | None = None
    candidate: str | None = None
    setting: Factors = field(default_factory=dict)
    profiles: tuple[Profile, ...] = ()
    alpha: float = ALPHA
    rule: Condition | None = None
    discarded: Mapping[Cell, DiscardedRounds] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.series.name

    def is_interleaved_with(self, other: Side) -> bool:
        """Whether the trials of both took turns in rounds."""
        same = self.run is not None and (self.run, self.setting) == (other.run, other.setting)
        return same and self.candidate != other.candidate


@dataclass(frozen=True, slots=True)
class RunReference:
    """A run, and the part of it that is compared: `RUN:CANDIDATE,factor=value`."""

    run: str
    candidate: str | None = None
    factors: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> RunReference:
        """Return the reference that a text names; the run ends at the first colon."""
        run, _, selection = text.partition(":")
        return cls.of(run, selection)

    @classmethod
    def of(cls, run: str, selection: str) -> RunReference:
        """Return the reference to a run of a selection: `CANDIDATE,factor=value`, or empty."""
        words = selection.split(",") if selection else []
        factors = dict(word.partition("=")[::2] for word in words if "=" in word)
        return cls(run, next((word for word in words if "=" not in word), None), factors)

    @property
    def directory(self) -> str:
        """Return the run without the name of its result.json."""
        path = PurePath(self.run)
        return str(path.parent if path.name == "result.json" else path)


def of_result(result: RunResult, reference: RunReference) -> Side:
    """Return the side of a result that a reference names.

    Raises UsageError that says what is wrong with it, and where it holds functions: those of one
    run took no turns, those of two may be of two machines.
    """
    run = reference.run
    require(
        result.kind != "diff",
        say("{run} is itself a diff", run=run),
        say("give a run, a ladder or a comparison"),
    )
    side = _side(result, reference)
    if not side.series.points:
        raise UsageError(
            say("{run} has no level that claims anything", run=run),
            say("every level was limited or cut short"),
        )
    return side


def _side(result: RunResult, reference: RunReference) -> Side:
    require(
        result.kind != "micro",
        say("{run} holds functions", run=reference.run),
        say("pytest --torr-compare NAME compares them with those of an earlier run"),
    )
    levels = result.levels
    known = candidates(levels)
    chosen = reference.candidate
    if chosen is None:
        chosen = known[0] if known else ""
    if known and (chosen not in known or (reference.candidate is None and len(known) > 1)):
        _refuse_candidate(reference, known)
    selected = [
        x for x in levels if (x.candidate or "") == chosen and _has(x.factors, reference.factors)
    ]
    settings = {factors_key(own): own for own in (_setting(x.factors) for x in selected)}
    if len(settings) != 1 and levels:
        _refuse_setting(reference, chosen, [_setting(level.factors) for level in levels])
    series = Series.of(chosen or result.name, selected)
    setting = next(iter(settings.values()), {})
    taken = [x for x in result.profiles if (x.candidate or "") == chosen]
    text = result.experiment.discard_if
    rule = None if text is None else Condition.parse(text)
    in_setting = [x for x in levels if _setting(x.factors) == setting]
    return Side(
        series,
        _alone(selected, series.name),
        run=f"{result.name} {result.started}",
        run_name=result.name,
        candidate=chosen or None,
        setting=setting,
        profiles=_alone([x for x in taken if _setting(x.factors) == setting], series.name),
        alpha=result.experiment.alpha or ALPHA,
        rule=rule,
        discarded={} if rule is None else _discarded(in_setting, rule),
    )


def _discarded(levels: Sequence[Level], rule: Condition) -> dict[Cell, DiscardedRounds]:
    """Return the rounds of all candidates that a rule discards, by the level of load."""
    cells = by_cell(msgspec.structs.replace(level, factors={}) for level in levels)
    return {cell: discard(rounds, rule)[1] for cell, rounds in cells.items()}


def renamed(side: Side, name: str) -> Side:
    """Return the same under another name."""
    return replace(
        side,
        series=replace(side.series, name=name),
        trials=tuple(msgspec.structs.replace(level, candidate=name) for level in side.trials),
        profiles=tuple(msgspec.structs.replace(each, candidate=name) for each in side.profiles),
    )


def _alone(parts: Iterable[Part], name: str) -> tuple[Part, ...]:
    """What a side is compared by: its level of load alone."""
    return tuple(msgspec.structs.replace(part, factors={}, candidate=name) for part in parts)


def _setting(factors: Factors) -> Factors:
    return {key: value for key, value in factors.items() if key != _LOAD}


def _has(factors: Factors, asked: Mapping[str, str]) -> bool:
    return all(str(factors.get(key)) == value for key, value in asked.items())


def _refuse_candidate(reference: RunReference, known: Sequence[str]) -> None:
    reason = f"has {len(known)} candidates"
    if reference.candidate is not None:
        reason = f"has no candidate {reference.candidate!r}"
    names = ", ".join(name or "(unnamed)" for name in known)
    raise UsageError(
        say("{run} {reason}: {names}", run=reference.run, reason=reason, names=names),
        say(
            "name one after a colon: {directory}:{known}",
            directory=reference.directory,
            known=known[0],
        ),
    )


def _refuse_setting(reference: RunReference, candidate: str, settings: Sequence[Factors]) -> None:
    each = dict.fromkeys(",".join(f"{k}={v}" for k, v in s.items()) for s in settings)
    if not any(each):
        raise UsageError(
            say("{run} has no trial at that setting", run=reference.run), say("leave it out")
        )
    place = f"{reference.directory}:{candidate}"
    hint = (
        say("choose one setting: {place},{next}", place=place, next=next(iter(each)))
        if candidate
        else None
    )
    raise UsageError(
        say("{run} has trials at these settings: {each}", run=reference.run, each="; ".join(each)),
        hint,
    )
