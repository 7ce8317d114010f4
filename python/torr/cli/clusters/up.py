"""`torr cluster up`: start a Ray cluster by ssh."""

from __future__ import annotations

from pathlib import Path

import click

from torr.cli.clusters.replies import failed_of
from torr.cli.command import Verb
from torr.cli.streams import echo
from torr.errors import InterruptedRunError, NothingMeasuredError
from torr.messages.counts import counted
from torr.messages.say import say

EXAMPLES = ("torr cluster up nodes.toml",)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
def up(file: Path) -> None:
    """Start Ray on this machine and on the machines of FILE, by ssh."""
    from torr.cluster.cluster import require_ray
    from torr.cluster.machines import start
    from torr.sources.cluster_file import read_cluster_file

    cluster = read_cluster_file(file)
    require_ray()
    try:
        replies = start(cluster)
    except KeyboardInterrupt:
        raise InterruptedRunError(
            say("interrupted: Ray may have started on some machines"), f"torr cluster down {file}"
        ) from None
    failed = failed_of(replies, {"running": say("Ray was running"), "started": say("Ray started")})
    if failed:
        raise NothingMeasuredError(
            say(
                "Ray did not start on {count} of {total}",
                count=len(failed),
                total=counted(len(replies), "node"),
            ),
            f"torr cluster down {file}",
        )
    echo(say("Use it: {command}", command=f"torr run --nodes all --cluster {cluster.address} URL"))
