"""What `compare` does around its trials: check, compare, judge, say, keep."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from torr.cli.conduct import Prepared, measured
from torr.cli.going_live import door_of, live_page
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.errors import require
from torr.experiments.interrupt import Interrupt
from torr.experiments.lab import Lab, Several
from torr.experiments.matrix import Comparison
from torr.experiments.pinning import pinned
from torr.experiments.trial import Course
from torr.model.secrets import redacted_command, redacted_text
from torr.store.environment import environment
from torr.store.rundir import RunDirectory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.cli.matrix import Plans
    from torr.experiments.matrix import Matrix
    from torr.live.feed import Judge
    from torr.model.condition import Condition
    from torr.model.pin import Pin
    from torr.sources.matrix_file import MatrixFile

Flags = dict[str, Any]


def conduct(file: MatrixFile, matrix: Matrix, plans: Plans, flags: Flags) -> None:
    """Compare from start to exit code, which is told by the error that is raised."""
    pin = flags["pin"]
    slos = plans.slos(file.candidates[0])
    plan = matrix.plan_of(file.candidates[0], matrix.cells[0], "http://localhost/")
    course = Course(matrix.count, pin, file.pause_ns, file.warmup_requests)
    interrupt = Interrupt()
    with ExitStack() as stack:
        door = stack.enter_context(door_of(flags))
        directory = stack.enter_context(_directory(file, matrix, pin, flags))
        stack.enter_context(heard_by(interrupt))
        judge = _judge(matrix, slos)
        pages = stack.enter_context(
            live_page(door, directory, interrupt, judge, flags["live_stay"])
        )
        with progress_for(flags) as progress, pinned(pin):
            lab = Lab(directory, Several((progress, *pages)), interrupt)
            comparison = Comparison(matrix, lab, course)
            outcome = measured(Prepared(directory.head, lambda _lab: comparison.run()), lab)
        from torr.cli.judged import conclude

        conclude(outcome, directory, (matrix, course, plan), {**flags, "slos": slos})


def _judge(matrix: Matrix, slos: Sequence[Condition]) -> Judge:
    """What trials come to, judged as at the end."""

    def judge(levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        from torr.cli.judged import sections

        return sections(matrix, levels, slos)

    return judge


def _directory(file: MatrixFile, matrix: Matrix, pin: Pin | None, flags: Flags) -> RunDirectory:
    """A new run, or the one to go on with."""
    resumed: Path | None = flags["resume"]
    head = _head(file, matrix, pin, flags)
    if resumed is None:
        return RunDirectory.create(flags["folder"], flags["name"], head)
    directory = RunDirectory.reopen(resumed.resolve())
    kept = directory.head.get("experiment") or {}
    asked = head["experiment"]
    for key in ("candidates", "factors", "baseline", "seed"):
        require(
            _begun(kept.get(key)) == asked[key],
            f"--resume {resumed}: its {key} are others than those of {file.path}",
            "give the file that the run began with",
        )
    return directory


def _begun(kept: Any) -> Any:  # noqa: ANN401 - JSON
    """What a run had said when it began, without what it found out of its candidates."""
    if not isinstance(kept, dict):
        return kept
    return {
        name: {key: x for key, x in each.items() if key != "versions"}
        if isinstance(each, dict)
        else each
        for name, each in kept.items()
    }


def _head(file: MatrixFile, matrix: Matrix, pin: Pin | None, flags: Flags) -> dict[str, Any]:
    """What result.json says of the comparison before it starts."""
    return {
        "kind": "compare",
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": None,
        "experiment": {
            "baseline": file.baseline,
            "primary": None if file.primary is None else file.primary.key,
            "factors": {name: list(values) for name, values in file.factors.items()},
            "candidates": {
                each.name: {
                    "command": redacted_text(str(each.command)),
                    "url": redacted_text(each.command.url),
                }
                for each in file.candidates
            },
            "rounds": matrix.rounds,
            "stages": list(matrix.stages),
            "seed": matrix.seed,
            "restart": "trial",
            "discard_if": None if file.discard_if is None else str(file.discard_if),
            "pin": None
            if pin is None
            else {"generator": list(pin.generator), "target": list(pin.target)},
            "until": flags["until"],
        },
        "environment": environment(),
    }
