"""Who keeps slices stands back: on a core that it shares with the load, it must not delay it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Found = TypeVar("Found")

# The least share that there is. A load that fills the core leaves it 1.5 %, and it needs a third.
_LAST = 19


def patiently(work: Callable[[], Found], give_up: Callable[[], object]) -> Found:
    """Do `work` in a thread that comes last, and return what it returns or raise what it raises.

    The calling thread only waits, so that signals are heard at once. An error of one of their
    handlers is raised when `give_up` has made the work end.
    """
    found: list[Found] = []
    raised: list[BaseException] = []

    def stand_back() -> None:
        # On Linux each thread has a place of its own; what ends with the load never needs more.
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LAST)
        try:
            found.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=stand_back, name="torr-slices", daemon=True)
    try:
        thread.start()
        thread.join()
    except BaseException:
        give_up()
        if thread.ident is not None:
            thread.join()
        raise
    if raised:
        raise raised[0]
    return found[0]


def directly(work: Callable[[], Found], _give_up: Callable[[], Any]) -> Found:
    """Do `work` in the calling thread, where it calls functions that belong to it."""
    return work()
