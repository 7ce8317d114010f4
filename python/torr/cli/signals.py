"""Ctrl-C: once, the run ends and is kept; twice, at once and kept; a third time, the process ends.

SIGTERM counts as SIGINT, and so does SIGHUP, which a closed terminal sends. The first signal
decides the exit code.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torr.errors import InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from torr.experiments.interrupt import Interrupt

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupted_by_signals(interrupt: Interrupt) -> Iterator[None]:
    """Inside the block signals press `interrupt`; after the second one the third one kills."""
    first: list[int] = []

    def press(number: int, _frame: FrameType | None) -> None:
        first.append(number)
        interrupt.press()
        if interrupt.presses >= 2:
            for heard in before:
                signal.signal(heard, signal.SIG_DFL)

    # nohup has SIGHUP ignored, and means it.
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    heard_here = [heard for heard in HEARD if not (is_ignored and heard == signal.SIGHUP)]
    before = {heard: signal.signal(heard, press) for heard in heard_here}
    try:
        yield
    except InterruptedRunError as error:
        error.signal_number = first[0] if first else error.signal_number
        raise
    finally:
        for heard, handler in before.items():
            signal.signal(heard, handler)
