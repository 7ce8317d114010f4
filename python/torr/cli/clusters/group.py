"""`torr cluster`: the table of its commands."""

from __future__ import annotations

import click

from torr.cli.command import Verbs

VERBS = {
    "up": ("torr.cli.clusters.up:up", "start Ray here and on the machines of a file, by ssh"),
    "status": ("torr.cli.clusters.status:status", "list the nodes, and count the missing ones"),
    "down": ("torr.cli.clusters.down:down", "end what `torr cluster up` started"),
}


@click.group(
    cls=Verbs,
    verbs=VERBS,
    examples=("torr cluster up nodes.toml", "torr cluster down nodes.toml"),
)
def cluster() -> None:
    """Start, check and end a Ray cluster for `--nodes`."""
