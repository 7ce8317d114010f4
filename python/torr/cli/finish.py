"""Finish a run for a command: print it as the options say, and raise its error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from torr.cli.streams import echo_pair, printed, show_notes
from torr.finishing.pipeline import FinishedRun, finish
from torr.messages.say import say
from torr.results.result import encoded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.finishing.pipeline import EndedRun, FinishOptions
    from torr.results.result import RunResult


def finish_command(run: EndedRun, options: FinishOptions) -> None:
    """Finish and print a run; raise the error that the process ends with, if any."""

    def show(finished: FinishedRun) -> None:
        show_notes(finished.notes)
        printed.is_in_files = True
        if options.output == "json":
            _print_json(run)
            return
        if run.status != "failed":
            _print_result(finished.result, options)
        if run.is_drawn and not options.quiet:
            _print_paths(finished)

    finished = finish(run, options, show)
    show_notes(finished.decision.notes)
    if finished.error is not None:
        raise finished.error


def print_unsaved(result: RunResult, options: FinishOptions) -> None:
    """Print the result of a run that cannot be saved."""
    if options.output == "json":
        sys.stdout.write(f"{encoded(result).decode()}\n")
        sys.stdout.flush()
    else:
        _print_result(result, options)


def _print_json(run: EndedRun) -> None:
    """Copy result.json to stdout."""
    sys.stdout.write(run.directory.result_path.read_text(encoding="utf-8"))
    sys.stdout.flush()


def _print_result(result: RunResult, options: FinishOptions) -> None:
    from torr.cli.terminal import show

    if result.kind == "ladder" and not options.quiet:
        click.echo()  # below the rows of the levels
    show(result, quiet=options.quiet, language=options.language)


def _print_paths(finished: FinishedRun) -> None:
    """Print the paths of the report, flame graphs and published files, and the id in the store."""
    from torr.report.files import flame_svg

    click.echo()
    path = click.format_filename(finished.directory / "report.html")
    echo_pair(say("report"), path)
    drawn = flame_svg.written(finished.directory)
    if drawn:
        text = click.format_filename(drawn[0])
        more = len(drawn) - 1
        echo_pair(say("flame"), say("{first} and {n} more", first=text, n=more) if more else text)
    kind = finished.result.kind
    if finished.published and kind not in ("compare", "diff"):
        echo_pair(say("newest"), _names(finished.published))
    if finished.run_id is not None:
        echo_pair(say("stored"), say("as run {id}", id=finished.run_id))
    if kind == "diff":
        for plot in finished.published:
            echo_pair(say("plot"), click.format_filename(plot))


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(map(click.format_filename, paths))
