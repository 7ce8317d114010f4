"""`torr ladder`: level after level, to the capacity."""

from __future__ import annotations

import sys
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of, urls
from torr.options.measure import MeasureOptions
from torr.options.verbs import LADDER

EXAMPLES = (
    "torr ladder http://localhost:8080/healthz",
    "torr ladder --levels auto --slo 'p95 < 500ms' --slo 'success >= 99.9%' URL",
    "torr ladder --levels 200,500,1000 -z 30s --rounds 3 -n before URL",
)


@click.command(cls=Verb, examples=EXAMPLES, options=LADDER)
@urls
@flags_of(LADDER)
def ladder(urls: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Measure level after level: find peak, knee and capacity under your SLOs."""
    from torr.cli.measure import measure
    from torr.planning.prepared import prepare

    options = MeasureOptions.of(LADDER, urls, flags)
    measure(prepare(options, sys.argv[1:]), options.result)
