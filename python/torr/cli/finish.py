"""Finish a run for a command: print it as the options say, and raise its error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torr.cli.streams import printed, show_notes
from torr.finishing.pipeline import FinishedRun, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.finishing.pipeline import EndedRun, FinishOptions


def finish_command(run: EndedRun, options: FinishOptions) -> None:
    """Finish and print a run; raise the error that the process ends with, if any."""

    def show(finished: FinishedRun) -> None:
        show_notes(finished.notes)
        printed.is_in_files = True
        if options.output == "json":
            _print_json(run)
            return
        if run.status != "failed":
            _print_result(finished, options)
        if run.is_drawn and not options.quiet:
            _print_paths(finished)

    finished = finish(run, options, show)
    show_notes(finished.decision.notes)
    if finished.error is not None:
        raise finished.error


def _print_json(run: EndedRun) -> None:
    """Copy result.json to stdout."""
    sys.stdout.write(run.directory.result_path.read_text(encoding="utf-8"))
    sys.stdout.flush()


def _print_result(finished: FinishedRun, options: FinishOptions) -> None:
    from torr.cli.terminal import show

    if finished.result.kind == "ladder" and not options.quiet:
        click.echo()  # below the rows of the levels
    show(finished.result, quiet=options.quiet, language=options.language)


def _print_paths(finished: FinishedRun) -> None:
    """Print the paths of the report, flame graphs and published files, and the id in the store."""
    from torr.report.files import flame_svg

    click.echo(f"\nreport  {click.format_filename(finished.directory / 'report.html')}")
    drawn = flame_svg.written(finished.directory)
    if drawn:
        more = f" and {len(drawn) - 1} more" if len(drawn) > 1 else ""
        click.echo(f"flame   {click.format_filename(drawn[0])}{more}")
    kind = finished.result.kind
    if finished.published and kind not in ("compare", "diff"):
        click.echo(f"newest  {_names(finished.published, ', ')}")
    if finished.run_id is not None:
        click.echo(f"stored  as run {finished.run_id}")
    if kind == "diff":
        click.echo(_names([f"plot    {path}" for path in finished.published], "\n"))


def _names(paths: Sequence[Path | str], between: str) -> str:
    return between.join(map(click.format_filename, paths))
