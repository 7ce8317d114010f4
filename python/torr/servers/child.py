"""What the kernel is asked for around a server's first process: a session, its cores, its end.

Runs in the fork, between the watcher and the command. Imports next to nothing.
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
    from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose parent ends; raises OSError."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def become(spec: dict[str, Any], group: str | None, out: int, tell: int) -> NoReturn:
    """Become the command of a watcher's spec, in the fork; it does not return.

    `out` becomes stdout and stderr. The pipe `tell` closes when it worked, and gets the step that
    failed (run, cores, cwd, command) and its errno when it did not.
    """
    step = "run"
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # in case the watcher itself is killed
        if group is not None:
            with suppress(OSError):  # the tree is whole without it
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
        os.write(tell, f"{step} {reason}".encode())
    finally:
        os._exit(127)


def _prctl(option: int, value: int) -> None:
    """prctl(2), which Python does not have; raises OSError."""
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
