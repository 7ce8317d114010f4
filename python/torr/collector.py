"""Pause Python's collector of reference cycles while many objects are made that all stay."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused_collector() -> Iterator[None]:
    """Run a block without searches for reference cycles; each search visits all objects so far.

    A result with hundreds of trials is decoded and drawn in half the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                # Together they make all objects old, so that the next search does not visit them.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
