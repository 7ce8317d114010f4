"""Pin the load generator to cores of its own while servers are compared."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from torr.model.pin import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator


def pin_of(value: Pin | str) -> Pin | None:
    """Return the cores of `--pin` on this machine; raise UsageError if it does not have them."""
    cores = sorted(os.sched_getaffinity(0))
    if isinstance(value, Pin):
        value.check(cores)
        return value
    return None if value == "off" else Pin.halves(cores)


@contextmanager
def pinned(pin: Pin | None) -> Iterator[None]:
    """Pin this thread, and all threads that it starts, to the cores of the generator."""
    before = os.sched_getaffinity(0)
    if pin is not None:
        os.sched_setaffinity(0, pin.generator)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
