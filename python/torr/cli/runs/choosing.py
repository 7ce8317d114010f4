"""How the kept runs that a command means are named: by ids, or by flags that narrow them down."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from torr.cli.flags import Parameter, flag, together
from torr.errors import ResultError
from torr.options import readers
from torr.store.kept.since import parse_since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.store.kept.store import Filter

WHICH, RESULT = "Which runs", "Result"
MOST_ID = 2**31 - 1

RUN_ID = readers.whole("ID", 1, MOST_ID)
SINCE = readers.Reader("WHEN", parse_since)

ids = click.argument("ids", nargs=-1, required=True, type=Parameter(RUN_ID), metavar="ID")
one_id = click.argument("run_id", type=Parameter(RUN_ID), metavar="ID")

_name = flag("-n", "--name", metavar="NAME", group=WHICH, help="of this name")
_narrowing = together(
    flag(
        "--tag",
        reader=readers.TAG,
        multiple=True,
        group=WHICH,
        help="that have this tag (repeatable: all of them)",
    ),
    flag("--commit", metavar="HASH", group=WHICH, help="of a git commit, by its first digits"),
    flag("--since", reader=SINCE, group=WHICH, help="not older: 7d, 12h, 2026-01-31"),
)
narrowing_a_name = _narrowing
narrowing = together(_name, _narrowing)


def filter_of(flags: dict[str, Any], *kinds: str) -> Filter:
    """What the flags say."""
    from torr.store.kept.store import Filter

    return Filter(
        name=flags.get("name"),
        tags=tuple(flags["tag"]),
        commit=flags["commit"],
        since=flags["since"],
        kinds=kinds,
    )


@contextmanager
def reading(run_id: int) -> Iterator[None]:
    """Turn what a broken result makes fail in the block into a ResultError that names its run."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        why = f"run {run_id} is not as torr writes it: {type(error).__name__}: {error}"
        raise ResultError(why, f"torr runs show -o json {run_id}") from error
