"""`torr diff`: two runs side by side, with verdicts where there are trials of both."""

from __future__ import annotations

import sys
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.options.definition import made
from torr.options.diff import DiffOptions
from torr.options.verbs import DIFF

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
    """Set run B beside A: directories, kept runs, candidates (RUN:NAME), .dat files."""
    from torr.cli.finish import finish_command
    from torr.cli.sides import sides_of
    from torr.finishing.pipeline import EndedRun
    from torr.model.label import labels_of
    from torr.model.secrets import redacted_command
    from torr.results.experiment import Experiment
    from torr.results.result import Conclusions
    from torr.store.environment import environment
    from torr.store.rundir import RunDirectory
    from torr.verdicts.diff import diff as diff_of

    options = made(DiffOptions, flags)
    a, b = sides_of(sides, options.baseline, options.folder)
    found = diff_of(a, b, options.fail_if)
    head = {
        "kind": "diff",
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": None,
        **labels_of(options.note, options.tag),
        "experiment": Experiment(allow_not_shown=options.allow_not_shown),
        "environment": environment(),
    }
    conclusions = Conclusions(series=found.series, verdicts=found.verdicts, fail_if=found.fail_if)
    with RunDirectory.create(options.folder, found.name, head) as directory:
        directory.profiles = found.profiles
        finish_command(EndedRun(directory, lambda: conclusions), options)
