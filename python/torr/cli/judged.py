"""After the trials: verdicts, the whole result, what is said and drawn, how the process ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torr.cli.finish import finish_command
from torr.experiments.rules import rules
from torr.finishing.pipeline import EndedRun
from torr.messages.message import from_object
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.servers.differences import ALIKE, differences_in_cells
from torr.units import show_setting
from torr.verdicts.conclusions import of_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cli.comparing import Comparing
    from torr.experiments.context import Outcome
    from torr.experiments.matrix import Matrix, MatrixRun
    from torr.experiments.trial import ComparisonState
    from torr.messages.message import Message
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.results.level import Level
    from torr.results.result import Conclusions
    from torr.servers.answer import ResponseDigest
    from torr.store.rundir import RunDirectory


def finish_comparison(
    outcome: Outcome, directory: RunDirectory, found: tuple[MatrixRun, Plan], asked: Comparing
) -> None:
    """Finish a comparison whose trials are over; raises the error that the process ends with."""
    is_calm = not outcome.is_urgent
    run = EndedRun(
        directory,
        lambda: _conclusions(directory, found, asked),
        outcome.status,
        is_drawn=is_calm,
    )
    finish_command(run, asked.options, names_files=is_calm, label=None)


def _conclusions(
    directory: RunDirectory, found: tuple[MatrixRun, Plan], asked: Comparing
) -> Conclusions:
    """Judge the trials; what is known of the comparison at its end stands in its experiment."""
    comparison, plan = found
    matrix, state = comparison.matrix, comparison.state
    experiment = directory.head["experiment"]
    earlier = map(from_object, experiment.get("rules", ()))
    said = [*earlier, *rules(matrix, state, plan, directory.failures)]
    experiment |= {
        # A run that went on may have asked only some of them again.
        "answers": {**experiment.get("answers", {}), **_answers(state)},
        "differences": _differences(state, experiment.get("differences", [])),
        "rules": list(dict.fromkeys(said)),
        "given_up": state.given_up,
        "allow_not_shown": asked.options.allow_not_shown,
    }
    return concluded(matrix, state, directory.full_levels(), asked.slos)


def _answers(state: ComparisonState) -> dict[str, Any]:
    """What each candidate answered, in the first of its cells."""
    found: dict[str, Any] = {}
    for (name, _), answer in state.answers.items():
        found.setdefault(name, _kept(answer))
    return found


def _differences(state: ComparisonState, earlier: Sequence[object]) -> list[Message]:
    """How the candidates of each cell answer, where that is known of more than one.

    What was said earlier of a run that went on stays: not every cell was asked again.
    """
    cells: dict[str, dict[str, ResponseDigest]] = {}
    for (name, cell), answer in state.answers.items():
        where = show_setting(json.loads(cell))
        cells.setdefault(where, {})[name] = answer
    now = differences_in_cells(cells)
    before = [each for each in map(from_object, earlier) if each != ALIKE or not now]
    return list(dict.fromkeys([*before, *now]))


def concluded(
    matrix: Matrix, state: ComparisonState, levels: Sequence[Level], slos: Sequence[Condition]
) -> Conclusions:
    """Return what is concluded of the trials of a comparison."""
    return of_trials(levels, matrix.baseline, matrix.procedure, slos, state.given_up)


def _kept(answer: ResponseDigest) -> dict[str, Any]:
    """An answer as result.json has it, without secrets."""
    start = redacted_text(answer.body_start.decode("utf-8", "replace"))
    headers: dict[str, str] = {}
    for name, value in answer.headers:
        shown = REDACTED if is_secret(name) else value
        headers[name] = f"{headers[name]}, {shown}" if name in headers else shown
    return {**asdict(answer), "headers": headers, "body_start": start}
