"""Waits, in every process of a server, to be asked for a profile of its memory by memray.

Python imports it when it starts. In the folder that TORR_MEMORY names, `PID.here` says that a
process can be asked, `PID.ask` asks for so many seconds, `PID.bin` or `PID.error` is the answer. A
folder that somebody else could write to is not used.
A debugger would do without it, and may break a system call of the process that it stops.
"""

from __future__ import annotations

import os
import stat
import sys
from _thread import start_new_thread
from contextlib import suppress
from pathlib import Path
from time import sleep

_LOOK_S = 0.1


def is_private(folder: str) -> bool:
    """Whether it is a directory, and no link to one, of this user's that nobody else may enter."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_closed = not stat.S_IMODE(found.st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and is_closed


def _wait(folder: str) -> None:
    """Answer whoever asks, for as long as the process runs."""
    place = Path(folder, f"{os.getpid()}")
    with suppress(FileExistsError):
        place.parent.mkdir(mode=0o700, parents=True)
    if not is_private(folder):
        sys.stderr.write(f"torr: TORR_MEMORY={folder} is not used: others may write to it\n")
        return
    place.with_suffix(".here").touch()
    while True:
        sleep(_LOOK_S)
        with suppress(OSError, ValueError):
            seconds = int(place.with_suffix(".ask").read_bytes())
            place.with_suffix(".ask").unlink()
            _answer(place, seconds)


def _answer(place: Path, seconds: int) -> None:
    try:
        _track(place, seconds)
    except Exception as error:
        part = place.with_suffix(".part")
        part.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        part.replace(place.with_suffix(".error"))


def _track(place: Path, seconds: int) -> None:
    import memray

    part = place.with_suffix(".part")
    to = memray.FileDestination(part, overwrite=True, compress_on_exit=False)
    kind = memray.FileFormat.AGGREGATED_ALLOCATIONS
    with memray.Tracker(destination=to, file_format=kind, trace_python_allocators=True):
        sleep(seconds)
    part.replace(place.with_suffix(".bin"))


def _begin() -> None:
    folder = os.environ.get("TORR_MEMORY")
    if folder:
        # Threads of a parent are not in its children: each begins one of its own.
        os.register_at_fork(after_in_child=lambda: start_new_thread(_wait, (folder,)))
        start_new_thread(_wait, (folder,))


def _next() -> None:
    """Import the sitecustomize that stands behind this one, if there is one."""
    here = Path(__file__).parent
    sys.path[:] = [each for each in sys.path if Path(each) != here]
    own = sys.modules.pop("sitecustomize")
    with suppress(ImportError):
        __import__("sitecustomize")
    # Whoever imports this one looks for it when it is done.
    sys.modules.setdefault("sitecustomize", own)


if __name__ == "sitecustomize":
    _begin()
    _next()
