"""Set up a server's first process in the fork of the watcher, then execute the command.

It gets a session, its cores and a signal for when the watcher dies. The watcher uses this module,
so it imports little.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from contextlib import suppress

from torr.servers import cgroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from torr.model.json import JsonObject

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all descendants whose parent ends; raise OSError if refused."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def exec_command(spec: JsonObject, group: str | None, out: int, error_pipe: int) -> NoReturn:
    """Execute the command of a watcher's spec in the fork; never returns.

    `out` becomes stdout and stderr. The pipe `error_pipe` closes on success, and gets the step that
    failed (run, cores, cwd, command) and its errno on failure.
    """
    step = "run"
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # in case the watcher itself is killed
        if group is not None:
            with suppress(OSError):  # the watcher knows the tree without it, too
                cgroup.enter(group)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        step = "cores"
        if spec["cores"]:
            os.sched_setaffinity(0, spec["cores"])
        step = "cwd"
        os.chdir(spec["cwd"])
        step = "command"
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606 - no shell is wanted
    except Exception as error:
        reason = getattr(error, "errno", None) or errno.EINVAL
        os.write(error_pipe, f"{step} {reason}".encode())
    finally:
        os._exit(127)


def _prctl(option: int, value: int) -> None:
    """Call prctl(2), which Python does not offer; raise OSError on failure."""
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
