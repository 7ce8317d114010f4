"""`torr runs export`: write runs of the store as run directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.flags import shared
from torr.cli.runs import selection
from torr.cli.streams import echo
from torr.errors import OutputError, UsageError
from torr.messages.say import chain, say
from torr.options.result import ResultOptions
from torr.results.result import RunResult, encoded
from torr.store.atomic import replace_bytes
from torr.store.runs.reading import reading

if TYPE_CHECKING:
    from pathlib import Path

    from torr.messages.say import Language
    from torr.store.runs.store import Store

EXAMPLES = ("torr runs export 12 13 -d for-the-ticket",)


@click.command("export", cls=Verb, examples=EXAMPLES)
@selection.ids
@shared(ResultOptions, "folder", "language")
def export(ids: tuple[int, ...], folder: Path, language: Language | None) -> None:
    """Write runs of the store as directories: result.json, page, tables, pictures."""
    from torr.store.runs.store import open_store

    failed: list[UsageError] = []
    with open_store() as store:
        for run_id in dict.fromkeys(ids):
            try:
                place = _export(store, run_id, folder, language)
            except UsageError as error:  # noqa: PERF203 - the others are exported
                failed.append(error)
            else:
                echo(say("run {id}  {path}", id=run_id, path=click.format_filename(place)))
    if failed:
        messages = dict.fromkeys(error.message for error in failed)
        raise UsageError(chain("; ", [*messages]), failed[0].hint)


def _export(store: Store, run_id: int, folder: Path, language: Language | None) -> Path:
    """Write a run and return its directory; raise StoreError or OutputError."""
    from torr import report
    from torr.store.rundir import check_name

    stored, result = store.run(run_id), store.result(run_id)
    check_name(stored.name, f"the name of run {run_id},")
    place = folder / f"{stored.name}-{stored.started:%Y%m%d-%H%M%S}-{stored.id}"
    _write(result, place)
    with reading(run_id):
        report.write_all(result, place, language)
    return place


def _write(result: RunResult, place: Path) -> None:
    """Write the result into a new directory for its owner alone; raise OutputError."""
    try:
        place.mkdir(mode=0o700, parents=True)
        replace_bytes(place / "result.json", encoded(result) + b"\n")
    except OSError as error:
        raise OutputError(
            say(
                "-d/--dir {place}: cannot be written: {error}",
                place=place,
                error=error.strerror or error,
            ),
            say("choose another directory with -d"),
        ) from error
