"""How commands register a run with the kept runs when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from torr.store.rundir import RunDirectory


def registered(directory: RunDirectory, *, is_asked: bool) -> int | None:
    """Register a closed run if asked; its id. Why it is not registered is said, and no more."""
    from torr.store.kept.registering import register

    found = register(directory.path, is_asked=is_asked)
    if found.problem is not None:
        click.echo(f"note: {found.problem}", err=True)
    return found.id
