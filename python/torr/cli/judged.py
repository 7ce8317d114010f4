"""After the trials: verdicts, the whole result, what is said and drawn, how the process ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from torr.cli.conclude import draw, print_json, write_junit
from torr.cli.gate import gate
from torr.errors import GeneratorLimitedError, InterruptedRunError, NothingMeasuredError
from torr.experiments.rules import rules
from torr.model.secrets import REDACTED, is_secret, redacted_text
from torr.servers.differences import differences
from torr.servers.versions import versions
from torr.stats import capacity
from torr.stats.comparison import verdicts
from torr.units import show_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.lab import Outcome
    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import Course
    from torr.model.condition import Condition
    from torr.model.plan import Plan
    from torr.servers.answer import Answer
    from torr.store.rundir import RunDirectory

Flags = dict[str, Any]
Result = dict[str, Any]


def conclude(
    outcome: Outcome, directory: RunDirectory, found: tuple[Matrix, Course, Plan], flags: Flags
) -> None:
    """Finish a comparison whose trials are over; raises the error that the process ends with."""
    result = _closed(outcome, directory, found, flags)
    if flags["output"] == "json":
        print_json(directory)
    else:
        from torr.cli.terminal import show

        show(result, quiet=flags["quiet"])
    if not outcome.is_urgent:
        draw(result, directory)
        if flags["output"] == "text" and not flags["quiet"]:
            click.echo(f"\nreport  {directory.path / 'report.html'}")
    write_junit(result, flags)
    _end(outcome, result, directory, flags)


def _closed(
    outcome: Outcome, directory: RunDirectory, found: tuple[Matrix, Course, Plan], flags: Flags
) -> Result:
    """Judge the trials and write the last result.json; what it says."""
    matrix, course, plan = found
    levels = directory.full_levels()
    experiment = directory.head["experiment"]
    for candidate in () if outcome.is_urgent else matrix.candidates:
        experiment["candidates"][candidate.name]["versions"] = versions(candidate.command)
    answers = {name: _kept(answer) for name, answer in course.answers.items()}
    if len(answers) == len(matrix.candidates):
        experiment["differences"] = differences(course.answers)
    experiment |= {
        # A run that went on may have asked only some of them again.
        "answers": {**experiment.get("answers", {}), **answers},
        "rules": list(rules(matrix, course, plan)),
    }
    directory.close(outcome.status, sections(matrix, levels, flags["slos"]))
    result: Result = json.loads(directory.result_path.read_bytes())
    return result


def sections(matrix: Matrix, levels: Sequence[Result], slos: Sequence[Condition]) -> Result:
    """What the trials of a comparison come to, as sections of result.json."""
    judged = verdicts(levels, matrix.baseline, matrix.procedure)
    return {"verdicts": [*judged, *capacity.verdicts(levels, slos)]}


def _kept(answer: Answer) -> dict[str, Any]:
    """An answer as result.json has it, without secrets."""
    start = redacted_text(answer.body_start.decode("utf-8", "replace"))
    headers = {name: REDACTED if is_secret(name) else value for name, value in answer.headers}
    return {**asdict(answer), "headers": headers, "body_start": start}


def _end(outcome: Outcome, result: Result, directory: RunDirectory, flags: Flags) -> None:
    """Raise what the exit code says, the most important first."""
    if outcome.interrupted:
        kept = f"{show_count(len(outcome.levels), 'trial')} kept in {directory.path}"
        raise InterruptedRunError(f"interrupted: {kept}", f"go on with --resume {directory.path}")
    if not result["levels"]:
        first = result["failures"][0]
        raise NothingMeasuredError(f"no trial could be measured: {first['text']}", first["hint"])
    limited = [x for x in result["levels"] if x["health"]["verdict"] == "generator-limited"]
    if flags["strict"] and limited:
        count = show_count(len(limited), "trial")
        raise GeneratorLimitedError(f"--strict: the generator was the limit in {count}")
    gate(result, flags["slos"])
