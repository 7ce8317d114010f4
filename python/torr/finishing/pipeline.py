"""The steps with which every verb ends after its measurement.

    judge ─ JUnit ─ reports and pictures ─ register ─ print ─ exit code

A step that fails prevents only the later ones, so the steps that need least come first. The verb
prints.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from torr.collector import paused_collector
from torr.finishing.no_answer import nothing_measured
from torr.options.diff import DiffOptions
from torr.results.result import RunResult, read
from torr.store.atomic import SHARED, replace_bytes
from torr.store.runs.registration import register
from torr.verdicts.exit import Decision, decide

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.errors import TorrError
    from torr.experiments.context import Outcome
    from torr.messages.say import Language
    from torr.options.result import ResultOptions
    from torr.options.server_trials import ServerTrialOptions
    from torr.planning.prepared import PreparedRun
    from torr.results.result import Conclusions, Status
    from torr.store.rundir import RunDirectory

    FinishOptions = ResultOptions | ServerTrialOptions | DiffOptions

PUBLISHED = (".dat", ".png")


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run whose measurements are on disk, and the function that judges them.

    With `publishes` the newest data and pictures are copied beside the run's directory.
    """

    directory: RunDirectory
    conclude: Callable[[], Conclusions]
    status: Status = "complete"
    is_drawn: bool = True
    publishes: bool = True

    @classmethod
    def of(
        cls,
        prepared: PreparedRun,
        outcome: Outcome,
        directory: RunDirectory,
        *,
        is_drawn: bool = True,
    ) -> EndedRun:
        """Return a measured run; one that is urgent or without a response is not drawn."""
        has_answer = bool(outcome.levels) and outcome.status != "failed"
        is_worth_drawing = has_answer or directory.head.kind in ("compare", "tune")
        return cls(
            directory,
            partial(prepared.conclude, directory, outcome),
            outcome.status,
            is_drawn=is_drawn and is_worth_drawing and not outcome.is_urgent,
        )


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run: its result, its published files, and its id in the store.

    `notes` tell what went wrong in steps whose errors do not end the command.
    """

    result: RunResult
    directory: Path
    decision: Decision
    published: list[Path] = field(default_factory=list)
    run_id: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def error(self) -> TorrError | None:
        """The error that a command ends with; without a response it tells what was sent."""
        error = self.decision.error
        if error is None or not self.decision.is_unanswered:
            return error
        return nothing_measured(error.message, self.result, self.directory)


@paused_collector()
def finish(
    run: EndedRun, options: FinishOptions, show: Callable[[FinishedRun], None]
) -> FinishedRun:
    """Take the steps in order; raise the error of the first that fails."""
    run.directory.close(run.status, run.conclude())
    result = read(run.directory.result_path)
    is_strict = not isinstance(options, DiffOptions) and options.strict
    decision = decide(result, run.directory.path, is_strict=is_strict)
    if options.junit is not None:
        from torr.report.files import junit

        error = decision.error
        junit.write(result, options.junit, None if error is None else error.message)
    published, notes = draw(run, result, options.language) if run.is_drawn else ([], ())
    registered = register(run.directory.path, result, is_asked=not options.no_store)
    notes = notes if registered.problem is None else (*notes, registered.problem)
    finished = FinishedRun(result, run.directory.path, decision, published, registered.id, notes)
    show(finished)
    return finished


def draw(
    run: EndedRun, result: RunResult, language: Language | None = None
) -> tuple[list[Path], tuple[str, ...]]:
    """Write the report's files; return those published beside the run's directory, and notes.

    A run that was interrupted before it measured a level replaces no published file.
    On GitHub the summary is also on the page of the job's step.
    """
    from torr import report
    from torr.report.files import step_summary

    directory = run.directory
    paths = report.write_all(result, directory.path, language)
    has_level = any(not level.cut_short for level in result.levels)
    if not run.publishes or (result.status == "interrupted" and not has_level):
        return [], ()
    step = os.environ.get(step_summary.VARIABLE)
    note = step_summary.append(result, Path(step)) if step else None
    files = [path for path in paths if path.suffix in PUBLISHED]
    for path in files:
        with directory.translating_errors():
            replace_bytes(directory.root / path.name, path.read_bytes(), SHARED)
    return [directory.root / path.name for path in files], () if note is None else (note,)
