"""Ctrl-C during a call: end the load, store the measurements, then raise KeyboardInterrupt."""

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
def handle_ctrl_c(interrupt: Interrupt) -> Iterator[None]:
    """Let Ctrl-C press `interrupt` in the block; from the second one on Python handles it again.

    Signals arrive in the main thread only: in another thread, nothing changes. A handler that
    ignores Ctrl-C is not replaced.
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
