"""`torr ladder`: level after level, to the capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from torr import units
from torr.cli import options
from torr.cli.command import Verb
from torr.cli.connection_options import connection
from torr.cli.live_options import live
from torr.cli.options import LOAD, flag
from torr.cli.request_options import request
from torr.cli.stream_options import streaming
from torr.errors import UsageError, require
from torr.model.pace import MOST_USERS
from torr.options import readers
from torr.planning.plan import plan_of
from torr.planning.profile import with_profile
from torr.planning.secrets import secrets_of
from torr.planning.watch import watch_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cli.conduct import Prepared
    from torr.experiments.ladder import Auto, Fixed

EXAMPLES = (
    "torr ladder http://localhost:8080/healthz",
    "torr ladder --levels auto --slo 'p95 < 500ms' --slo 'success >= 99.9%' URL",
    "torr ladder --levels 200,500,1000 -z 30s --rounds 3 -n before URL",
)


def _levels(text: str) -> Fixed | Auto:
    from torr.experiments.auto import Search
    from torr.experiments.ladder import Auto, Fixed

    kind, *bounds = text.split(":")
    if kind == "auto" and len(bounds) <= 2:
        search = Search(*map(readers.COUNT.read, bounds))
        fits = search.start <= search.most
        require(fits, f"{text!r} ends before it begins", "write auto:64:2000")
        return Auto(search)
    try:
        levels = tuple(units.parse_count(word) for word in text.split(","))
    except UsageError as error:
        raise UsageError(
            f"{text!r} is not a list of levels", "write 200,500,1000 or auto or auto:64:2000"
        ) from error
    if max(levels) > MOST_USERS:
        raise UsageError(f"level {max(levels)} is too many", f"the most is {MOST_USERS:,}")
    return Fixed(levels)


@click.command(cls=Verb, examples=EXAMPLES, takes_plans=True)
@options.urls
@flag(
    "--levels",
    type=readers.Word("LIST", _levels),
    group=LOAD,
    help="1,2,4 or auto[:START[:END]] [200,500 … 50000]",
)
@flag(
    "--rounds",
    type=readers.COUNT,
    default=1,
    group=LOAD,
    help="repeat the whole ladder; drift hits all levels [1]",
)
@flag(
    "--min-capacity",
    type=readers.CAPACITY,
    group=options.RESULT,
    help="exit 1 below it: '5000 ok/s' or '200 users'",
)
@options.duration
@options.pool
@options.phases
@request
@streaming
@connection
@options.results
@live
def ladder(urls: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Find how much URL can take: peak, knee, capacity under your SLOs."""
    from torr.cli.conduct import conduct

    conduct(prepared(urls, flags), flags)


def prepared(urls: Sequence[str], flags: dict[str, Any]) -> Prepared:
    """The ladder that these flags describe, ready to be measured."""
    from torr.cli.conduct import Prepared, head_of
    from torr.experiments.ladder import Auto, Climb, Fixed
    from torr.experiments.ladder import ladder as experiment

    plan = plan_of(urls, flags)
    levels = flags["levels"] or Fixed()
    if isinstance(levels, Auto):
        levels = levels.at_least(len(plan.groups))
    climb = Climb(levels, flags["rounds"], tuple(flags["slos"]))
    head = head_of("ladder", plan, flags, levels=climb.levels.asked, rounds=climb.rounds)
    whole = with_profile(lambda lab: experiment(plan, climb, lab), plan, flags)
    return Prepared(head, whole, watch_of(urls, plan, flags), secrets_of(plan, flags))
