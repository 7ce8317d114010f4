"""Where loads are started: on this machine, or on the nodes of a cluster."""

from __future__ import annotations

from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from torr import engine
from torr.errors import UsageError
from torr.messages.say import say
from torr.options.definition import require_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from torr.engine import Start
    from torr.experiments.interrupt import Interrupt
    from torr.options.cluster import ClusterOptions
    from torr.options.compare import CompareOptions


@contextmanager
def this_machine(_interrupt: Interrupt) -> Iterator[Start]:
    """Give what starts loads on this machine."""
    # Looked up now, so that tests can replace it.
    yield engine.start


@contextmanager
def _nodes(
    address: str,
    options: ClusterOptions | CompareOptions,
    workers: int | None,
    interrupt: Interrupt,
) -> Iterator[Start]:
    """Give what starts loads on the nodes of a cluster; leave nothing on them."""
    from torr.cluster.cluster import Cluster

    connected = Cluster.connect(
        address,
        options.nodes or "all",
        workers,
        lambda: interrupt.requested,
        allows_losses=options.allow_lost_nodes,
    )
    with closing(connected) as cluster:
        yield cluster.start


def start_of(
    options: ClusterOptions | CompareOptions, workers: int | None
) -> Callable[[Interrupt], AbstractContextManager[Start]]:
    """Return where the options say that loads start; `workers` are those of each node, if given."""
    if options.nodes is None:
        require_for(options, "allow_lost_nodes", what="--nodes", hint="give --nodes all")
        return this_machine
    if options.cluster is None:
        raise UsageError(
            say("--nodes needs the address of a Ray cluster"),
            say("give --cluster HOST:PORT, or set RAY_ADDRESS"),
        )
    return partial(_nodes, options.cluster, options, workers)
