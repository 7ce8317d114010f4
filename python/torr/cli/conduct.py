"""What `run` and `ladder` do around their experiment: check, measure, conclude, say, keep.

Until the load is over nothing heavy is imported: no numpy, scipy, matplotlib, pydantic or rich.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from torr import engine
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.errors import OutputError, TorrError
from torr.experiments.interrupt import Interrupt
from torr.experiments.lab import Lab
from torr.model.secrets import redacted_command
from torr.store.environment import environment
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.experiments.lab import Outcome
    from torr.model.plan import Plan

    Experiment = Callable[[Lab], Outcome]


def conduct(head: dict[str, Any], flags: dict[str, Any], experiment: Experiment) -> None:
    """Make a run from start to exit code, which is told by the error that is raised.

    `head` says what the run is and what was asked for, see `head_of`.
    """
    interrupt = Interrupt()
    with (
        RunDirectory.create(flags["folder"], flags["name"], head) as directory,
        heard_by(interrupt),
    ):
        with progress_for(flags) as listener:
            lab = Lab(directory, listener, interrupt, flags["abort_on"], engine.start)
            outcome = _measured(experiment, lab)
        from torr.cli.conclude import conclude

        conclude(outcome, directory, flags)


def head_of(kind: str, plan: Plan, flags: dict[str, Any], **asked: Any) -> dict[str, Any]:  # noqa: ANN401
    """What result.json says of a run before it starts, without secrets.

    `experiment` holds what the plan does not: SLOs, abort conditions, a ladder's levels and rounds.
    """
    conditions = {key: [str(each) for each in flags[key]] for key in ("slos", "abort_on")}
    return {
        "kind": kind,
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": plan.redacted().as_json(),
        "experiment": {**asked, **conditions},
        "environment": environment(),
    }


def _measured(experiment: Experiment, lab: Lab) -> Outcome:
    """Run the experiment; what cannot be kept or started leaves no half-made files."""
    try:
        return experiment(lab)
    except OutputError:
        with suppress(OutputError):
            lab.directory.close("failed")
        raise
    except TorrError:
        if lab.directory.is_empty:
            lab.directory.abandon()
        raise
