"""Who keeps intervals stands back: on a core that it shares with the load, it must not delay it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from torr.low_priority import lower_priority

if TYPE_CHECKING:
    from collections.abc import Callable

Found = TypeVar("Found")


class Follow(Protocol):
    """Where the intervals of a load are followed."""

    def __call__(self, work: Callable[[], Found], give_up: Callable[[], object], /) -> Found:
        """Do the work; `give_up` makes it end."""
        ...


def in_background(work: Callable[[], Found], give_up: Callable[[], object]) -> Found:
    """Do `work` in a thread that stands back, and return what it returns or raise what it raises.

    The calling thread only waits, so that signals are heard at once. An error of one of their
    handlers is raised when `give_up` has made the work end.
    """
    found: list[Found] = []
    raised: list[BaseException] = []
    # Not the thread's own end: a join that an error left takes the thread for ended.
    over = threading.Event()

    def behind() -> None:
        lower_priority()
        try:
            found.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            over.set()

    thread = threading.Thread(target=behind, name="torr-intervals", daemon=True)
    try:
        thread.start()
        over.wait()
    except BaseException:
        give_up()
        if thread.ident is not None:
            over.wait()
        raise
    if raised:
        raise raised[0]
    return found[0]


def in_calling_thread(work: Callable[[], Found], _give_up: Callable[[], Any]) -> Found:
    """Do `work` in the calling thread, where it calls functions that belong to it."""
    return work()
