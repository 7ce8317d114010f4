"""Write measured functions as a run, which is on disk from the first measurement on."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from torr.errors import TorrError
from torr.micro import machine
from torr.report.text.functions import KIND
from torr.results.result import Conclusions, RunHead
from torr.store.rundir import RunDirectory, check_name

if TYPE_CHECKING:
    from pathlib import Path

    from torr.finishing.pipeline import FinishedRun
    from torr.plugin.session import MeasurementSession
    from torr.results.functions import MachineSpeed
    from torr.results.result import Status

_FLAGS = {"name": "--torr-save", "folder": "--torr-dir"}
_HEAD: pytest.StashKey[RunHead] = pytest.StashKey()
"""The header of the run, from before any test can change the directory or environment."""


def check(config: pytest.Config) -> None:
    """Raise OutputError if a run cannot be written; creates nothing but --torr-dir."""
    name = config.getoption("torr_save")
    if name is not None:
        check_name(name, _FLAGS["name"])
        _create(config, RunHead(kind=KIND)).abandon()
        config.stash[_HEAD] = _head(config)


class RunWriter:
    """Writes the run of a session if --torr-save is given."""

    def __init__(self, session: MeasurementSession) -> None:
        self._session = session
        self._is_enabled = session.config.getoption("torr_save") is not None
        self._directory: RunDirectory | None = None

    def save(self) -> None:
        """Write new measurements to disk, so that they survive the end of this process.

        If that fails, `close` tries again and reports the error.
        """
        if self._is_enabled:
            with suppress(TorrError):
                self._write_new()

    def close(self, status: Status) -> None:
        """Write the result and the report, and register the run; raise TorrError on failure."""
        if not self._is_enabled or not self._session.entries:
            return
        from torr.finishing.pipeline import EndedRun, finish
        from torr.options.result import ResultOptions

        with self._write_new() as directory:
            run = EndedRun(
                directory,
                lambda: conclusions(self._session, machine.speed()),
                status,
                publishes=False,
            )
            finish(run, ResultOptions(), self._note)

    def _note(self, finished: FinishedRun) -> None:
        notes = self._session.notes
        path = _relative(finished.directory, self._session.config.invocation_params.dir)
        run = f" as run {finished.run_id}" if finished.run_id else ""
        notes.append(f"stored  {path}{run}")
        notes += [f"note: {note}" for note in finished.notes]

    def _write_new(self) -> RunDirectory:
        session = self._session
        if self._directory is None:
            self._directory = _create(session.config, session.config.stash[_HEAD])
            self._directory.profiles = session.profiles
        new = session.levels[len(self._directory.levels) :]
        self._directory.keep_levels(new, conclusions(session, machine.speed()))
        return self._directory


def _relative(path: Path, start: Path) -> Path:
    return path.relative_to(start) if path.is_relative_to(start) else path


def conclusions(session: MeasurementSession, speed: MachineSpeed) -> Conclusions:
    """Return the verdicts and other conclusions of a session."""
    return Conclusions(
        verdicts=[*session.comparison_verdicts, *session.baseline_verdicts],
        budgets=[verdict for entry in session.entries for verdict in entry.budgets],
        leaks=[entry.leaks for entry in session.entries if entry.leaks is not None],
        fail_if=session.limits,
        machine_speed=speed,
    )


def _create(config: pytest.Config, head: RunHead) -> RunDirectory:
    from torr.model.secrets import secrets_of_command

    # Relative to the directory in which pytest was started: a test may have changed it.
    folder = config.invocation_params.dir / config.getoption("torr_dir")
    secrets = secrets_of_command(sys.argv[1:])
    return RunDirectory.create(folder, config.getoption("torr_save"), head, _FLAGS, secrets=secrets)


def _head(config: pytest.Config) -> RunHead:
    from torr.store.run_head import run_head

    note, tags = config.getoption("torr_note"), config.getoption("torr_tag")
    return run_head(KIND, ["pytest", *sys.argv[1:]], note, tags)
