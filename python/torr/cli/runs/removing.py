"""`torr runs rm`: runs that nobody needs any more."""

from __future__ import annotations

import click

from torr.cli.command import Verb
from torr.cli.runs import choosing

EXAMPLES = ("torr runs rm 3 4",)


@click.command("rm", cls=Verb, examples=EXAMPLES)
@choosing.ids
def remove(ids: tuple[int, ...]) -> None:
    """Forget kept runs, all that are named or none; their files stay."""
    from torr.store.runs.store import open_store

    with open_store() as store:
        gone = store.remove(ids)
    for run in gone:
        where = f"; its files stay in {run.directory}" if run.directory else ""
        click.echo(f"removed run {run.id}: {run.name}{where}")
