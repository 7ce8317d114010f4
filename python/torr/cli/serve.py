"""`torr serve`: serve the runs of the store to a browser, until Ctrl-C."""

from __future__ import annotations

from math import inf
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import echo_pair
from torr.messages.counts import counted
from torr.messages.say import say
from torr.options.definition import build_options
from torr.options.stored_runs import SERVE, ServeOptions
from torr.units import SECOND_NS

EXAMPLES = (
    "torr serve",
    "torr serve --port 9000 --baseline main",
    "torr serve --host 0.0.0.0 --for 8h",
)


@click.command(cls=Verb, examples=EXAMPLES)
@flags_of(SERVE)
def serve(**flags: Any) -> None:  # noqa: ANN401
    """Serve the runs of the store to a browser: search, overlays, trends, ledgers."""
    from torr.cli.signals import interrupted_by_signals
    from torr.experiments.interrupt import Interrupt
    from torr.store.runs.store import open_store
    from torr.webserver.history.app import app
    from torr.webserver.server import HISTORY, HOST, ApplicationServer, ServerSocket

    options = build_options(ServeOptions, flags)
    with open_store() as store:
        where, count = store.url, store.count()
    server_socket = ServerSocket(options.host or HOST, options.port, HISTORY)
    access = server_socket.access()
    interrupt = Interrupt()
    server = ApplicationServer(
        app(open_store, access, options.baseline, options.language), server_socket
    ).start()
    try:
        with interrupted_by_signals(interrupt):
            echo_pair(say("serve"), server_socket.url(access))
            ends = say("{url}: {runs}; Ctrl-C ends it", url=where, runs=counted(count, "run"))
            echo_pair(say("store"), ends)
            interrupt.wait(inf if options.duration_ns is None else options.duration_ns / SECOND_NS)
    finally:
        server.stop()
