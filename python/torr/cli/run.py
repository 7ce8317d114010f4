"""`torr run`: one level of load."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from torr.cli.command import Flag, Verb
from torr.cli.flags import flags_of, urls
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.options.definition import LOAD, RESULT
from torr.options.measure import MeasureOptions
from torr.options.verbs import RUN

EXAMPLES = (
    "torr run -c 200 -z 30s http://localhost:8080/healthz",
    "torr run --rate 5k --slo 'p99 < 50ms' http://localhost:8080/",
    "torr run --json-body '{\"n\": 1}' -H 'x-user: ann' http://localhost:8080/items",
)


@click.command(cls=Verb, examples=EXAMPLES, options=RUN)
@urls
@flags_of(RUN)
def run(urls: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Fire one level of load at URL, or at several; report rates, times and errors."""
    options = MeasureOptions.of(RUN, urls, flags)
    if options.once.once:
        from torr.cli.once import once

        _refuse_load()
        once(options)
        return
    if options.once.verbose:
        raise UsageError(say("-v/--verbose needs --once"), "torr run --once -v URL")
    from torr.cli.measure import measure
    from torr.planning.prepared import prepare

    measure(prepare(options, sys.argv[1:]), options.result)


def _refuse_load() -> None:
    """Refuse flags of a load or of its result beside --once, which has neither."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if isinstance(parameter, Flag) and parameter.group in (LOAD, RESULT):
            source = context.get_parameter_source(str(parameter.name))
            name = "/".join(parameter.opts)
            require(
                source is not ParameterSource.COMMANDLINE,
                say(
                    "{name} cannot be used with --once, which sends one request and prints its"
                    " answer",
                    name=name,
                ),
                say("leave out {name} to see the response, or --once to send load", name=name),
            )
