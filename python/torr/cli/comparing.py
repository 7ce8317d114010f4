"""What `compare` does around its trials: check, compare, judge, say, keep."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.cli.going_live import door_of, live_page
from torr.cli.progress import progress_for
from torr.cli.signals import heard_by
from torr.errors import UsageError, require
from torr.experiments.context import ListenerGroup, RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.matrix import MatrixRun
from torr.experiments.pinning import pinned
from torr.experiments.server_lifetime import ServerPerCell, ServerPerTrial
from torr.experiments.trial import ComparisonState
from torr.model.label import labels_of
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import LEAST_SECRET, known_secrets, redacted_command, redacted_text, whole
from torr.planning.prepared import Prepared, run_experiment
from torr.planning.secrets import secrets_of_plan
from torr.planning.watch import sources_of
from torr.servers.versions import versions_in
from torr.store.environment import environment
from torr.store.rundir import RunDirectory
from torr.verdicts.across import is_another

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.matrix import Matrix
    from torr.experiments.profiling import Experiment
    from torr.experiments.server_profiles import ServerProfiles
    from torr.model.condition import Condition
    from torr.model.pin import Pin
    from torr.options.compare import CompareOptions
    from torr.results.level import Level
    from torr.results.result import Conclusions
    from torr.sources.matrix_file import Candidate, MatrixFile
    from torr.webserver.live.feed import Judge

# What a run that goes on must have been begun with, the plainest first.
_MATCHING = ("baseline", "factors", "seed", "restart", "rounds", "until", "pin", "candidates")


@dataclass(frozen=True, slots=True)
class Comparing:
    """What is compared, and how."""

    file: MatrixFile
    matrix: Matrix
    slos: tuple[Condition, ...]
    pin: Pin | None
    profiles: ServerProfiles | None
    options: CompareOptions


def conduct(asked: Comparing) -> None:
    """Compare from start to exit code, which is told by the error that is raised."""
    file, matrix, pin, options = asked.file, asked.matrix, asked.pin, asked.options
    plan = matrix.plan_of(file.candidates[0], matrix.cells[0], "http://localhost/")
    state = ComparisonState(
        total=matrix.count,
        pin=pin,
        pause_ns=file.pause_ns,
        warmup_requests=file.warmup_requests,
        servers=ServerPerTrial() if file.restart == "trial" else ServerPerCell(),
        sources=sources_of(file),
    )
    interrupt = Interrupt()
    with ExitStack() as stack:
        door = stack.enter_context(door_of(options))
        directory = stack.enter_context(_directory(asked))
        stack.enter_context(heard_by(interrupt))
        judge = _judge(matrix, state, asked.slos)
        pages = stack.enter_context(live_page(door, directory, interrupt, judge, options))
        with progress_for(options) as progress, pinned(pin):
            context = RunContext(directory, ListenerGroup((progress, *pages)), interrupt)
            comparison = MatrixRun(matrix, context, state)
            experiment = _with_profiles(comparison, asked.profiles)
            outcome = run_experiment(Prepared(directory.head, experiment), context)
        from torr.cli.judged import finish_comparison

        finish_comparison(outcome, directory, (comparison, plan), asked)


def _with_profiles(comparison: MatrixRun, profiles: ServerProfiles | None) -> Experiment:
    """The comparison, and the profiles behind it where they were asked for."""
    if profiles is None:
        return lambda _context: comparison.run()
    run, matrix, state = comparison.run, comparison.matrix, comparison.state
    return lambda context: profiles.behind(run, matrix, context, state)


def _judge(matrix: Matrix, state: ComparisonState, slos: Sequence[Condition]) -> Judge:
    """What trials come to, judged as at the end."""

    def judge(levels: Sequence[Level]) -> Conclusions:
        from torr.cli.judged import concluded

        return concluded(matrix, state, levels, slos)

    return judge


def _secrets(file: MatrixFile, matrix: Matrix) -> list[str]:
    """What no file of the run may hold: secrets of servers, and of what is sent to them."""
    found = {secret for each in file.candidates for secret in each.command.secrets}
    for each in file.candidates:
        plan = matrix.plan_of(each, matrix.cells[0], "http://localhost/")
        found.update(secrets_of_plan(plan))
    found.update(known_secrets(file.monitor.at))
    for name, values in file.factors.items():
        found.update(str(value) for value in values if is_secret(name))
    return sorted(secret for secret in found if len(secret) >= LEAST_SECRET)


def _directory(comparing: Comparing) -> RunDirectory:
    """A new run, or the one to go on with."""
    options = comparing.options
    resumed = options.resume
    head = _head(comparing)
    secrets = _secrets(comparing.file, comparing.matrix)
    if resumed is None:
        return RunDirectory.create(options.folder, options.name, head, secrets=secrets)
    directory = RunDirectory.reopen(resumed.resolve(), secrets=secrets)
    kept = directory.head.get("experiment") or {}
    require(
        _is_comparison(directory) and isinstance(kept, dict),
        f"--resume {resumed}: is no comparison that can go on",
        "give the directory that torr compare named when it ended",
    )
    asked = json.loads(json.dumps(head["experiment"]))
    # The plainest difference is said; what a run did not say when it began tells none.
    for key in (*_MATCHING, *sorted(asked.keys() - set(_MATCHING))):
        then, now = _begun(kept.get(key), asked[key]) if key in kept else (None, None)
        if then != now:
            raise UsageError(
                f"--resume {resumed}: its {_was(key, then, now)}",
                "give the file and the flags that the run began with",
            )
    require(
        not is_another(directory.head.get("environment") or {}, head["environment"]),
        f"--resume {resumed}: it was begun on another machine",
        "go on there, or begin anew",
    )
    return directory


def _is_comparison(directory: RunDirectory) -> bool:
    known = all(level.candidate for level in directory.levels)
    return known and directory.head["kind"] == "compare"


def _begun(then: Any, now: Any) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    """What two sessions have said of the same: of each candidate what both do."""
    if not (isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys()):
        return then, now
    pairs = {name: _shared(then[name], now[name]) for name in now}
    return {name: a for name, (a, _) in pairs.items()}, {name: b for name, (_, b) in pairs.items()}


def _shared(then: Any, now: Any) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    if not (isinstance(then, dict) and isinstance(now, dict)):
        return then, now
    both = [key for key in now if key in then]
    return {key: then[key] for key in both}, {key: now[key] for key in both}


def _was(key: str, then: Any, now: Any) -> str:  # noqa: ANN401 - JSON
    """How what was asked for differs: two words, or the first place within that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        if then.keys() != now.keys():
            return f"{key} are others: {', '.join(then)} then, {', '.join(now)} now"
        place = next(each for each in now if then[each] != now[each])
        return _was(f"{key}: {place}" if key == "candidates" else place, then[place], now[place])
    return f"{key}: {then} then, {now} now"


