"""What becomes of measured functions: set beside an earlier run, and kept as one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.micro import across, machine
from torr.stats import comparison, limit
from torr.stats.comparison import Procedure
from torr.stats.metric import OK_PER_S, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from torr.model.change import Change
    from torr.plugin.session import Session

    Judge = Callable[
        [Sequence[dict[str, Any]], Sequence[dict[str, Any]], tuple[str, str]], list[dict[str, Any]]
    ]

Json = dict[str, Any]

KIND = "micro"
_METRICS = tuple(map(Metric, ("response_ms.p50", "response_ms.p99")))
_PROCEDURE = Procedure(primary=Metric(OK_PER_S), metrics=_METRICS)


def changes_of(config: pytest.Config) -> list[Change]:
    """Return what --torr-fail-if asks for; raises UsageError."""
    found = [_change(text) for text in config.getoption("torr_fail_if")]
    is_beside = config.getoption("torr_compare") is not None
    without = "--torr-fail-if is given without --torr-compare"
    require(is_beside or not found, without, "--torr-compare NAME")
    return found


def run_before(config: pytest.Config) -> tuple[int, Json] | None:
    """Return the kept run that --torr-compare names, its id and its result; raises TorrError."""
    name = config.getoption("torr_compare")
    if name is None:
        return None
    from torr.store.kept.store import Filter, open_store

    with open_store() as store:
        found = store.find(Filter(name=name, kinds=(KIND,)), most=1)
        missing = f"--torr-compare {name}: there is no such kept run"
        require(bool(found), missing, "see `torr runs list`")
        return found[0].id, store.result(found[0].id)


def set_beside(session: Session) -> None:
    """Compare with the newest kept run of a name, function by function; unpaired, and marked."""
    changes, kept = changes_of(session.config), run_before(session.config)
    if kept is None:
        return
    run, before = kept
    judge = _judge_of(session, before)
    for function, factors in dict.fromkeys((x["candidate"], _key(x)) for x in session.levels):
        old, new = (
            [x for x in levels if (x["candidate"], _key(x)) == (function, factors)]
            for levels in (before["levels"], session.levels)
        )
        if old:
            verdicts = judge(old, new, (f"run {run}", "now"))
            whose = [{**verdict, "candidate": function} for verdict in verdicts]
            session.against += whose
            session.limits += [
                limit.judge(change, v)
                for change in changes
                for v in whose
                if v["metric"] == change.key
            ]


def _judge_of(session: Session, before: Json) -> Judge:
    """How trials of an earlier run are set beside these: scaled where another machine made them."""
    from torr.store.environment import environment

    if not across.is_another(before.get("environment") or {}, environment()):
        return lambda old, new, names: comparison.unpaired(old, new, names, _PROCEDURE)
    factors = across.scales(before.get("machine_speed"), machine.speed().as_json())
    if factors is not None:
        session.said.append(
            f"the earlier run is of another machine: its numbers are scaled by {factors[0]:.2f}"
            f" ({factors[1]:.2f}–{factors[2]:.2f}), how much faster this one is"
        )

    def judge(old: Sequence[Json], new: Sequence[Json], names: tuple[str, str]) -> list[Json]:
        return across.judged(
            old, factors, lambda then: comparison.unpaired(then, new, names, _PROCEDURE)
        )

    return judge


def keep(session: Session) -> None:
    """Write a run's directory and register it, where --torr-save asks for it."""
    name = session.config.getoption("torr_save")
    if name is None:
        return
    from torr import report
    from torr.model.secrets import redacted_command
    from torr.store.environment import environment
    from torr.store.kept.registering import register
    from torr.store.rundir import RunDirectory

    head = {
        "kind": KIND,
        "command": ["pytest", *redacted_command(sys.argv[1:])],
        "plan": None,
        "note": session.config.getoption("torr_note"),
        "tags": list(dict.fromkeys(session.config.getoption("torr_tag"))),
        "environment": environment(),
    }
    flags = {"name": "--torr-save", "folder": "--torr-dir"}
    folder = Path(session.config.getoption("torr_dir"))
    with RunDirectory.create(folder, name, head, flags) as directory:
        for level in session.levels:
            directory.keep_level(level)
        directory.close("complete", sections(session, machine.speed().as_json()))
        report.write_all(json.loads(directory.result_path.read_bytes()), directory.path)
        kept = register(directory.path)
        session.said.append(f"kept    {directory.path}" + (f" as run {kept.id}" if kept.id else ""))
        if kept.problem is not None:
            session.said.append(f"note: {kept.problem}")


def sections(session: Session, speed: dict[str, float]) -> Json:
    """What a session comes to, as sections of result.json."""
    budgets = [verdict for entry in session.entries for verdict in entry.judged]
    leaks = [
        {"candidate": entry.name, "factors": entry.parameters, **entry.leaks.as_json()}
        for entry in session.entries
        if entry.leaks is not None
    ]
    compared = [verdict for _, found in session.compared for verdict in found.verdicts]
    return {
        "verdicts": [*compared, *session.against],
        "budgets": budgets,
        "leaks": leaks,
        "fail_if": session.limits,
        "machine_speed": speed,
        "profiles": session.profiles,
    }


def _change(text: str) -> Change:
    from torr.model.change import Change

    words = text.strip()
    found = Change.parse(f"ok/s{words[3:]}" if words.startswith("ops") else words)
    known = {OK_PER_S, *(metric.key for metric in _METRICS)}
    if found.key not in known:
        raise UsageError(f"--torr-fail-if {text!r}: that is not compared", "ops, p50 or p99")
    return found


def _key(level: Json) -> str:
    return repr(sorted((level.get("factors") or {}).items())) + f" {level['concurrency']}"
