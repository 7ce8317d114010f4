"""Translate a command to the watcher's spec, and a failed start to an error."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from torr.messages.message import message
from torr.servers import orphans
from torr.servers.failure import TrialError

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.json import JsonObject
    from torr.servers.command import Command


def spec(command: Command, scratch: Path, log: Path, token: str) -> JsonObject:
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
    reason, program = os.strerror(number), command.argv[0]
    if step == "command" and number == errno.ENOENT:
        return TrialError(
            "not_found",
            command.name,
            message("trial.no_command", "the command {program!r} was not found", program=program),
            message(
                "hint.no_command",
                "install it, or write its whole path; a path is looked for from cwd",
            ),
        )
    if step == "command":
        what = message(
            "trial.not_run", "{program!r} cannot be run: {reason}", program=program, reason=reason
        )
    elif step == "cwd":
        what = message(
            "trial.no_folder",
            "cwd {folder!r} cannot be entered: {reason}",
            folder=str(command.cwd),
            reason=reason,
        )
    elif step == "cores":
        what = message(
            "trial.no_cores",
            "it cannot be put on the cores {cores}: {reason}",
            cores=str(list(command.cores)),
            reason=reason,
        )
    else:
        what = message("trial.no_process", "its process cannot be started: {reason}", reason=reason)
    return TrialError("did_not_start", command.name, what)
