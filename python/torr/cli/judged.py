"""After the trials: verdicts, the whole result, what is said and drawn, how the process ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torr.cli.conclude import draw, is_text, print_paths, show_result, write_junit
from torr.cli.finish import Steps, finish
from torr.cli.gate import gate
from torr.cli.keeping import registered
from torr.errors import GeneratorLimitedError, InterruptedRunError, NothingMeasuredError
from torr.experiments.rules import rules
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_text
from torr.results.result import Conclusions, RunResult, read
from torr.servers.differences import ALIKE, differences_in_cells
from torr.units import show_count, show_setting
from torr.verdicts.comparison import verdicts, with_given_up
from torr.verdicts.limits_of_trials import slo_verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.experiments.lab import Outcome
    from torr.experiments.matrix import Matrix, MatrixRun
    from torr.experiments.trial import Course
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.servers.answer import ResponseDigest
    from torr.store.rundir import RunDirectory

Flags = dict[str, Any]


def conclude(
    outcome: Outcome, directory: RunDirectory, found: tuple[MatrixRun, Plan], flags: Flags
) -> None:
    """Finish a comparison whose trials are over; raises the error that the process ends with."""

    def show(result: RunResult, _paths: list[Path], kept: int | None) -> None:
        show_result(result, directory, flags)
        if not outcome.is_urgent and is_text(flags):
            print_paths(directory, (), kept)

    finish(
        Steps(
            judge=lambda: _closed(outcome, directory, found, flags),
            write_junit=lambda result: write_junit(result, flags),
            draw=lambda result: (
                [] if outcome.is_urgent else draw(result, directory, flags["language"])
            ),
            register=lambda: registered(directory, is_asked=not flags["no_store"]),
            show=show,
            end=lambda result: _end(outcome, result, directory, flags),
        )
    )


def _closed(
    outcome: Outcome, directory: RunDirectory, found: tuple[MatrixRun, Plan], flags: Flags
) -> RunResult:
    """Judge the trials and write the last result.json; what it says."""
    comparison, plan = found
    matrix, course = comparison.matrix, comparison.course
    levels = directory.full_levels()
    experiment = directory.head["experiment"]
    said = [*experiment.get("rules", ()), *rules(matrix, course, plan, directory.failures)]
    experiment |= {
        # A run that went on may have asked only some of them again.
        "answers": {**experiment.get("answers", {}), **_answers(course)},
        "differences": _differences(course, experiment.get("differences", [])),
        "rules": list(dict.fromkeys(said)),
        "given_up": course.given_up,
        "allow_not_shown": flags["allow_not_shown"],
    }
    directory.close(outcome.status, concluded(matrix, course, levels, flags["slos"]))
    return read(directory.result_path)


def _answers(course: Course) -> dict[str, Any]:
    """What each candidate answered, in the first of its cells."""
    found: dict[str, Any] = {}
    for (name, _), answer in course.answers.items():
        found.setdefault(name, _kept(answer))
    return found


def _differences(course: Course, earlier: Sequence[str]) -> list[str]:
    """How the candidates of each cell answer, where that is known of more than one.

    What was said earlier of a run that went on stays: not every cell was asked again.
    """
    cells: dict[str, dict[str, ResponseDigest]] = {}
    for (name, cell), answer in course.answers.items():
        where = show_setting(json.loads(cell))
        cells.setdefault(where, {})[name] = answer
    now = differences_in_cells(cells)
    return list(dict.fromkeys([*(x for x in earlier if x != ALIKE or not now), *now]))


def concluded(
    matrix: Matrix, course: Course, levels: Sequence[Level], slos: Sequence[Condition]
) -> Conclusions:
    """Return what is concluded of the trials of a comparison."""
    judged = verdicts(levels, matrix.baseline, matrix.procedure)
    compared = [with_given_up(each, course.given_up) for each in judged]
    return Conclusions(verdicts=[*compared, *slo_verdicts(levels, slos)])


def _kept(answer: ResponseDigest) -> dict[str, Any]:
    """An answer as result.json has it, without secrets."""
    start = redacted_text(answer.body_start.decode("utf-8", "replace"))
    headers: dict[str, str] = {}
    for name, value in answer.headers:
        shown = REDACTED if is_secret(name) else value
        headers[name] = f"{headers[name]}, {shown}" if name in headers else shown
    return {**asdict(answer), "headers": headers, "body_start": start}


def _end(outcome: Outcome, result: RunResult, directory: RunDirectory, flags: Flags) -> None:
    """Raise what the exit code says, the most important first."""
    if outcome.interrupted:
        kept = f"{show_count(len(outcome.levels), 'trial')} kept in {directory.path}"
        raise InterruptedRunError(f"interrupted: {kept}", f"go on with --resume {directory.path}")
    if not result.levels:
        first = result.failures[0]
        raise NothingMeasuredError(f"no trial could be measured: {first.text}", first.hint)
    failed = result.failures
    if flags["strict"] and failed:
        count = show_count(len(failed), "failure")
        raise NothingMeasuredError(f"--strict: {count}, first: {failed[0].text}")
    limited = [x for x in result.levels if x.health.verdict == "generator-limited"]
    if flags["strict"] and limited:
        count = show_count(len(limited), "trial")
        raise GeneratorLimitedError(f"--strict: the generator was the limit in {count}")
    gate(result, flags)
    if not any(level.counts.ok for level in result.levels):
        raise NothingMeasuredError("no request of any trial succeeded", "torr run --once shows one")
