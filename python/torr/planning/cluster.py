"""Where loads are started: on this machine, or on the nodes of a cluster."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from torr import engine
from torr.errors import UsageError
from torr.experiments.pinning import pin_of
from torr.messages.say import say
from torr.model.pin import Pin
from torr.options.definition import refuse, require_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from torr.cluster.cluster import Cluster
    from torr.engine import Start
    from torr.experiments.interrupt import Interrupt
    from torr.options.cluster import ClusterOptions
    from torr.options.connection import ConnectionOptions
    from torr.options.doctor import DoctorOptions
    from torr.options.server_trials import ServerTrialOptions


@contextmanager
def this_machine(_interrupt: Interrupt) -> Iterator[Start]:
    """Give what starts loads on this machine."""
    # Looked up now, so that tests can replace it.
    yield engine.start


def pin_for(options: ServerTrialOptions) -> Pin | None:
    """Return the cores of both sides; none if they share all, or if nodes send the load."""
    if options.nodes is None:
        return pin_of(options.pin)
    if isinstance(options.pin, Pin):
        raise UsageError(say("--pin and --nodes are both given"), say("leave one out"))
    return None


@contextmanager
def connected(
    options: ClusterOptions | ServerTrialOptions | DoctorOptions,
    interrupt: Interrupt,
    workers: int | None = None,
    *,
    allows_losses: bool = False,
) -> Iterator[Cluster]:
    """Give the nodes of the options, each with torr's agent; leave nothing on them."""
    from torr.cluster.cluster import Cluster

    cluster = Cluster.connect(
        address_of(options.cluster),
        options.nodes or "all",
        workers,
        lambda: interrupt.requested,
        allows_losses=allows_losses,
    )
    with closing(cluster):
        yield cluster


def address_of(cluster: str | None) -> str:
    """Return the address of the cluster; raise UsageError if neither option nor variable has it."""
    address = cluster or os.environ.get("RAY_ADDRESS")
    if not address:
        raise UsageError(
            say("--nodes needs the address of a Ray cluster"),
            say("give --cluster HOST:PORT, or set RAY_ADDRESS"),
        )
    return address


@contextmanager
def _nodes(
    options: ClusterOptions | ServerTrialOptions, workers: int | None, interrupt: Interrupt
) -> Iterator[Start]:
    """Give what starts loads on the nodes of a cluster."""
    losses = options.allow_lost_nodes
    with connected(options, interrupt, workers, allows_losses=losses) as cluster:
        yield cluster.start


def start_of(
    options: ClusterOptions | ServerTrialOptions,
    workers: int | None,
    connection: ConnectionOptions | None = None,
) -> Callable[[Interrupt], AbstractContextManager[Start]]:
    """Return where the options say that loads start; `workers` are those of each node, if given."""
    if options.nodes is None:
        names = ("cluster", "allow_lost_nodes")
        require_for(options, *names, what="--nodes", hint="give --nodes all")
        return this_machine
    if connection is not None:
        # An address belongs to one machine.
        refuse(connection, "source_addresses", what="--nodes")
    address_of(options.cluster)
    return partial(_nodes, options, workers)
