"""A run or a ladder that is about to start: its plan, its head of result.json, and its steps.

Nothing is opened or written here. Until the load is over nothing heavy is imported: no numpy,
scipy, matplotlib or rich.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.errors import OutputError, TorrError
from torr.model.label import labels_of
from torr.model.secrets import redacted_command
from torr.planning.plan import plan_of
from torr.planning.profile import with_profile
from torr.planning.secrets import secrets_of
from torr.planning.watch import watch_of
from torr.store.environment import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.experiments.lab import Lab, Outcome
    from torr.experiments.profiling import Experiment
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorScope
    from torr.options.measure import MeasureOptions
    from torr.options.result import ResultOptions
    from torr.stats.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Prepared:
    """What result.json says of a run before it starts, and the steps of its experiment.

    No file of the run may hold one of `secrets`; `notes` are for its user.
    """

    head: dict[str, Any]
    experiment: Experiment
    watch: Callable[[], MonitorScope] | None = None
    secrets: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def prepared(options: MeasureOptions, command: Sequence[str]) -> Prepared:
    """Return the run or the ladder that options describe; `command` is what asks for it."""
    planned = plan_of(options)
    plan, result = planned.plan, options.result
    experiment, asked = _run(plan) if options.ladder is None else _ladder(plan, options)
    kind = "run" if options.ladder is None else "ladder"
    return Prepared(
        head={
            "kind": kind,
            "command": ["torr", *redacted_command(command)],
            "plan": plan.as_kept(),
            **labels_of(result.note, result.tag),
            "experiment": {**asked, **_conditions(options)},
            "environment": environment(),
        },
        experiment=with_profile(experiment, plan, result),
        watch=watch_of(options.urls, plan, result.monitor),
        secrets=secrets_of(plan, result),
        notes=planned.notes,
    )


def tokenizer_of(path: str | None) -> Tokenizer | None:
    """Return what counts tokens, read before any load: its file may be none."""
    if path is None:
        return None
    from torr.stats.tokenizer import read_tokenizer

    return read_tokenizer(path)


def measured(prepared: Prepared, lab: Lab) -> Outcome:
    """Run the experiment; what cannot be kept or started leaves no half-made files."""
    try:
        return prepared.experiment(lab)
    except OutputError:
        with suppress(OutputError):
            lab.directory.close("failed")
        raise
    except TorrError:
        if lab.directory.is_empty:
            lab.directory.abandon()
        raise


def _run(plan: Plan) -> tuple[Experiment, dict[str, Any]]:
    from torr.experiments.run import run

    return (lambda lab: run(plan, lab)), {}


def _ladder(plan: Plan, options: MeasureOptions) -> tuple[Experiment, dict[str, Any]]:
    from torr.experiments.ladder import Auto, Climb, Fixed, ladder
    from torr.options.ladder import LadderOptions

    asked = options.ladder or LadderOptions()
    levels = asked.levels or Fixed()
    if isinstance(levels, Auto):
        levels = levels.at_least(len(plan.groups))
    climb = Climb(levels, asked.rounds, options.result.slos)
    said = {"levels": climb.levels.asked, "rounds": climb.rounds}
    return (lambda lab: ladder(plan, climb, lab)), said


def _conditions(options: MeasureOptions) -> dict[str, Any]:
    """What the plan does not hold: SLOs, abort conditions, a least capacity."""
    result: ResultOptions = options.result
    found: dict[str, Any] = {
        "slos": list(map(str, result.slos)),
        "abort_on": list(map(str, result.abort_on)),
    }
    found |= {"allow_not_shown": True} if result.allow_not_shown else {}
    if options.ladder is not None and options.ladder.min_capacity is not None:
        found["min_capacity"] = str(options.ladder.min_capacity)
    return found
