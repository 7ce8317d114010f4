"""Wait, in every process of a server, for requests for memory profiles, which memray takes.

Python imports this module at its start. In the folder that TORR_MEMORY names, `PID.here` shows that
a process accepts requests, `PID.ask` contains a number of seconds, `PID.bin` or `PID.error` is the
answer. A folder that other users can write to is not used. A debugger would need no hook, but may
interrupt system calls of the process.
"""

from __future__ import annotations

import os
import stat
import sys
from _thread import start_new_thread
from contextlib import suppress
from pathlib import Path
from time import sleep

_POLL_S = 0.1


def is_private(folder: str) -> bool:
    """Return whether a path is a directory, not a link, that only this user may access."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    is_closed = not stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and is_closed


def _wait(folder: str) -> None:
    """Answer requests as long as the process runs."""
    base = Path(folder, f"{os.getpid()}")
    with suppress(FileExistsError):
        base.parent.mkdir(mode=0o700, parents=True)
    if not is_private(folder):
        sys.stderr.write(f"torr: TORR_MEMORY={folder} is not used: other users may write to it\n")
        return
    base.with_suffix(".here").touch()
    while True:
        sleep(_POLL_S)
        with suppress(OSError, ValueError):
            seconds = int(base.with_suffix(".ask").read_bytes())
            base.with_suffix(".ask").unlink()
            _answer(base, seconds)


def _answer(base: Path, seconds: int) -> None:
    try:
        _track(base, seconds)
    except Exception as error:
        part = base.with_suffix(".part")
        part.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        part.replace(base.with_suffix(".error"))


def _track(base: Path, seconds: int) -> None:
    import memray

    part = base.with_suffix(".part")
    destination = memray.FileDestination(part, overwrite=True, compress_on_exit=False)
    kind = memray.FileFormat.AGGREGATED_ALLOCATIONS
    with memray.Tracker(destination=destination, file_format=kind, trace_python_allocators=True):
        sleep(seconds)
    part.replace(base.with_suffix(".bin"))


def _start_threads() -> None:
    folder = os.environ.get("TORR_MEMORY")
    if folder:
        # A fork does not copy threads: each child starts its own.
        os.register_at_fork(after_in_child=lambda: start_new_thread(_wait, (folder,)))
        start_new_thread(_wait, (folder,))


def _import_next() -> None:
    """Import the next sitecustomize on the path, if there is one."""
    here = Path(__file__).parent
    sys.path[:] = [path for path in sys.path if Path(path) != here]
    own = sys.modules.pop("sitecustomize")
    with suppress(ImportError):
        __import__("sitecustomize")
    # The import system expects the module after its import.
    sys.modules.setdefault("sitecustomize", own)


if __name__ == "sitecustomize":
    _start_threads()
    _import_next()
