"""`torr diff`: compare two runs, with verdicts where both have trials."""

from __future__ import annotations

import sys
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.options.definition import build_options
from torr.options.diff import DIFF, DiffOptions

EXAMPLES = (
    "torr diff _output/torr/before.dat _output/torr/after.dat",
    "torr diff _output/torr/before-20260131-120000 _output/torr/latest",
    "torr diff 12 15",
    "torr diff --baseline main --fail-if 'ok/s < -5%'",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("sides", nargs=-1, metavar="A B")
@flags_of(DIFF)
def diff(sides: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Compare run B with A, each a run id, directory, RUN:CANDIDATE or .dat file."""
    from torr.cli.finish import finish_command
    from torr.cli.sides import sides_of
    from torr.finishing.pipeline import EndedRun
    from torr.results.experiment import Experiment
    from torr.results.result import Conclusions
    from torr.store.run_head import run_head
    from torr.store.rundir import RunDirectory, short_name
    from torr.verdicts.diff import diff as diff_of

    options = build_options(DiffOptions, flags)
    a, b = sides_of(sides, options.baseline, options.folder)
    comparison = diff_of(a, b, options.fail_if)
    experiment = Experiment(allow_not_shown=options.allow_not_shown)
    command = ["torr", *sys.argv[1:]]
    head = run_head("diff", command, options.note, options.tag, experiment=experiment)
    conclusions = Conclusions(
        series=comparison.series, verdicts=comparison.verdicts, fail_if=comparison.fail_if
    )
    with RunDirectory.create(options.folder, short_name(comparison.name), head) as directory:
        directory.profiles = comparison.profiles
        finish_command(EndedRun(directory, lambda: conclusions), options)
