"""What commands say on a run, and how they register it with the kept runs when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from torr.store.rundir import RunDirectory


def labels_of(flags: dict[str, Any]) -> dict[str, Any]:
    """The note and the tags of a run as result.json has them."""
    return {"note": flags["note"] or None, "tags": list(dict.fromkeys(flags["tag"]))}


def registered(directory: RunDirectory, *, is_asked: bool) -> int | None:
    """Register a closed run if asked; its id. Why it is not registered is said, and no more."""
    from torr.store.kept.registering import register

    found = register(directory.path, is_asked=is_asked)
    if found.problem is not None:
        click.echo(f"note: {found.problem}", err=True)
    return found.id
