"""After the load: judge, close result.json, say it, draw it, and choose how the process ends.

Heavy libraries are welcome from here on. What is measured is on disk before anything is drawn.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from torr.errors import (
    GeneratorLimitedError,
    InterruptedRunError,
    MissedError,
    NothingMeasuredError,
)
from torr.stats.series import is_limited
from torr.store.atomic import replace_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torr.experiments.lab import Outcome
    from torr.model.condition import Condition
    from torr.store.rundir import RunDirectory

Result = dict[str, Any]

PUBLISHED = (".dat", ".png")


def conclude(outcome: Outcome, directory: RunDirectory, flags: dict[str, Any]) -> None:
    """Finish a run whose load is over; raises the error that the process ends with, if any."""
    result = _close(outcome, directory, flags)
    if flags["output"] == "json":
        print_json(directory)
    if outcome.failure is not None and not outcome.interrupted:
        raise NothingMeasuredError(outcome.failure, _tried(result))
    if flags["output"] == "text":
        _print_text(result, flags)
    if outcome.levels and not outcome.is_urgent:
        paths = draw(result, directory)
        if flags["output"] == "text" and not flags["quiet"]:
            _print_paths(directory, paths)
    _end(outcome, result, directory, flags)


def draw(result: Result, directory: RunDirectory) -> list[Path]:
    """Write the report's files, and the newest data and pictures beside the run's directory."""
    from torr import report

    paths = report.write_all(result, directory.path)
    published = [path for path in paths if path.suffix in PUBLISHED]
    for path in published:
        with directory.translating_errors():
            replace_bytes(directory.root / path.name, path.read_bytes())
    return [directory.root / path.name for path in published]


def print_json(directory: RunDirectory) -> None:
    """Copy result.json to stdout."""
    sys.stdout.write(directory.result_path.read_text(encoding="utf-8"))
    sys.stdout.flush()


def _close(outcome: Outcome, directory: RunDirectory, flags: dict[str, Any]) -> Result:
    """Judge the levels and write the last result.json; what it says."""
    from torr.stats import capacity

    levels = directory.full_levels()
    slos = flags["slos"]
    sections: dict[str, Any] = {"verdicts": capacity.verdicts(levels, slos)}
    if directory.head["kind"] == "ladder":
        sections["capacity"] = capacity.analyse(levels, slos)
    if outcome.aborted is not None:
        sections["ended_by"] = f"--abort-on '{outcome.aborted}'"
    directory.close(outcome.status, sections)
    result: Result = json.loads(directory.result_path.read_bytes())
    return result


def _print_text(result: Result, flags: dict[str, Any]) -> None:
    from torr.cli.terminal import show

    if result["kind"] == "ladder" and not flags["quiet"]:
        click.echo()  # the rows of the levels stand above
    show(result, quiet=flags["quiet"])


def _print_paths(directory: RunDirectory, published: list[Path]) -> None:
    click.echo(f"\nreport  {directory.path / 'report.html'}")
    if published:
        click.echo(f"newest  {', '.join(str(path) for path in published)}")


def _end(outcome: Outcome, result: Result, directory: RunDirectory, flags: dict[str, Any]) -> None:
    """Raise what the exit code says, the most important first."""
    if outcome.interrupted:
        kept = f"{len(outcome.levels)} level(s) kept in {directory.path}"
        raise InterruptedRunError(f"interrupted: {kept}")
    limited = [x for x in result["levels"] if x["health"]["verdict"] == "generator-limited"]
    if flags["strict"] and limited:
        where = ", ".join(str(level["concurrency"]) for level in limited)
        raise GeneratorLimitedError(f"--strict: the generator was the limit at {where} connections")
    _gate(result, flags["slos"])


def _gate(result: Result, slos: Sequence[Condition]) -> None:
    """Raise MissedError unless the SLOs may pass; say of each that is not shown that it is not.

    A ladder climbs until SLOs break, so what counts is the lowest level that claims anything. Where
    none does, nothing speaks for the SLOs, and they do not pass.
    """
    usable = {x["concurrency"] for x in result["levels"] if not is_limited(x)}
    if slos and not usable:
        asked = ", ".join(slo.text or str(slo) for slo in slos)
        hint = "give it more room (--workers, ulimit -Hn, another machine) or less load"
        raise MissedError(f"SLO {asked}: not shown: the generator was the limit", hint)
    lowest = min(usable, default=None)
    found = [verdict for verdict in result["verdicts"] if verdict["concurrency"] == lowest]
    broken = [_named(verdict) for verdict in found if verdict["word"] == "broken"]
    if broken:
        raise MissedError(f"SLO broken: {', '.join(broken)}")
    for verdict in found:
        if verdict["word"] == "not shown":
            said = f"SLO not shown: {_named(verdict)}: neither held nor broken, so no failure"
            click.echo(f"note: {said}", err=True)


def _named(verdict: Result) -> str:
    """The SLO, with the reason where no value speaks for itself."""
    if verdict["reason"] and (verdict["value"] is None or verdict["word"] == "not shown"):
        return f"{verdict['condition']} ({verdict['reason']})"
    condition: str = verdict["condition"]
    return condition


def _tried(result: Result) -> str:
    """What was tried, when nothing came back."""
    request = result["plan"]["groups"][0]["source"]["request"]
    level = result["levels"][0]
    counts = level["counts"]
    reasons = ", ".join(f"{name} × {count:,}" for name, count in level["reasons"].items())
    return (
        f"tried {request['method']} {request['url']} {counts['attempted']:,} times over"
        f" {level['concurrency']:,} connections" + (f": {reasons}" if reasons else "")
    )
