"""`torr run`: one level of load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from torr.cli import options
from torr.cli.command import Flag, Verb
from torr.cli.connection_options import connection
from torr.cli.live_options import live
from torr.cli.options import LOAD, REQUEST, RESULT, flag
from torr.cli.request_options import request
from torr.cli.stream_options import streaming
from torr.errors import UsageError, require
from torr.options import readers
from torr.planning.plan import plan_of
from torr.planning.profile import with_profile
from torr.planning.secrets import secrets_of
from torr.planning.watch import watch_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cli.conduct import Prepared

EXAMPLES = (
    "torr run -c 200 -z 30s http://localhost:8080/healthz",
    "torr run --rate 5k --slo 'p99 < 50ms' http://localhost:8080/",
    "torr run --json-body '{\"n\": 1}' -H 'x-user: ann' http://localhost:8080/items",
)


@click.command(cls=Verb, examples=EXAMPLES, takes_plans=True)
@options.urls
@flag(
    "-c",
    "--connections",
    type=readers.COUNT,
    group=LOAD,
    help="users, each its own [50; 100 with --rate]",
)
@options.duration
@flag("--requests", type=readers.REQUESTS, group=LOAD, help="stop after N requests instead")
@flag(
    "--rate", type=readers.ANY_RATE, group=LOAD, help="start RATE requests/s, whatever comes back"
)
@flag(
    "--arrivals",
    type=click.Choice(["constant", "poisson"]),
    metavar="HOW",
    group=LOAD,
    rare=True,
    help="constant or poisson, with --rate [constant]",
)
@flag(
    "--max-in-flight",
    type=readers.COUNT,
    group=LOAD,
    rare=True,
    help="with --rate: drop what is due beyond N open [5M]",
)
@flag(
    "--spin",
    is_flag=True,
    group=LOAD,
    rare=True,
    help="with --rate: look at the clock, do not oversleep",
)
@flag(
    "--stages",
    type=readers.STAGES,
    group=LOAD,
    help="users by time, or with --rate: 30s:100,2m:1k,30s:0",
)
@flag(
    "--replay",
    type=readers.FILE,
    group=LOAD,
    rare=True,
    help="start requests at the times in FILE, or an access log",
)
@flag(
    "--speed",
    type=readers.SOME_NUMBER,
    group=LOAD,
    rare=True,
    help="with --replay: 2 is twice as fast [1]",
)
@options.pool
@options.phases
@request
@streaming
@connection
@flag(
    "--once",
    is_flag=True,
    group=REQUEST,
    help="send one, say what came back (-v: both sides)",
)
@flag(
    "-v", "--verbose", is_flag=True, group=REQUEST, rare=True, help="with --once: print both sides"
)
@options.results
@live
@flag(
    "--log",
    type=click.Path(path_type=str),
    metavar="FILE",
    group=RESULT,
    rare=True,
    help="write every exchange to FILE, as CSV",
)
def run(urls: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Fire one level of load at URL, or at several, and say how it took it."""
    if flags["once"]:
        from torr.cli.once import once

        _refuse_load()
        once(plan_of(urls, flags), verbose=flags["verbose"])
        return
    if flags["verbose"]:
        raise UsageError("-v/--verbose needs --once", "torr run --once -v URL")
    from torr.cli.conduct import conduct

    conduct(prepared(urls, flags), flags)


def _refuse_load() -> None:
    """Refuse flags of a load or of its result beside --once, which has neither."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if isinstance(parameter, Flag) and parameter.group in (LOAD, RESULT):
            source = context.get_parameter_source(str(parameter.name))
            name = "/".join(parameter.opts)
            require(
                source is not ParameterSource.COMMANDLINE,
                f"{name} and --once are both given: --once sends one request and judges nothing",
                "leave one out",
            )


def prepared(urls: Sequence[str], flags: dict[str, Any]) -> Prepared:
    """The level that these flags describe, ready to be measured."""
    from torr.cli.conduct import Prepared, head_of
    from torr.experiments.run import run as experiment

    plan = plan_of(urls, flags)
    head = head_of("run", plan, flags)
    whole = with_profile(lambda lab: experiment(plan, lab), plan, flags)
    return Prepared(head, whole, watch_of(urls, plan, flags), secrets_of(plan, flags))
