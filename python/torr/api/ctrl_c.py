"""Ctrl-C in a call: the load ends, what was measured is kept, and KeyboardInterrupt goes on."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from torr.experiments.interrupt import Interrupt


@contextmanager
def hearing_ctrl_c(interrupt: Interrupt) -> Iterator[None]:
    """Inside the block Ctrl-C presses `interrupt`; after the second one it is Python's again.

    Signals belong to the main thread: in any other nothing is heard. A handler that ignores Ctrl-C
    is left alone.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def press(_number: int, _frame: FrameType | None) -> None:
        interrupt.press()
        if interrupt.is_urgent:
            signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
