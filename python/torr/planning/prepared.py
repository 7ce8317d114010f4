"""A run or a ladder before its start: its plan, the head of its result.json, and its experiment.

Nothing is opened or written here. NumPy, SciPy, Matplotlib and Rich are imported after the load.
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

    from torr.experiments.context import Outcome, RunContext
    from torr.experiments.profiling import Experiment
    from torr.model.plan import Plan
    from torr.monitor.monitor import MonitorScope
    from torr.options.measure import MeasureOptions
    from torr.options.result import ResultOptions
    from torr.stats.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Prepared:
    """The head of a run's result.json, and the experiment.

    No file of the run may hold one of `secrets`; `notes` are for its user.
    """

    head: dict[str, Any]
    experiment: Experiment
    watch: Callable[[], MonitorScope] | None = None
    secrets: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def prepare(options: MeasureOptions, command: Sequence[str]) -> Prepared:
    """Return the run or the ladder of options; `command` is its command line."""
    planned = plan_of(options)
    plan, result = planned.plan, options.result
    experiment, settings = _run(plan) if options.ladder is None else _ladder(plan, options)
    kind = "run" if options.ladder is None else "ladder"
    return Prepared(
        head={
            "kind": kind,
            "command": ["torr", *redacted_command(command)],
            "plan": plan.as_kept(),
            **labels_of(result.note, result.tag),
            "experiment": {**settings, **_conditions(options)},
            "environment": environment(),
        },
        experiment=with_profile(experiment, plan, result),
        watch=watch_of(options.urls, plan, result.monitor),
        secrets=secrets_of(plan, result),
        notes=planned.notes,
    )


def tokenizer_of(path: str | None) -> Tokenizer | None:
    """Return the tokenizer of a file, which is read before any load; None without a path."""
    if path is None:
        return None
    from torr.stats.tokenizer import read_tokenizer

    return read_tokenizer(path)


def run_experiment(prepare: Prepared, context: RunContext) -> Outcome:
    """Run the experiment; remove its files where it could not start or be saved."""
    try:
        return prepare.experiment(context)
    except OutputError:
        with suppress(OutputError):
            context.directory.close("failed")
        raise
    except TorrError:
        if context.directory.is_empty:
            context.directory.abandon()
        raise


def _run(plan: Plan) -> tuple[Experiment, dict[str, Any]]:
    from torr.experiments.run import run

    return (lambda context: run(plan, context)), {}


def _ladder(plan: Plan, options: MeasureOptions) -> tuple[Experiment, dict[str, Any]]:
    from torr.experiments.ladder import Auto, Climb, Fixed, ladder
    from torr.options.ladder import LadderOptions

    options_of_ladder = options.ladder or LadderOptions()
    levels = options_of_ladder.levels or Fixed()
    if isinstance(levels, Auto):
        levels = levels.at_least(len(plan.groups))
    climb = Climb(levels, options_of_ladder.rounds, options.result.slos)
    settings = {"levels": climb.levels.asked, "rounds": climb.rounds}
    return (lambda context: ladder(plan, climb, context)), settings


def _conditions(options: MeasureOptions) -> dict[str, Any]:
    """Return the conditions, which are not in the plan: SLOs, abort conditions, least capacity."""
    result: ResultOptions = options.result
    conditions: dict[str, Any] = {
        "slos": list(map(str, result.slos)),
        "abort_on": list(map(str, result.abort_on)),
    }
    conditions |= {"allow_not_shown": True} if result.allow_not_shown else {}
    if options.ladder is not None and options.ladder.min_capacity is not None:
        conditions["min_capacity"] = str(options.ladder.min_capacity)
    return conditions
