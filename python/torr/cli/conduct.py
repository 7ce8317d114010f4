"""What `run` and `ladder` do around their experiment: check, measure, conclude, say, keep.

Until the load is over nothing heavy is imported: no numpy, scipy, matplotlib, pydantic or rich.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.cli.going_live import door_of, live_page
from torr.cli.keeping import labels_of
from torr.cli.one_status import OneStatus
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.errors import OutputError, TorrError
from torr.experiments.interrupt import Interrupt
from torr.experiments.lab import Lab, Several
from torr.model.secrets import redacted_command
from torr.store.environment import environment
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.experiments.lab import Outcome
    from torr.model.plan import Plan
    from torr.monitor.monitor import Watch
    from torr.stats.tokenizer import Tokenizer
    from torr.webserver.live.feed import Judge

    Experiment = Callable[[Lab], Outcome]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is about to start: what result.json says of it (see `head_of`), and its steps."""

    head: dict[str, Any]
    experiment: Experiment
    watch: Callable[[], Watch] | None = None
    secrets: Sequence[str] = ()
    """What no file of the run may hold."""


def conduct(prepared: Prepared, flags: dict[str, Any]) -> None:
    """Make a run from start to exit code, which is told by the error that is raised."""
    interrupt = Interrupt()
    tokenizer = tokenizer_of(flags)
    with (
        door_of(flags) as door,
        RunDirectory.create(
            flags["folder"], flags["name"], prepared.head, secrets=prepared.secrets
        ) as directory,
        heard_by(interrupt),
        live_page(door, directory, interrupt, _judge(prepared, flags), flags) as pages,
    ):
        with progress_for(flags) as progress:
            noticing = OneStatus(flags["language"] or "en", progress.clear)
            lab = Lab(
                directory,
                Several((noticing, progress, *pages)),
                interrupt,
                flags["abort_on"],
                tokenizer=tokenizer,
                watch=prepared.watch,
            )
            outcome = measured(prepared, lab)
        from torr.cli.conclude import conclude

        conclude(outcome, directory, flags)


def _judge(prepared: Prepared, flags: dict[str, Any]) -> Judge:
    """What levels come to, judged as at the end."""

    def judge(levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        from torr.cli.conclude import sections

        return sections(prepared.head["kind"], levels, flags["slos"])

    return judge


def tokenizer_of(flags: dict[str, Any]) -> Tokenizer | None:
    """Who counts tokens, read before any load: its file may be none."""
    if flags["tokenizer"] is None:
        return None
    from torr.stats.tokenizer import read_tokenizer

    return read_tokenizer(flags["tokenizer"])


def head_of(kind: str, plan: Plan, flags: dict[str, Any], **asked: Any) -> dict[str, Any]:  # noqa: ANN401
    """What result.json says of a run before it starts, without secrets.

    `experiment` holds what the plan does not: SLOs, abort conditions, a ladder's levels and rounds.
    """
    conditions: dict[str, Any] = {
        key: [str(each) for each in flags[key]] for key in ("slos", "abort_on")
    }
    conditions |= {"allow_not_shown": True} if flags.get("allow_not_shown") else {}
    if flags.get("min_capacity") is not None:
        conditions["min_capacity"] = str(flags["min_capacity"])
    return {
        "kind": kind,
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": plan.as_kept(),
        **labels_of(flags),
        "experiment": {**asked, **conditions},
        "environment": environment(),
    }


def measured(prepared: Prepared, lab: Lab) -> Outcome:
    """Run the experiment; what cannot be kept or started leaves no half-made files."""
    try:
        return prepared.experiment(lab)
    except OutputError:
        with suppress(OutputError):
            lab.directory.close("failed")
        raise
    except TorrError:
        if lab.directory.is_empty:
            lab.directory.abandon()
        raise
