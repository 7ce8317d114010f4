"""`torr serve`: the kept runs in a browser, until Ctrl-C."""

from __future__ import annotations

from math import inf
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flag, shared
from torr.options import readers
from torr.options.definition import RESULT
from torr.options.result import ResultOptions
from torr.units import SECOND_NS

EXAMPLES = (
    "torr serve",
    "torr serve --port 9000 --baseline main",
    "torr serve --host 0.0.0.0 --for 8h",
)
PLACE = "Place"


@click.command(cls=Verb, examples=EXAMPLES)
@flag("--port", reader=readers.PORT, group=PLACE, help="0: any [8678, or any free one]")
@flag(
    "--host",
    metavar="ADDRESS",
    group=PLACE,
    help="let others see it, by the URL's token [127.0.0.1]",
)
@flag(
    "--for", "duration", reader=readers.SOME_DURATION, group=PLACE, help="end by itself after TIME"
)
@flag(
    "--baseline",
    reader=readers.TAG,
    default="baseline",
    group=RESULT,
    help="the tag that trends are set beside [baseline]",
)
@shared(ResultOptions, "language")
def serve(baseline: str, language: str | None, **place: Any) -> None:  # noqa: ANN401
    """Serve the kept runs to a browser: find, open, overlay two, a name's trend and ledger."""
    from torr.cli.signals import heard_by
    from torr.experiments.interrupt import Interrupt
    from torr.history.app import app
    from torr.serving.server import HOST, KEPT, Door, Server
    from torr.store.kept.store import open_store

    with open_store() as store:
        where, count = store.place, store.count()
    door = Door(place["host"] or HOST, place["port"], KEPT)
    access = door.access()
    interrupt = Interrupt()
    server = Server(app(open_store, access, baseline, language), door).start()
    try:
        with heard_by(interrupt):
            click.echo(f"serve   {door.url(access)}")
            click.echo(f"store   {where}: {count:,} run{'' if count == 1 else 's'}; Ctrl-C ends it")
            interrupt.wait(inf if place["duration"] is None else place["duration"] / SECOND_NS)
    finally:
        server.stop()
