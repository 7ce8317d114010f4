"""Selection of runs in the store, by ids or by flags."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from torr.cli.flags import Parameter
from torr.errors import ResultError
from torr.options import readers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.options.stored_runs import LedgerOptions, ListOptions
    from torr.store.runs.store import Filter

MOST_ID = 2**31 - 1

RUN_ID = readers.whole("ID", 1, MOST_ID)

ids = click.argument("ids", nargs=-1, required=True, type=Parameter(RUN_ID), metavar="ID")
one_id = click.argument("run_id", type=Parameter(RUN_ID), metavar="ID")


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


@contextmanager
def reading(run_id: int) -> Iterator[None]:
    """Turn errors that a broken result causes in the block into a ResultError with its run."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        why = f"run {run_id} is not as torr writes it: {type(error).__name__}: {error}"
        raise ResultError(why, f"torr runs show -o json {run_id}") from error
