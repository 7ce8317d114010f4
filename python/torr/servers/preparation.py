"""What happens before a server of a tuning starts: templates are filled, commands run.

Filled templates lie in the folder for temporary files of the trial, and end with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.messages.message import message
from torr.servers.failure import EndedEarly, TrialError, describe_exit
from torr.servers.log_file import tail
from torr.servers.placeholders import fill
from torr.servers.reservation import scratch_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from torr.messages.message import Message
    from torr.servers.command import Command

_POLL_S = 0.02
_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class ConfigTemplate:
    """A file that is filled with the values of a setting; `name` stands for the path of it."""

    name: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Preparation:
    """The templates to fill, and the commands to run, before a server starts.

    `otherwise` has the values of placeholders that a setting has no value for.
    """

    templates: tuple[ConfigTemplate, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    otherwise: Mapping[str, object] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that may have placeholders."""
        words = (word for argv in self.before for word in argv)
        return (*(template.text for template in self.templates), *words)

    def write_files(self, values: Mapping[str, object], scratch: Path) -> dict[str, object]:
        """Fill the templates; return their paths by name."""
        paths: dict[str, object] = {}
        for template in self.templates:
            path = scratch / f"{template.name}-{template.path.name}"
            with scratch_errors(path):
                path.write_text(fill(template.text, values, template.name), encoding="utf-8")
            paths[template.name] = path
        return paths

    def run(
        self,
        command: Command,
        values: Mapping[str, object],
        scratch: Path,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Run the commands one after another, in the server's folder and environment.

        Raise TrialError (before_failed) if one fails, or takes longer than the server may take to
        become healthy.
        """
        for words in self.before:
            argv = [fill(word, values, "before") for word in words]
            _run(argv, command, scratch, is_over)


def _run(argv: list[str], command: Command, scratch: Path, is_over: Callable[[], bool]) -> None:
    log = scratch / "before.log"
    deadline = time.monotonic() + command.health_timeout_s
    with scratch_errors(log):
        output = log.open("wb")
    try:
        process = subprocess.Popen(
            argv,
            cwd=command.cwd,
            env={**command.environment, "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        what = message(
            "trial.before_not_run",
            "{program!r}, of before, cannot be run: {reason}",
            program=argv[0],
            reason=error.strerror or str(error),
        )
        raise TrialError("before_failed", command.name, what) from error
    finally:
        output.close()
    try:
        while process.poll() is None and time.monotonic() < deadline and not is_over():
            time.sleep(_POLL_S)
        code = process.poll()
    finally:
        _end_group(process)
    if code == 0:
        return
    if code is None and is_over():
        raise EndedEarly
    raise TrialError(
        "before_failed", command.name, _problem(argv, code, command), None, tail(log, _TAIL_LINES)
    )


def _problem(argv: list[str], code: int | None, command: Command) -> Message:
    program = argv[0]
    if code is None:
        return message(
            "trial.before_timeout",
            "{program!r}, of before, did not end within {seconds:g} s",
            program=program,
            seconds=command.health_timeout_s,
        )
    return message(
        "trial.before_failed",
        "{program!r}, of before, failed: {exit}",
        program=program,
        exit=describe_exit(code),
    )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
