"""What `run` and `ladder` do around their experiment: check, measure, conclude, say, keep.

Until the load is over nothing heavy is imported: no numpy, scipy, matplotlib or rich.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torr.cli.going_live import door_of, live_page
from torr.cli.one_status import OneStatus
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.cli.streams import show_notes
from torr.experiments.interrupt import Interrupt
from torr.experiments.lab import Lab, Several
from torr.options.definition import values_in
from torr.planning.prepared import measured, prepared, tokenizer_of
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.options.measure import MeasureOptions
    from torr.planning.prepared import Prepared
    from torr.results.level import Level
    from torr.results.result import Conclusions
    from torr.webserver.live.feed import Judge


def conduct(options: MeasureOptions) -> None:
    """Make a run from start to exit code, which is told by the error that is raised."""
    ready = prepared(options, sys.argv[1:])
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
            lab = Lab(
                directory,
                Several((noticing, progress, *pages)),
                interrupt,
                result.abort_on,
                tokenizer=tokenizer,
                watch=ready.watch,
            )
            outcome = measured(ready, lab)
        from torr.cli.conclude import conclude

        conclude(outcome, directory, _flags(options))


def _flags(options: MeasureOptions) -> dict[str, Any]:
    """What the end of a run reads of its options."""
    ladder = options.ladder
    least = {} if ladder is None else {"min_capacity": ladder.min_capacity}
    return {**values_in(options.result), **least}


def _judge(ready: Prepared, slos: Sequence[Condition]) -> Judge:
    """What levels come to, judged as at the end."""

    def judge(levels: Sequence[Level]) -> Conclusions:
        from torr.cli.conclude import concluded

        return concluded(ready.head["kind"], levels, slos)

    return judge
