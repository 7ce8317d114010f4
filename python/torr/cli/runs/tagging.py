"""`torr runs tag`: change the tags and the note of a run in the store."""

from __future__ import annotations

import click

from torr.cli.command import Verb
from torr.cli.flags import Parameter, flags_of
from torr.cli.runs import selection
from torr.cli.streams import echo
from torr.errors import require
from torr.messages.say import say
from torr.options import readers
from torr.options.stored_runs import TAG

EXAMPLES = (
    "torr runs tag 12 baseline",
    "torr runs tag 12 --remove baseline",
    "torr runs tag 12 --note 'api 1.2 CPU'",
)


@click.command("tag", cls=Verb, examples=EXAMPLES)
@selection.one_id
@click.argument("tags", nargs=-1, type=Parameter(readers.TAG), metavar="TAG")
@flags_of(TAG)
def tag(run_id: int, tags: tuple[str, ...], remove: tuple[str, ...], note: str | None) -> None:
    """Add or remove tags of a run, change its note, and print both."""
    from torr.store.runs.store import open_store

    require(
        bool(tags or remove or note is not None),
        say("neither a tag nor a note is given"),
        say("name a tag, or give --remove or --note"),
    )
    with open_store() as store:
        stored = store.annotate(run_id, add=tags, remove=remove, note=note)
    tagged = {"id": stored.id, "tags": " ".join(stored.tags) or "–", "note": stored.note or "–"}
    echo(say("run {id}: tags {tags}; note {note}", **tagged))
