"""`torr demo`: find the capacity of a target whose capacity is known, and replay a trace.

The target listens on the loopback address, in a process of its own.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import Parameter, flags_of
from torr.cli.streams import echo
from torr.errors import ExitCode, TorrError, exit_code, require
from torr.messages.say import say
from torr.options.definition import build_options, values_in
from torr.options.demo import DEMO, SUBJECT, DemoOptions
from torr.options.measure import MeasureOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.cli.demonstrations import DemoLoad, Demonstration
    from torr.model.pin import Pin

EXAMPLES = ("torr demo", "torr demo --live", "torr demo llm")

_SERVE = """
from torr.targets import Chat, Constant, Delay, SameTokens, SomeTokens, listening
with listening({behaviour}) as target:
    print(target.url, flush=True)
    sys.stdin.read()
"""


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument(
    "subject", required=False, default="http", type=Parameter(SUBJECT), metavar=SUBJECT.name
)
@flags_of(DEMO)
def demo(subject: str, **flags: Any) -> None:  # noqa: ANN401
    """Start a target, find its capacity by a ladder, and show what to try next.

    The target is an HTTP server, or with `llm` an imitation of a server of a language
    model, which chat users load, and then the conversations of a trace.
    """
    from torr.cli.demo_trace import trace_file
    from torr.cli.demonstrations import DEMONSTRATIONS
    from torr.experiments.pinning import pinned
    from torr.model.pin import Pin

    options, demonstration = build_options(DemoOptions, flags), DEMONSTRATIONS[subject]
    # With a core for each side, neither waits for the other.
    cores = Pin.halves(sorted(os.sched_getaffinity(0)))
    target_cores = None if cores is None else Pin(cores.target, cores.generator)
    with _target(demonstration, target_cores) as url, pinned(cores), trace_file() as trace:
        for step in demonstration.steps:
            _measure(step, step.arguments(url, trace, is_quick=options.quick), options)
    click.echo()
    echo(demonstration.invitation)
    for command in demonstration.commands:
        click.echo(f"  {command}")


@contextmanager
def _target(demonstration: Demonstration, cores: Pin | None) -> Iterator[str]:
    """Start the target in a process that ends with this one; yield its URL."""
    from torr.children import minimal_python
    from torr.experiments.pinning import pinned

    # The text of a behaviour is the expression that makes it.
    command = minimal_python(_SERVE.format(behaviour=demonstration.behaviour))
    with (
        pinned(cores),
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C ends the ladder, which needs its target until then
        ) as process,
    ):
        url = process.stdout.readline().strip() if process.stdout else ""
        require(bool(url), say("the target of the demo did not start"))
        yield url


def _measure(step: DemoLoad, words: list[str], options: DemoOptions) -> None:
    """Run a ladder or a load; a broken SLO is the verdict on a slow machine, not a failure."""
    from torr.cli.ladder import ladder
    from torr.cli.measure import measure
    from torr.cli.run import run
    from torr.planning.prepared import prepare

    verb = step.verb.verb
    echo(step.explanation)
    click.echo(f"$ torr {verb} {shlex.join(words)}\n")
    given = {"ladder": ladder, "run": run}[verb].make_context(verb, list(words)).params
    values = {**given, **values_in(options), "name": step.name}
    measured = MeasureOptions.of(step.verb, given["urls"], values)
    try:
        measure(prepare(measured, sys.argv[1:]), measured.result)
    except TorrError as error:
        if exit_code(error) is not ExitCode.MISSED:
            raise
