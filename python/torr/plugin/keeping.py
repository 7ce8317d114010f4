"""What becomes of measured functions: a run, which is on disk from the first measurement on."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from torr.errors import TorrError
from torr.micro import machine
from torr.report.text.functions import KIND
from torr.results.result import Conclusions
from torr.store.rundir import RunDirectory, check_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torr.finishing.pipeline import FinishedRun
    from torr.plugin.session import MeasurementSession
    from torr.results.functions import MachineSpeed
    from torr.results.result import Status

_FLAGS = {"name": "--torr-save", "folder": "--torr-dir"}
_HEAD: pytest.StashKey[Mapping[str, Any]] = pytest.StashKey()
"""What stands at the head of the run, as it was before any test went elsewhere."""


def check(config: pytest.Config) -> None:
    """Raise OutputError where a run could not be written; leaves nothing but --torr-dir itself."""
    name = config.getoption("torr_save")
    if name is not None:
        check_name(name, _FLAGS["name"])
        _create(config, {}).abandon()
        config.stash[_HEAD] = _head(config)


class Keeping:
    """The run of one session, if --torr-save asks for one."""

    def __init__(self, session: MeasurementSession) -> None:
        self._session = session
        self._is_asked = session.config.getoption("torr_save") is not None
        self._directory: RunDirectory | None = None
        self._count = 0

    def go_on(self) -> None:
        """Have on disk what was measured since: whatever ends this process, it stays.

        What cannot be kept now is tried again at the end, which says so.
        """
        if self._is_asked:
            with suppress(TorrError):
                self._follow()

    def close(self, status: Status) -> None:
        """Write all that is known, the report, and register the run; raises TorrError."""
        if not self._is_asked or not self._session.entries:
            return
        from torr.finishing.pipeline import EndedRun, finish
        from torr.options.result import ResultOptions

        with self._follow() as directory:
            run = EndedRun(
                directory,
                lambda: concluded(self._session, machine.speed()),
                status,
                publishes=False,
            )
            finish(run, ResultOptions(), self._say)

    def _say(self, finished: FinishedRun) -> None:
        said = self._session.said
        place = _shown(finished.directory, self._session.config.invocation_params.dir)
        said.append(f"kept    {place}" + (f" as run {finished.kept}" if finished.kept else ""))
        said += [f"note: {note}" for note in finished.notes]

    def _follow(self) -> RunDirectory:
        session = self._session
        if self._directory is None:
            self._directory = _create(session.config, session.config.stash[_HEAD])
            self._directory.profiles = session.profiles
        new = session.levels[self._count :]
        self._count += len(new)
        self._directory.keep_levels(new, concluded(session, machine.speed()))
        return self._directory


def _shown(path: Path, start: Path) -> Path:
    return path.relative_to(start) if path.is_relative_to(start) else path


def concluded(session: MeasurementSession, speed: MachineSpeed) -> Conclusions:
    """Return what a session comes to."""
    return Conclusions(
        verdicts=[*session.compared, *session.against],
        budgets=[verdict for entry in session.entries for verdict in entry.budgets],
        leaks=[entry.leaks for entry in session.entries if entry.leaks is not None],
        fail_if=session.limits,
        machine_speed=speed,
    )


def _create(config: pytest.Config, head: Mapping[str, Any]) -> RunDirectory:
    from torr.model.secrets import secrets_of_command

    # A test may stand in a directory of its own when the first thing is measured.
    folder = config.invocation_params.dir / config.getoption("torr_dir")
    secrets = secrets_of_command(sys.argv[1:])
    return RunDirectory.create(folder, config.getoption("torr_save"), head, _FLAGS, secrets=secrets)


def _head(config: pytest.Config) -> dict[str, Any]:
    from torr.model.secrets import redacted_command
    from torr.store.environment import environment

    return {
        "kind": KIND,
        "command": ["pytest", *redacted_command(sys.argv[1:])],
        "plan": None,
        "note": config.getoption("torr_note"),
        "tags": list(dict.fromkeys(config.getoption("torr_tag"))),
        "environment": environment(),
    }
