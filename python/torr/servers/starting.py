"""Translate a command to the watcher's spec, and a failed start to an error."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from torr.servers import orphans
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from pathlib import Path

    from torr.servers.command import Command


def spec(command: Command, scratch: Path, log: Path, token: str) -> dict[str, Any]:
    """Return the JSON object that the watcher starts the server from."""
    ours = {"TMPDIR": str(scratch), orphans.MARK: token, **dict(command.env)}
    return {
        "argv": command.argv,
        "env": {**command.environment, **ours},
        "cwd": str(command.cwd.absolute()),
        "cores": command.cores,
        "log": str(log.absolute()),
        "scratch": str(scratch.absolute()),
        "token": token,
    }


def not_started(command: Command, step: str, number: int) -> TrialError:
    """Return the error for the step at which the start failed, with its errno."""
    reason = os.strerror(number)
    if step == "command" and number == errno.ENOENT:
        return TrialError(
            "not_found",
            f"{command.name}: the command {command.argv[0]!r} was not found",
            "install it, or write its whole path; a path is looked for from cwd",
        )
    failure = {
        "command": f"{command.argv[0]!r} cannot be run: {reason}",
        "cwd": f"cwd {str(command.cwd)!r} cannot be entered: {reason}",
        "cores": f"it cannot be put on the cores {list(command.cores)}: {reason}",
    }.get(step, f"its process cannot be made: {reason}")
    return TrialError("did_not_start", f"{command.name}: {failure}")
