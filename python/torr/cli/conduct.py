"""What `run` and `ladder` do around their experiment: check, measure, conclude, say, keep.

Until the load is over nothing heavy is imported: no numpy, scipy, matplotlib or rich.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from torr.cli.going_live import door_of, live_page
from torr.cli.one_status import OneStatus
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.cli.streams import show_notes
from torr.experiments.context import ListenerGroup, RunContext
from torr.experiments.interrupt import Interrupt
from torr.planning.prepared import prepare, run_experiment, tokenizer_of
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.context import Outcome
    from torr.model.condition import Condition
    from torr.options.measure import MeasureOptions
    from torr.options.result import ResultOptions
    from torr.planning.prepared import Prepared
    from torr.results.level import Level
    from torr.results.result import Conclusions
    from torr.webserver.live.feed import Judge


def conduct(options: MeasureOptions) -> None:
    """Make a run from start to exit code, which is told by the error that is raised."""
    ready = prepare(options, sys.argv[1:])
    show_notes(ready.notes)
    result = options.result
    interrupt = Interrupt()
    tokenizer = tokenizer_of(options.stream.tokenizer)
    with (
        door_of(result) as door,
        RunDirectory.create(
            result.folder, result.name, ready.head, secrets=ready.secrets
        ) as directory,
        heard_by(interrupt),
        live_page(door, directory, interrupt, _judge(ready, result.slos), result) as pages,
    ):
        with progress_for(result) as progress:
            noticing = OneStatus(result.language or "en", progress.clear)
            context = RunContext(
                directory,
                ListenerGroup((noticing, progress, *pages)),
                interrupt,
                result.abort_on,
                tokenizer=tokenizer,
                watch=ready.watch,
            )
            outcome = run_experiment(ready, context)
        _finish(outcome, directory, result)


def _finish(outcome: Outcome, directory: RunDirectory, options: ResultOptions) -> None:
    """Judge, keep, draw and say it; raise the error that the process ends with, if any."""
    from torr.cli.finish import finish_command
    from torr.finishing.load import ended

    run = ended(outcome, directory, options.slos)
    finish_command(run, options, is_shown=outcome.status != "failed", names_files=run.is_drawn)


def _judge(ready: Prepared, slos: Sequence[Condition]) -> Judge:
    """What levels come to, judged as at the end."""

    def judge(levels: Sequence[Level]) -> Conclusions:
        from torr.verdicts.conclusions import of_load

        return of_load(ready.head["kind"], levels, slos)

    return judge