def _candidate(each: Candidate, matrix: Matrix) -> dict[str, Any]:
    """What result.json says of a candidate when the comparison begins: enough to make it again."""
    command = each.command
    values = {"port": 1, "scratch": "/", "processes": 1, **matrix.cells[0]}
    plan = matrix.plan_of(each, matrix.cells[0], command.filled(values).url)
    return {
        "command": command.redacted(),
        "url": redacted_text(command.url),
        "env": {name: REDACTED if is_secret(name) else redacted_text(x) for name, x in command.env},
        "cwd": whole(str(command.cwd)),
        "health": command.health,
        "expect": each.expected.as_json(),
        "plan": plan.as_kept(),
        "stop_signal": command.stop_signal,
        "grace_s": command.grace_s,
        "health_timeout_s": command.health_timeout_s,
        "versions": versions_in(command, matrix.cells[0]),
    }


def _head(asked: Comparing) -> dict[str, Any]:
    """What result.json says of the comparison before it starts."""
    file, matrix, pin, options = asked.file, asked.matrix, asked.pin, asked.options
    return {
        "kind": "compare",
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": None,
        **labels_of(options.note, options.tag),
        "experiment": {
            "baseline": file.baseline,
            "primary": None if file.primary is None else file.primary.key,
            "factors": {name: list(values) for name, values in file.factors.items()},
            "candidates": {each.name: _candidate(each, matrix) for each in file.candidates},
            "rounds": matrix.rounds,
            "stages": list(matrix.stages),
            "seed": matrix.seed,
            "restart": file.restart,
            "pause_ns": file.pause_ns,
            "warmup_requests": file.warmup_requests,
            "alpha": matrix.procedure.alpha,
            "discard_if": None if file.discard_if is None else str(file.discard_if),
            "pin": None
            if pin is None
            else {"generator": list(pin.generator), "target": list(pin.target)},
            "until": options.until,
        },
        "environment": environment(),
    }
