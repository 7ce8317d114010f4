"""Lower the priority of a thread, so that it does not delay the load on a core they share."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

_NICENESS = 10
"""Added to the caller's: a tenth of the processor time on a core that the load fills."""


def lower_priority() -> None:
    """Lower the priority of the calling thread; do nothing if the system refuses."""
    # Linux has a niceness per thread. It cannot be raised again without privileges.
    with suppress(OSError):
        thread = os.PRIO_PROCESS, threading.get_native_id()
        os.setpriority(*thread, os.getpriority(*thread) + _NICENESS)
