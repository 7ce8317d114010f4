"""Read intervals in a thread of low priority, so that it does not delay a load on the same core."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from torr.low_priority import lower_priority

if TYPE_CHECKING:
    from collections.abc import Callable

Returned = TypeVar("Returned")


class Follow(Protocol):
    """Runs the function that reads the intervals of a load, in some thread."""

    def __call__(self, work: Callable[[], Returned], cancel: Callable[[], object], /) -> Returned:
        """Return the result of `work`; `cancel` makes it end early."""
        ...


def in_background(work: Callable[[], Returned], cancel: Callable[[], object]) -> Returned:
    """Run `work` in a thread of low priority; return its result or raise its error.

    The calling thread only waits, so that it handles signals immediately. An error of a signal
    handler is raised after `cancel` has ended the work.
    """
    results: list[Returned] = []
    raised: list[BaseException] = []
    # Not Thread.join: after an error within it, it reports that the thread has ended.
    ended = threading.Event()

    def run() -> None:
        lower_priority()
        try:
            results.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="torr-intervals", daemon=True)
    try:
        thread.start()
        ended.wait()
    except BaseException:
        cancel()
        if thread.ident is not None:
            ended.wait()
        raise
    if raised:
        raise raised[0]
    return results[0]


def in_calling_thread(work: Callable[[], Returned], _cancel: Callable[[], Any]) -> Returned:
    """Run `work` in the calling thread, for functions of the caller that belong to it."""
    return work()
