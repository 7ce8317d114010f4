"""Ctrl-C ends the run and keeps it, a second one at once, a third one ends the process.

SIGTERM and SIGHUP, which a closed terminal sends, have the same effect. The first signal decides
the exit code.
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

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupted_by_signals(interrupt: Interrupt) -> Iterator[None]:
    """Press `interrupt` for signals within the block; a third signal ends the process."""
    first: list[int] = []

    def press(number: int, _frame: FrameType | None) -> None:
        first.append(number)
        interrupt.press()
        if interrupt.presses >= 2:
            for handled in before:
                signal.signal(handled, signal.SIG_DFL)

    # nohup ignores SIGHUP on purpose.
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    handled_here = [x for x in SIGNALS if not (is_ignored and x == signal.SIGHUP)]
    before = {handled: signal.signal(handled, press) for handled in handled_here}
    try:
        yield
    except InterruptedRunError as error:
        error.signal_number = first[0] if first else error.signal_number
        raise
    finally:
        for handled, handler in before.items():
            signal.signal(handled, handler)
