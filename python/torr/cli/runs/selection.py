"""Selection of runs in the store, by ids or by flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from torr.cli.flags import Parameter
from torr.options import readers

if TYPE_CHECKING:
    from torr.options.stored_runs import LedgerOptions, ListOptions
    from torr.store.runs.store import Filter

ids = click.argument("ids", nargs=-1, required=True, type=Parameter(readers.RUN_ID), metavar="ID")
one_id = click.argument("run_id", type=Parameter(readers.RUN_ID), metavar="ID")


def filter_of(options: ListOptions | LedgerOptions, name: str | None, *kinds: str) -> Filter:
    """Return the filter of the options."""
    from torr.store.runs.store import Filter

    return Filter(
        name=name,
        tags=options.tag,
        commit=options.commit,
        since=options.since,
        kinds=kinds,
    )
