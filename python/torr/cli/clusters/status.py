"""`torr cluster status`: list the nodes of a Ray cluster."""

from __future__ import annotations

from pathlib import Path

import click

from torr.cli.command import Verb
from torr.cli.streams import echo, printed
from torr.errors import NothingMeasuredError
from torr.messages.counts import counted
from torr.messages.say import say

EXAMPLES = ("torr cluster status nodes.toml",)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
def status(file: Path) -> None:
    """List the nodes of the cluster of FILE; exit with 3 if some are missing."""
    from torr.cli.screen import Screen, stdout_console
    from torr.cluster.cluster import nodes_of
    from torr.sources.cluster_file import read_cluster_file

    cluster = read_cluster_file(file)
    nodes = nodes_of(cluster.address)
    out = Screen(stdout_console(), printed.language)
    rows = [(node.name, node.address, f"{node.cores:g}") for node in nodes]
    out.table(out.columns((say("node"), say("address"), say("cores")), rows, frozenset({0, 1})))
    missing = len(cluster.nodes) + 1 - len(nodes)
    if missing > 0:
        total = counted(len(cluster.nodes) + 1, "node")
        raise NothingMeasuredError(
            say("{count} of {total} are missing", count=missing, total=total),
            f"torr cluster up {file}",
        )
    echo(say("all nodes are there"))
