"""`--live`: serve the live page from before the load until the run has ended.

Without the flag nothing of it is imported. The page does not delay the command, except by the time
of `--live-stay`.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from torr.cli.streams import echo_pair, show_notes
from torr.errors import TorrError, require
from torr.messages.say import say
from torr.options.definition import first_given
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.context import ExperimentListener
    from torr.experiments.interrupt import Interrupt
    from torr.options.result import ResultOptions
    from torr.options.server_trials import ServerTrialOptions
    from torr.store.rundir import RunDirectory
    from torr.webserver.live.feed import Judge
    from torr.webserver.live.live import LivePage
    from torr.webserver.server import ServerSocket

DETAILS = ("live_port", "live_host", "live_stay_ns")


@contextmanager
def open_server_socket(
    options: ResultOptions | ServerTrialOptions,
) -> Iterator[ServerSocket | None]:
    """Yield the listening socket of the live page, None without `--live`.

    Raises UsageError for an address that is not available, and for other flags of the page without
    `--live`.
    """
    if not options.live:
        detail = first_given(options, *DETAILS)
        flag = "" if detail is None else detail.long
        require(
            not flag,
            say("{flag} is given without --live", flag=flag),
            say("torr … --live {flag} …", flag=flag),
        )
        yield None
        return
    from torr.webserver.server import HOST, ServerSocket

    server_socket = ServerSocket(options.live_host or HOST, options.live_port)
    try:
        yield server_socket
    finally:
        server_socket.socket.close()


@contextmanager
def live_page(
    server_socket: ServerSocket | None,
    directory: RunDirectory,
    interrupt: Interrupt,
    judge: Judge,
    options: ResultOptions | ServerTrialOptions,
) -> Iterator[tuple[ExperimentListener, ...]]:
    """Serve the page within the block; yield its listener to the experiment, if any."""
    if server_socket is None:
        yield ()
        return
    from tempfile import TemporaryFile

    from torr.webserver.live.live import LivePage, LiveRun

    shown = LiveRun(directory, interrupt, judge, _print_page_error, options.language)
    # On the file system of the run, which has room for the intervals.
    with TemporaryFile(dir=directory.path) as file:
        try:
            page = LivePage(shown, server_socket, file)
        except TorrError:
            if directory.is_empty:
                directory.abandon()
            raise
        with closing(page):
            page.start()
            echo_pair(say("live"), page.url, err=True)
            try:
                yield (page.feed,)
            finally:
                page.end()
                _stay(page, interrupt, options.live_stay_ns)


def _stay(page: LivePage, interrupt: Interrupt, stay_ns: int | None) -> None:
    """Serve the page until the time is over, unless the user has ended the run."""
    if stay_ns and not interrupt.requested:
        echo_pair(say("live"), say("{url} until Ctrl-C", url=page.url), err=True)
        interrupt.wait(stay_ns / SECOND_NS)


def _print_page_error(text: str) -> None:
    click.echo(err=True)
    show_notes([text])
