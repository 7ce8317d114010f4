"""`torr runs export`: kept runs as directories, as they were when they had ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr.cli import options
from torr.cli.command import Verb
from torr.cli.runs import choosing
from torr.errors import OutputError

if TYPE_CHECKING:
    from torr.report.say import Language

EXAMPLES = ("torr runs export 12 13 -d for-the-ticket",)


@click.command("export", cls=Verb, examples=EXAMPLES)
@choosing.ids
@options.folder
@options.lang
def export(ids: tuple[int, ...], folder: Path, language: Language | None) -> None:
    """Write kept runs under a directory: result.json, page, tables and pictures."""
    from torr import report
    from torr.store.kept.store import open_store
    from torr.store.rundir import check_name

    with open_store() as store:
        for run_id in dict.fromkeys(ids):
            kept, result = store.run(run_id), store.result(run_id)
            check_name(kept.name, f"the name of run {run_id},")
            place = folder / f"{kept.name}-{kept.started:%Y%m%d-%H%M%S}-{kept.id}"
            _write(result, place)
            with choosing.reading(run_id):
                report.write_all(result, place, language)
            click.echo(f"run {kept.id}  {click.format_filename(place)}")


def _write(result: dict[str, Any], place: Path) -> None:
    """A new directory with the result; what is there already is not touched."""
    try:
        place.mkdir(parents=True)
        text = json.dumps(result, ensure_ascii=False) + "\n"
        (place / "result.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"-d/--dir {place}: cannot be written: {error.strerror or error}",
            "choose another directory with -d",
        ) from error
