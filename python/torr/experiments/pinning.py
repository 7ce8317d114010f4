"""Keep the generator on its own cores while servers are compared."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torr.model.pin import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator


def pin_of(asked: Pin | str) -> Pin | None:
    """The cores that `--pin` means here; raises UsageError where they are not there."""
    cores = sorted(os.sched_getaffinity(0))
    if isinstance(asked, Pin):
        asked.check(cores)
        return asked
    return None if asked == "off" else Pin.halves(cores)


@contextmanager
def pinned(pin: Pin | None) -> Iterator[None]:
    """Keep this thread, and every one that it starts, on the generator's cores."""
    before = os.sched_getaffinity(0)
    if pin is not None:
        os.sched_setaffinity(0, pin.generator)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
