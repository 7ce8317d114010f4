"""`torr runs rm`: remove runs from the store."""

from __future__ import annotations

import click

from torr.cli.command import Verb
from torr.cli.runs import selection

EXAMPLES = ("torr runs rm 3 4",)


@click.command("rm", cls=Verb, examples=EXAMPLES)
@selection.ids
def remove(ids: tuple[int, ...]) -> None:
    """Remove runs from the store, all of them or none; their files stay."""
    from torr.store.runs.store import open_store

    with open_store() as store:
        removed = store.remove(ids)
    for run in removed:
        files = f"; its files stay in {run.directory}" if run.directory else ""
        click.echo(f"removed run {run.id}: {run.name}{files}")
