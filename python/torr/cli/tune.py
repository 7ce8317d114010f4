"""`torr tune`: find the best settings of a server, and claim only what fresh rounds show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of, is_given
from torr.cli.streams import echo, printed, show_notes
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.options.definition import build_options, require_for
from torr.options.tune import TUNE, TuneOptions

if TYPE_CHECKING:
    from torr.messages.say import Language

EXAMPLES = (
    "torr tune --plan tune.toml",
    "torr tune --budget 2h tune.toml",
    "torr tune --simulate --worlds 30",
)
WORLDS = 300


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("file", metavar="FILE", required=False, type=click.Path(path_type=Path))
@flags_of(TUNE)
def tune(file: Path | None, **flags: Any) -> None:  # noqa: ANN401
    """Search the best settings of a server, and judge the finalists in fresh rounds."""
    options = build_options(TuneOptions, flags)
    if options.simulate:
        require(file is None, say("--simulate takes no file: its worlds are synthetic"))
        _simulate(options)
        return
    hint = say("torr tune FILE, or torr tune --simulate")
    require_for(options, "worlds", what="--simulate", hint=hint)
    if file is None:
        raise UsageError(say("there is no tune file"), hint)
    _tune(file, options)


def _tune(path: Path, options: TuneOptions) -> None:
    from torr.planning.matrix import with_file
    from torr.planning.tuning import TunePlan
    from torr.sources.tune_file import read_tune_file

    file = read_tune_file(path)
    options = with_file(options, file.matrix, is_named=is_given("name"))
    tuning = TunePlan.of(file, options)
    if options.plan:
        from torr.planning.tuning_preview import preview

        show_notes(tuning.notes)
        for line in preview(tuning):
            echo(line)
        return
    from torr.cli.measure import measure
    from torr.planning.tuning_run import prepare_tuning

    measure(prepare_tuning(tuning, sys.argv[1:]), options)


def _simulate(options: TuneOptions) -> None:
    from torr.cli.screen import Screen, stdout_console
    from torr.report.tables.simulation_table import simulation_table
    from torr.tuning.simulation.rows import simulated_rows

    language: Language = options.language or printed.language
    out = Screen(stdout_console(), language)
    table = simulation_table(simulated_rows(options.worlds or WORLDS, options.seed))
    out.table(out.columns(table.columns, table.rows, table.words))
