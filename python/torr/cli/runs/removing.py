"""`torr runs rm`: remove runs from the store."""

from __future__ import annotations

import click

from torr.cli.command import Verb
from torr.cli.runs import selection
from torr.cli.streams import echo
from torr.messages.say import say

EXAMPLES = ("torr runs rm 3 4",)


@click.command("rm", cls=Verb, examples=EXAMPLES)
@selection.ids
def remove(ids: tuple[int, ...]) -> None:
    """Remove these runs from the store, or none if one is unknown; keep all files."""
    from torr.store.runs.store import open_store

    with open_store() as store:
        removed = store.remove(ids)
    for run in removed:
        text = say("removed run {id}: {name}", id=run.id, name=run.name)
        if run.directory:
            text = say("{removed}; its files stay in {path}", removed=text, path=run.directory)
        echo(text)
