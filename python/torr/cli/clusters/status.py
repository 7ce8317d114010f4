"""`torr cluster status`: list the nodes of a Ray cluster."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torr.cli.command import Verb
from torr.cli.streams import echo, printed
from torr.errors import NothingMeasuredError
from torr.messages.counts import counted
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cluster.nodes import ClusterNode

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
    total = len(cluster.nodes) + 1
    missing = [entry for entry in cluster.nodes if not _is_there(entry, nodes)]
    # The name of a machine for ssh may have no address: then it cannot be told which node it is.
    if len(nodes) < total or any(_addresses(entry) for entry in missing):
        raise NothingMeasuredError(
            say(
                "{count} of {total} are missing: {names}",
                count=max(total - len(nodes), len(missing)),
                total=counted(total, "node"),
                names=", ".join(missing),
            ),
            f"torr cluster up {file}",
        )
    echo(say("all nodes are there"))


def _is_there(entry: str, nodes: Sequence[ClusterNode]) -> bool:
    """Return whether a machine of the file is one of the nodes."""
    own = {entry.rpartition("@")[2], *_addresses(entry)}
    return any({node.host, node.address} & own for node in nodes)


def _addresses(entry: str) -> set[str]:
    """Return the addresses of a machine of the file; none if its name has none here."""
    try:
        places = socket.getaddrinfo(entry.rpartition("@")[2], None)
    except OSError:
        return set()
    return {str(place[4][0]) for place in places}
