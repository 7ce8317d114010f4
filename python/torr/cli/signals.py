"""Ctrl-C: once, the run ends and is kept; twice, at once and kept; a third time, the process ends.

SIGTERM counts as SIGINT.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from torr.experiments.interrupt import Interrupt

HEARD = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def heard_by(interrupt: Interrupt) -> Iterator[None]:
    """Inside the block signals press `interrupt`; after the second one the third one kills."""

    def press(_number: int, _frame: FrameType | None) -> None:
        interrupt.press()
        if interrupt.presses >= 2:
            for heard in HEARD:
                signal.signal(heard, signal.SIG_DFL)

    before = {heard: signal.signal(heard, press) for heard in HEARD}
    try:
        yield
    finally:
        for heard, handler in before.items():
            signal.signal(heard, handler)
