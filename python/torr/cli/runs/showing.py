"""`torr runs show`: print the result of a run in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.flags import shared
from torr.cli.runs import selection
from torr.cli.streams import echo_pair
from torr.messages.say import chain, say
from torr.options.result import ResultOptions
from torr.report.data.result_words import word_text
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
    kind, status = word_text(stored.kind), word_text(stored.status)
    place = stored.host or say("this machine")
    lines = {
        say("stored"): chain(
            ", ", [chain(": ", [say("as run {id}", id=stored.id), stored.name]), kind, status]
        ),
        say("note"): stored.note,
        say("tags"): " ".join(stored.tags),
        say("commit"): stored.git_commit,
        say("files"): stored.directory
        and say("{path} on {host}", path=stored.directory, host=place),
    }
    click.echo()
    for name, text in lines.items():
        if text:
            echo_pair(name, text)
