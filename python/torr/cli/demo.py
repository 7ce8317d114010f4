"""`torr demo`: find the capacity of a target whose capacity is known.

The target serves 32 requests at once and takes 5 ms for each, so it answers at most 6,400
requests/s. It listens on the loopback address, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import echo
from torr.errors import ExitCode, TorrError, exit_code, require
from torr.messages.say import say
from torr.options.definition import build_options, values_in
from torr.options.demo import DEMO, DemoOptions
from torr.options.measure import MeasureOptions
from torr.options.verbs import LADDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.pin import Pin

EXAMPLES = ("torr demo", "torr demo --live")
DELAY_NS, CAPACITY = 5_000_000, 32
REQUESTS_PER_S = CAPACITY * 1_000_000_000 // DELAY_NS
FULL, QUICK = ("auto", "2s", "500ms"), ("8,32,64", "300ms", "100ms")
SLO = "p95 < 15ms"
OWN_SERVICE = (
    "torr run -c 20 -z 10s http://localhost:8080/",
    "torr ladder --levels auto --slo 'p95 < 500ms' http://localhost:8080/",
    "torr ladder --levels auto --live http://localhost:8080/",
)

_SERVE = """
from torr.targets import Constant, Delay, listening
with listening(Delay(Constant(int(sys.argv[2])), int(sys.argv[3]))) as target:
    print(target.url, flush=True)
    sys.stdin.read()
"""


@click.command(cls=Verb, examples=EXAMPLES)
@flags_of(DEMO)
def demo(**flags: Any) -> None:  # noqa: ANN401
    """Start a target, find its capacity by a ladder, and show what to try next."""
    from torr.experiments.pinning import pinned
    from torr.model.pin import Pin

    options = build_options(DemoOptions, flags)
    # With a core for each side, neither waits for the other.
    cores = Pin.halves(sorted(os.sched_getaffinity(0)))
    target_cores = None if cores is None else Pin(cores.target, cores.generator)
    with _target(target_cores) as url, pinned(cores):
        _climb(url, options)
    click.echo()
    echo(say("Try it on your own service, here one on port 8080:"))
    for command in OWN_SERVICE:
        click.echo(f"  {command}")


@contextmanager
def _target(cores: Pin | None) -> Iterator[str]:
    """Start the target in a process that ends with this one; yield its URL."""
    from torr.children import minimal_python
    from torr.experiments.pinning import pinned

    command = minimal_python(_SERVE, str(DELAY_NS), str(CAPACITY))
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


def _climb(url: str, options: DemoOptions) -> None:
    """Run the ladder; a broken SLO is the verdict on a slow machine, not a failure."""
    from torr.cli.measure import measure
    from torr.planning.prepared import prepare

    levels, duration, warmup = QUICK if options.quick else FULL
    echo(
        say(
            "The target serves {capacity} requests at once and takes 5 ms for each: at most"
            " {rate:,} requests/s.",
            capacity=CAPACITY,
            rate=REQUESTS_PER_S,
        )
    )
    click.echo(
        f"$ torr ladder --levels {levels} -z {duration} --warmup {warmup} --slo '{SLO}' {url}\n"
    )
    texts = {"levels": levels, "duration_ns": duration, "warmup_ns": warmup, "name": "demo"}
    values = {x.field: x.read(texts[x.field]) for x in LADDER.all if x.field in texts}
    slos = next(x for x in LADDER.all if x.field == "slos").read([SLO])
    measured = {**values_in(options), **values, "slos": slos}
    ladder = MeasureOptions.of(LADDER, (url,), measured)
    try:
        measure(prepare(ladder, sys.argv[1:]), ladder.result)
    except TorrError as error:
        if exit_code(error) is not ExitCode.MISSED:
            raise
