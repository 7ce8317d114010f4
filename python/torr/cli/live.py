"""`--live`: the live page around a run, from before its load to after its last word.

Without the flag nothing of it is imported. The page keeps nobody waiting: the command ends as it
does without one, unless `--live-stay` says for how long the page outlives it.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from torr.errors import TorrError, require
from torr.options.definition import given
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.context import ExperimentListener
    from torr.experiments.interrupt import Interrupt
    from torr.options.compare import CompareOptions
    from torr.options.result import ResultOptions
    from torr.store.rundir import RunDirectory
    from torr.webserver.live.feed import Judge
    from torr.webserver.live.live import Live
    from torr.webserver.server import Door

DETAILS = ("live_port", "live_host", "live_stay_ns")


@contextmanager
def open_door(options: ResultOptions | CompareOptions) -> Iterator[Door | None]:
    """Where the live page listens, opened before anything is written; None without `--live`.

    Raises UsageError where the address cannot be had, or where only details of a page are given.
    """
    if not options.live:
        detail = given(options, *DETAILS)
        flag = "" if detail is None else detail.long
        require(not flag, f"{flag} is given without --live", f"torr … --live {flag} …")
        yield None
        return
    from torr.webserver.server import HOST, Door

    door = Door(options.live_host or HOST, options.live_port)
    try:
        yield door
    finally:
        door.socket.close()


@contextmanager
def live_page(
    door: Door | None,
    directory: RunDirectory,
    interrupt: Interrupt,
    judge: Judge,
    options: ResultOptions | CompareOptions,
) -> Iterator[tuple[ExperimentListener, ...]]:
    """Inside the block the page is served; who must hear the experiment for it: none or one."""
    if door is None:
        yield ()
        return
    from tempfile import TemporaryFile

    from torr.webserver.live.live import Live, Shown

    shown = Shown(directory, interrupt, judge, _complain, options.language)
    # Without a name, beside the intervals that it has again: where they fit it fits too.
    with TemporaryFile(dir=directory.path) as file:
        try:
            page = Live(shown, door, file)
        except TorrError:
            if directory.is_empty:
                directory.abandon()
            raise
        with closing(page):
            page.start()
            click.echo(f"live    {page.url}", err=True)
            try:
                yield (page.feed,)
            finally:
                page.end()
                _stay(page, interrupt, options.live_stay_ns)


def _stay(page: Live, interrupt: Interrupt, stay_ns: int | None) -> None:
    """Let the page be until the time is over; whoever has ended the run wants no more of it."""
    if stay_ns and not interrupt.requested:
        click.echo(f"live    {page.url} stays; Ctrl-C ends it", err=True)
        interrupt.wait(stay_ns / SECOND_NS)


def _complain(text: str) -> None:
    click.echo(f"\nnote: {text}", err=True)
