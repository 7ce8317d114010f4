"""`torr tune`: plan the tuning of a server's settings, or simulate the procedure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import echo, printed, show_notes
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.options.definition import build_options, require_for
from torr.options.tune import TUNE, TuneOptions

if TYPE_CHECKING:
    from torr.messages.say import Language

EXAMPLES = (
    "torr tune --plan tune.toml",
    "torr tune --plan --budget 2h tune.toml",
    "torr tune --simulate --worlds 30",
)
WORLDS = 300


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("file", metavar="FILE", required=False, type=click.Path(path_type=Path))
@flags_of(TUNE)
def tune(file: Path | None, **flags: Any) -> None:  # noqa: ANN401
    """Plan the tuning of a server, or simulate the procedure; this version measures nothing."""
    options = build_options(TuneOptions, flags)
    if options.simulate:
        require(file is None, say("--simulate takes no file: its worlds are synthetic"))
        _simulate(options)
        return
    hint = say("torr tune --plan FILE, or torr tune --simulate")
    require_for(options, "worlds", what="--simulate", hint=hint)
    if file is None:
        raise UsageError(say("there is no tune file"), hint)
    require(options.plan, say("this version of torr tune measures nothing"), hint)
    _plan(file, options)


def _plan(path: Path, options: TuneOptions) -> None:
    from torr.planning.tuning import TunePlan
    from torr.planning.tuning_preview import preview
    from torr.sources.tune_file import read_tune_file

    tuning = TunePlan.of(read_tune_file(path), options)
    show_notes(tuning.notes)
    for line in preview(tuning):
        echo(line)


def _simulate(options: TuneOptions) -> None:
    from torr.cli.screen import Screen, stdout_console
    from torr.report.tables.simulation_table import simulation_table
    from torr.tuning.simulation.rows import simulated_rows

    language: Language = options.language or printed.language
    out = Screen(stdout_console(), language)
    table = simulation_table(simulated_rows(options.worlds or WORLDS, options.seed))
    out.table(out.columns(table.columns, table.rows, table.words))
