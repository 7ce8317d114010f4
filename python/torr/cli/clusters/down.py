"""`torr cluster down`: end what `torr cluster up` started."""

from __future__ import annotations

from pathlib import Path

import click

from torr.cli.clusters.replies import failed_of
from torr.cli.command import Verb
from torr.errors import NothingMeasuredError
from torr.messages.say import say

EXAMPLES = ("torr cluster down nodes.toml",)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
def down(file: Path) -> None:
    """End Ray on the machines of FILE, where `torr cluster up` started it."""
    from torr.cluster.machines import end
    from torr.sources.cluster_file import read_cluster_file

    replies = end(read_cluster_file(file))
    failed = failed_of(replies, {"absent": say("Ray was not running"), "ended": say("Ray ended")})
    if failed:
        machines = ", ".join(reply.machine for reply in failed)
        raise NothingMeasuredError(say("Ray may still run on {machines}", machines=machines))
