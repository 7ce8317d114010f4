"""After the load: judge, close result.json, say it, draw it, and choose how the process ends.

Heavy libraries are welcome from here on. What is measured is on disk before anything is drawn.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from torr.cli.finish import Steps, finish
from torr.cli.gate import gate, judged
from torr.cli.keeping import registered
from torr.cli.unanswered import nothing_measured
from torr.errors import GeneratorLimitedError, InterruptedRunError
from torr.results.result import Conclusions, RunResult, read
from torr.stats.series import noun_of
from torr.store.atomic import SHARED, replace_bytes
from torr.units import show_count, show_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.lab import Outcome
    from torr.messages.say import Language
    from torr.model.condition import Condition
    from torr.results.level import Level
    from torr.store.rundir import RunDirectory

PUBLISHED = (".dat", ".png")


def conclude(outcome: Outcome, directory: RunDirectory, flags: dict[str, Any]) -> None:
    """Finish a run whose load is over; raise the error that the process ends with, if any."""
    is_unanswered = outcome.failure is not None and not outcome.interrupted
    is_drawn = bool(outcome.levels) and not outcome.is_urgent and not is_unanswered

    def show(result: RunResult, paths: list[Path], kept: int | None) -> None:
        if not is_unanswered or flags["output"] == "json":
            show_result(result, directory, flags)
        if is_drawn and is_text(flags):
            print_paths(directory, paths, kept)

    finish(
        Steps(
            judge=lambda: closed(outcome, directory, flags["slos"]),
            write_junit=lambda result: write_junit(result, flags, outcome.failure),
            draw=lambda result: draw(result, directory, flags["language"]) if is_drawn else [],
            register=lambda: registered(directory, is_asked=not flags["no_store"]),
            show=show,
            end=lambda result: _end(outcome, result, directory, flags),
        )
    )


def closed(outcome: Outcome, directory: RunDirectory, slos: Sequence[Condition]) -> RunResult:
    """Judge the levels and write the last result.json; what it says."""
    conclusions = concluded(directory.head["kind"], directory.full_levels(), slos)
    if outcome.aborted is not None:
        ended_by = f"--abort-on '{outcome.aborted}'"
        conclusions = msgspec.structs.replace(conclusions, ended_by=ended_by)
    directory.close(outcome.status, conclusions)
    return read(directory.result_path)


def concluded(kind: str, levels: Sequence[Level], slos: Sequence[Condition]) -> Conclusions:
    """Return what is concluded of the levels of a run or a ladder."""
    from torr.verdicts import capacity

    return Conclusions(
        verdicts=capacity.verdicts(levels, slos),
        capacity=capacity.analyse(levels, slos) if kind == "ladder" else None,
    )


def write_junit(result: RunResult, flags: dict[str, Any], why: str | None = None) -> None:
    """Write what passed and failed where `--junit` says; `why` nothing was measured, if so."""
    if flags["junit"] is not None:
        from torr.report.files import junit

        missed = judged(result, flags).missed
        said = why if missed is None else missed.message
        junit.write(result, flags["junit"], said)


def draw(
    result: RunResult, directory: RunDirectory, language: Language | None = None
) -> list[Path]:
    """Write the report's files, and the newest data and pictures beside the run's directory.

    On GitHub the summary stands on the page of the job's step, too.
    """
    from torr import report
    from torr.report.files import step_summary

    paths = report.write_all(result, directory.path, language)
    step = os.environ.get(step_summary.VARIABLE)
    if step:
        note = step_summary.append(result, Path(step))
        if note is not None:
            click.echo(f"note: {note}", err=True)
    published = [path for path in paths if path.suffix in PUBLISHED]
    for path in published:
        with directory.translating_errors():
            replace_bytes(directory.root / path.name, path.read_bytes(), SHARED)
    return [directory.root / path.name for path in published]


def show_result(result: RunResult, directory: RunDirectory, flags: dict[str, Any]) -> None:
    """Print a result as it was asked for."""
    if flags["output"] == "json":
        print_json(directory)
        return
    from torr.cli.terminal import show

    if result.kind == "ladder" and not flags["quiet"]:
        click.echo()  # the rows of the levels stand above
    show(result, quiet=flags["quiet"], language=flags["language"])


def is_text(flags: dict[str, Any]) -> bool:
    """Return whether more than a verdict is to be printed."""
    return flags["output"] == "text" and not flags["quiet"]


def print_json(directory: RunDirectory) -> None:
    """Copy result.json to stdout."""
    sys.stdout.write(directory.result_path.read_text(encoding="utf-8"))
    sys.stdout.flush()


def print_paths(directory: RunDirectory, published: Sequence[Path], kept: int | None) -> None:
    """Say where the page and flame graphs are, the newest files, and as which run it is kept."""
    from torr.report.files import flame_svg

    click.echo(f"\nreport  {click.format_filename(directory.path / 'report.html')}")
    drawn = flame_svg.written(directory.path)
    if drawn:
        more = f" and {len(drawn) - 1} more" if len(drawn) > 1 else ""
        click.echo(f"flame   {click.format_filename(drawn[0])}{more}")
    if published:
        click.echo(f"newest  {', '.join(map(click.format_filename, published))}")
    if kept is not None:
        click.echo(f"kept    as run {kept}")


def _end(
    outcome: Outcome, result: RunResult, directory: RunDirectory, flags: dict[str, Any]
) -> None:
    """Raise what the exit code says, the most important first."""
    if outcome.failure is not None and not outcome.interrupted:
        raise nothing_measured(str(outcome.failure), result, directory.path)
    if outcome.interrupted:
        kept = f"{show_count(len(outcome.levels), 'level')} kept in {directory.path}"
        raise InterruptedRunError(f"interrupted: {kept}")
    limited = [x for x in result.levels if x.health.verdict == "generator-limited"]
    if flags["strict"] and limited:
        places = list(dict.fromkeys(level.concurrency for level in limited))
        where = show_levels(places, noun_of(result.levels))
        raise GeneratorLimitedError(f"--strict: the generator was the limit at {where}")
    gate(result, flags)
    if result.levels and not any(level.counts.ok for level in result.levels):
        raise nothing_measured("no request succeeded", result, directory.path)
