"""The exceptions of torr, and the exit codes of the process.

    TorrError
    ├── MissedError              1    an SLO failed, or an abort condition ended the run
    ├── UsageError               2    wrong flag, plan or file; nothing was sent
    │   ├── PlanError            2    a plan that cannot be run, an unknown host
    │   ├── FileError            2    a file with a broken line: names file and line
    │   ├── LevelError           2    a result has several levels or none, and its one was asked for
    │   ├── OutputError          2    results cannot be written where they should go
    │   └── StoreError           2    the store of runs cannot be used, or has no such run
    │       └── ResultError      2    what is to be a result.json is none, or is a newer torr's
    ├── NothingMeasuredError     3    no response byte came, the server did not start, or the
    │                                 engine is missing or broke
    ├── GeneratorLimitedError    4    --strict was given and the generator was the limit
    └── InterruptedRunError    129    stopped by SIGHUP; everything measured is stored
                               130    by SIGINT, as Ctrl-C sends it
                               143    by SIGTERM

An exception that is none of these is a defect of torr, and ends the process with 70.

A message says what happened and to what; the hint says what to try. Errors from other libraries
are translated where they enter torr, with the cause attached; this module translates nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from torr.messages.say import changed, say

if TYPE_CHECKING:
    from pathlib import Path


class ExitCode(IntEnum):
    """How the process ends, for scripts and CI."""

    FINE = 0
    MISSED = 1
    USAGE = 2
    NOTHING_MEASURED = 3
    GENERATOR_LIMITED = 4
    DEFECT = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


ENDS: dict[ExitCode, str] = {
    ExitCode.FINE: "every SLO is held, no change is beyond a limit of `--fail-if`, the capacity is"
    " at least `--min-capacity`, and no `--abort-on` ended the load",
    ExitCode.MISSED: "an SLO is broken, or a change is beyond a limit of `--fail-if`; or one of"
    " them cannot be shown, unless `--allow-not-shown` is given; or the capacity is below"
    " `--min-capacity`; or `--abort-on` ended the load",
    ExitCode.USAGE: "a flag, a file or a host name is wrong and nothing was sent; or results could"
    " not be written, and the load ended; or the log of `--log` is incomplete",
    ExitCode.NOTHING_MEASURED: "no byte of a response came, no request succeeded, no server of a"
    " comparison could be measured, or the engine is not built; with `--strict` also where a trial"
    " of a comparison failed",
    ExitCode.GENERATOR_LIMITED: "`--strict` was given and the generator was the limit somewhere",
    ExitCode.DEFECT: "a defect of torr; its traceback is on stderr",
    ExitCode.HUNG_UP: "stopped by SIGHUP, as of a closed terminal; everything measured is stored",
    ExitCode.INTERRUPTED: "stopped by SIGINT, as Ctrl-C sends it; everything measured is stored",
    ExitCode.TERMINATED: "stopped by SIGTERM; everything measured is stored",
}
"""The meaning of each exit code, for the documentation."""


class TorrError(Exception):
    """An error with a message and a hint for the user.

    `message` is one sentence without a full stop; `hint`, if any, is what to try.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def text(self) -> str:
        """The message and the hint, as a text that can be translated."""
        if self.hint is None:
            return self.message
        return say("{message}\nhint: {hint}", message=self.message, hint=self.hint)

    def __str__(self) -> str:
        return str(self.text)


class MissedError(TorrError):
    """An SLO failed, or an abort condition ended the run."""


class UsageError(TorrError):
    """A flag, a plan or a file is wrong; nothing was sent."""


class PlanError(UsageError):
    """A plan cannot be run, or its host is unknown."""


class FileError(UsageError):
    """A line of a file cannot be understood; `line` counts from 1."""

    def __init__(self, path: Path, line: int, message: str, hint: str | None = None) -> None:
        super().__init__(changed(message, lambda text: f"{path}:{line}: {text}"), hint)
        self.path = path
        self.line = line


class LevelError(UsageError, AttributeError):
    """The one level of a result was requested, but it has several or none.

    An AttributeError, too, so that `hasattr(result, "level")` says whether there is one.
    """


class OutputError(UsageError):
    """Results cannot be written where they should go."""


class StoreError(UsageError):
    """The store of runs cannot be read or written, or it has no such run."""


class ResultError(StoreError):
    """A file is not a result.json, or a newer torr wrote it."""


class NothingMeasuredError(TorrError):
    """No response byte came back, or the server did not start."""


class GeneratorLimitedError(TorrError):
    """The generator was the limit, and `--strict` was given."""


class InterruptedRunError(TorrError):
    """A signal stopped the run; everything measured is stored."""

    signal_number = 2
    """The signal, SIGINT unless another one is known."""


def require(holds: bool, message: str, hint: str | None = None) -> None:
    """Raise UsageError unless a condition holds."""
    if not holds:
        raise UsageError(message, hint)


# What a shell adds to the number of a signal.
_SIGNALLED = 128

# Looked up along a class's ancestors, so that a subclass ends as its parent does.
_EXIT_CODES: dict[type[BaseException], ExitCode] = {
    MissedError: ExitCode.MISSED,
    UsageError: ExitCode.USAGE,
    NothingMeasuredError: ExitCode.NOTHING_MEASURED,
    GeneratorLimitedError: ExitCode.GENERATOR_LIMITED,
    KeyboardInterrupt: ExitCode.INTERRUPTED,
}


def exit_code(error: BaseException) -> ExitCode:
    """Return the exit code that `error` ends the process with.

    An error that torr cannot explain is a defect, and its traceback must be seen.
    """
    if isinstance(error, InterruptedRunError):
        return ExitCode(_SIGNALLED + error.signal_number)
    known = (_EXIT_CODES[kind] for kind in type(error).__mro__ if kind in _EXIT_CODES)
    return next(known, ExitCode.DEFECT)
