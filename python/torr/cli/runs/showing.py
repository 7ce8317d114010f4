"""`torr runs show`: print the result of a run in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.flags import shared
from torr.cli.runs import selection
from torr.options.result import ResultOptions
from torr.results.result import encoded
from torr.store.runs.reading import reading

if TYPE_CHECKING:
    from torr.messages.say import Language

EXAMPLES = ("torr runs show 12", "torr runs show -o json 12")


@click.command("show", cls=Verb, examples=EXAMPLES)
@selection.one_id
@shared(ResultOptions, "output", "quiet", "language")
def show(run_id: int, *, output: str, quiet: bool, language: Language | None) -> None:
    """Print the result of a run of the store, with its current note and tags."""
    from torr.store.runs.store import open_store

    with open_store() as store:
        stored, result = store.run(run_id), store.result(run_id)
    if output == "json":
        click.echo(encoded(result).decode())
        return
    from torr.cli import terminal

    with reading(run_id):
        terminal.show(result, quiet=quiet, language=language)
    if quiet:
        return
    lines = {
        "stored": f"as run {stored.id}: {stored.name}, {stored.kind}, {stored.status}",
        "note": stored.note,
        "tags": " ".join(stored.tags),
        "commit": stored.git_commit,
        "files": stored.directory and f"{stored.directory} on {stored.host or 'this machine'}",
    }
    click.echo("\n" + "\n".join(f"{name:<8}{text}" for name, text in lines.items() if text))
